package main

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// A cursor fetches this many rows at a time.
const chunkRows = 1000

// A method is one way to get at the rows.
type method struct {
	name    string
	letter  string // the switch that means it too: a or y
	held    string
	mode    pgx.QueryExecMode
	execute func(context.Context, *pgx.Conn, *execution) error
}

// pgx gives rows only while they arrive; who wants to hold them collects them.
// Its default mode prepares each statement and keeps it.
var methods = []method{
	{"normal", "", "rows", pgx.QueryExecModeCacheStatement, collect},
	{"stream", "a", "nothing", pgx.QueryExecModeCacheStatement, stream},
	{"copy", "y", "nothing", pgx.QueryExecModeCacheStatement, copyOut},
	{"simple", "", "rows", pgx.QueryExecModeSimpleProtocol, collect},
	{"unprepared", "", "rows", pgx.QueryExecModeExec, collect},
	{"cursor", "", "nothing", pgx.QueryExecModeCacheStatement, cursor},
}

// streams says whether cells are read while rows arrive.
func (m *method) streams() bool {
	return m.held == "nothing"
}

// An execution is what a method is to do, and when it did what.
type execution struct {
	sql      string
	sink     *sink
	sent     time.Time
	firstRow time.Time
	allRows  time.Time
}

func (e *execution) sawRow() {
	if e.firstRow.IsZero() {
		e.firstRow = time.Now()
	}
}

func (e *execution) sawAll() {
	e.allRows = time.Now()
	if e.firstRow.IsZero() {
		e.firstRow = e.allRows
	}
}

// collect holds the values of all rows, then reads them.
func collect(ctx context.Context, conn *pgx.Conn, e *execution) error {
	var all [][]any
	e.sent = time.Now()
	rows, err := conn.Query(ctx, e.sql)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		e.sawRow()
		values, err := rows.Values()
		if err != nil {
			return err
		}
		all = append(all, values)
	}
	e.sawAll()
	if err := rows.Err(); err != nil {
		return err
	}
	for _, values := range all {
		if err := e.sink.takeRow(values); err != nil {
			return err
		}
	}
	return nil
}

// take reads the rows of a query as they arrive, and returns how many came.
func take(ctx context.Context, conn *pgx.Conn, e *execution, sql string) (int, error) {
	rows, err := conn.Query(ctx, sql)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	count := 0
	for rows.Next() {
		e.sawRow()
		values, err := rows.Values()
		if err != nil {
			return 0, err
		}
		if err := e.sink.takeRow(values); err != nil {
			return 0, err
		}
		count++
	}
	return count, rows.Err()
}

// stream reads each row as it arrives.
func stream(ctx context.Context, conn *pgx.Conn, e *execution) error {
	e.sent = time.Now()
	_, err := take(ctx, conn, e, e.sql)
	e.sawAll()
	return err
}

// cursor fetches a thousand rows at a time, in the transaction that this needs.
func cursor(ctx context.Context, conn *pgx.Conn, e *execution) error {
	e.sent = time.Now()
	err := pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "DECLARE rows CURSOR FOR "+e.sql); err != nil {
			return err
		}
		fetch := fmt.Sprintf("FETCH %d FROM rows", chunkRows)
		for {
			count, err := take(ctx, conn, e, fetch)
			if err != nil || count < chunkRows {
				return err
			}
		}
	})
	e.sawAll()
	return err
}

// copyOut takes COPY's lines.
func copyOut(ctx context.Context, conn *pgx.Conn, e *execution) error {
	e.sent = time.Now()
	lines := &firstRow{e}
	_, err := conn.PgConn().CopyTo(ctx, lines, "COPY ("+e.sql+") TO STDOUT")
	e.sawAll()
	return err
}

// firstRow notes when the sink gets something.
type firstRow struct{ *execution }

func (f *firstRow) Write(block []byte) (int, error) {
	f.sawRow()
	return f.sink.Write(block)
}
