// pgxtest measures pgx's ways to get at the rows of a statement.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	exitFailure  = 1
	exitUsage    = 2
	outputBuffer = 1024 * 1024
	driverModule = "github.com/jackc/pgx/v5"
)

// A measurement is the loop that connects, executes and disconnects, with what
// that took.
type measurement struct {
	*request
	executed, connections                   int
	connect, firstRow, allRows, materialise time.Duration
}

// run executes the statement so often, or until the limit (0: none) has passed,
// but at least once; it returns the connection when that is still open, or nil.
func (m *measurement) run(ctx context.Context, s *sink, atMost int, limit time.Duration, conn *pgx.Conn) (*pgx.Conn, error) {
	var err error
	start := time.Now()
	for m.executed < atMost && (limit == 0 || m.executed == 0 || time.Since(start) < limit) {
		if conn == nil {
			if conn, err = m.open(ctx); err != nil {
				return nil, err
			}
		}
		if err = m.execute(ctx, s, conn); err != nil {
			return nil, err
		}
		if !m.connectOnce {
			if err = conn.Close(ctx); err != nil {
				return nil, err
			}
			conn = nil
		}
	}
	return conn, nil
}

func (m *measurement) open(ctx context.Context) (*pgx.Conn, error) {
	start := time.Now()
	config, err := pgx.ParseConfig(m.conninfo)
	if err != nil {
		return nil, err
	}
	config.DefaultQueryExecMode = m.method.mode
	conn, err := pgx.ConnectConfig(ctx, config)
	m.connect += time.Since(start)
	m.connections++
	return conn, err
}

func (m *measurement) execute(ctx context.Context, s *sink, conn *pgx.Conn) error {
	e := execution{sql: m.sql, sink: s}
	if err := m.method.execute(ctx, conn, &e); err != nil {
		return err
	}
	m.executed++
	m.firstRow += e.firstRow.Sub(e.sent)
	m.allRows += e.allRows.Sub(e.sent)
	m.materialise += time.Since(e.allRows)
	return nil
}

// cpuTime returns the processor time that the process has used.
func cpuTime() time.Duration {
	var usage syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &usage)
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// figures is the line that is printed.
type figures struct {
	Driver        string      `json:"driver"`
	DriverVersion string      `json:"driver_version"`
	Method        string      `json:"method"`
	Held          string      `json:"held"`
	Executions    int         `json:"executions"`
	Connections   int         `json:"connections"`
	Rows          int         `json:"rows"`
	Bytes         int         `json:"bytes"`
	Checksum      string      `json:"checksum"`
	ConnectNs     int64       `json:"connect_ns"`
	FirstRowNs    int64       `json:"first_row_ns"`
	AllRowsNs     int64       `json:"all_rows_ns"`
	MaterialiseNs *int64      `json:"materialise_ns"`
	TotalNs       int64       `json:"total_ns"`
	CPUNs         int64       `json:"cpu_ns"`
	WireBytes     *int64      `json:"wire_bytes"`
	ExecutionUs   json.Number `json:"execution_us"`
}

func (m *measurement) figures(total, cpu time.Duration, timed, checked *sink) figures {
	result := figures{
		Driver:        "pgx",
		DriverVersion: driverVersion(),
		Method:        m.method.name,
		Held:          m.method.held,
		Executions:    m.executed,
		Connections:   m.connections,
		Rows:          timed.rows,
		Bytes:         checked.bytes,
		Checksum:      fmt.Sprintf("%08x", checked.checksum),
		ConnectNs:     m.connect.Nanoseconds(),
		FirstRowNs:    m.firstRow.Nanoseconds(),
		AllRowsNs:     m.allRows.Nanoseconds(),
		TotalNs:       total.Nanoseconds(),
		CPUNs:         cpu.Nanoseconds(),
		ExecutionUs: json.Number(fmt.Sprintf("%.3f",
			float64(total.Nanoseconds())/1000/float64(m.executed))),
	}
	if !m.method.streams() {
		ns := m.materialise.Nanoseconds()
		result.MaterialiseNs = &ns
	}
	return result
}

// driverVersion returns the version of pgx that is compiled in.
func driverVersion() string {
	build, _ := debug.ReadBuildInfo()
	for _, module := range build.Deps {
		if module.Path == driverModule {
			return strings.TrimPrefix(module.Version, "v")
		}
	}
	return "unknown"
}

// measure warms up, measures, and checks the rows of one more execution.
func measure(ctx context.Context, asked *request, output io.Writer) (*figures, error) {
	warm := measurement{request: asked}
	conn, err := warm.run(ctx, &sink{}, asked.warmup, 0, nil)
	if err == nil && conn != nil {
		err = conn.Close(ctx)
	}
	if err != nil {
		return nil, err
	}

	timed := measurement{request: asked}
	taken := &sink{}
	if output != nil {
		taken.output = bufio.NewWriterSize(output, outputBuffer)
	}
	startCPU, start := cpuTime(), time.Now()
	if conn, err = timed.run(ctx, taken, asked.executions, asked.limit, nil); err != nil {
		return nil, err
	}
	if taken.output != nil {
		if err = taken.output.Flush(); err != nil {
			return nil, err
		}
	}
	total, cpu := time.Since(start), cpuTime()-startCPU

	checked := &sink{checking: true}
	check := measurement{request: asked}
	if conn, err = check.run(ctx, checked, 1, 0, conn); err == nil && conn != nil {
		err = conn.Close(ctx)
	}
	result := timed.figures(total, cpu, taken, checked)
	return &result, err
}

func help() {
	fmt.Print("pgxtest: runs a statement and prints how long its rows took\n\n" +
		"Usage: pgxtest -c CONNINFO -s SQL [-p 0|1] [-o FILE] [-k 0|1] [-n N]\n" +
		"       [-w N] [-t SECONDS] [-f FILE] [-a | -y | -m METHOD]\n\n" +
		"What these mean is in clients/CONTRACT.md.  Methods:\n")
	for _, known := range methods {
		fmt.Println("  " + known.name)
	}
}

// fail ends the program with one line.
func fail(code int, err error) {
	fmt.Fprintln(os.Stderr, "pgxtest: "+strings.Join(strings.Fields(err.Error()), " "))
	os.Exit(code)
}

func main() {
	for _, argument := range os.Args[1:] {
		if argument == "--help" {
			help()
			return
		}
	}
	asked, err := parse(os.Args[1:])
	if err != nil {
		fail(exitUsage, err)
	}
	var output io.Writer
	if asked.output != "" {
		file, err := os.Create(asked.output)
		if err != nil {
			fail(exitUsage, fmt.Errorf("cannot write -o: %w", err))
		}
		defer file.Close()
		output = file
	}
	result, err := measure(context.Background(), asked, output)
	if err != nil {
		fail(exitFailure, err)
	}
	if err := json.NewEncoder(os.Stdout).Encode(result); err != nil {
		fail(exitFailure, err)
	}
}
