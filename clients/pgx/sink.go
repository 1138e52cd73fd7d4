package main

import (
	"bufio"
	"bytes"
	"hash/crc32"
	"strconv"
)

// A sink takes rows: it reads every cell, and where their text is wanted, prints
// it or adds it to the checksum.
type sink struct {
	output   *bufio.Writer // where rows are printed, or nil
	checking bool
	rows     int
	seen     int
	bytes    int
	checksum uint32
	text     []byte // of the row so far; kept for its memory
}

func (s *sink) wantsText() bool {
	return s.checking || s.output != nil
}

// takeRow takes a row's values as the driver gives them.
func (s *sink) takeRow(values []any) error {
	if s.wantsText() {
		return s.takeText(values)
	}
	for _, value := range values {
		switch value := value.(type) {
		case int32:
			s.seen += int(value)
		case int64:
			s.seen += int(value)
		case string:
			s.seen += len(value)
		}
	}
	s.rows++
	return nil
}

func (s *sink) takeText(values []any) error {
	s.text = s.text[:0]
	for i, value := range values {
		if i > 0 {
			s.text = append(s.text, '\t')
		}
		switch value := value.(type) {
		case nil:
			s.text = append(s.text, `\N`...)
		case int32:
			s.text = strconv.AppendInt(s.text, int64(value), 10)
		case int64:
			s.text = strconv.AppendInt(s.text, value, 10)
		case string:
			s.text = append(s.text, value...)
		}
	}
	s.text = append(s.text, '\n')
	return s.takeLine(s.text)
}

// takeLine takes a row as COPY writes it, its line feed included; to read its
// cells is to find where they end.
func (s *sink) takeLine(line []byte) error {
	s.rows++
	switch {
	case s.output != nil:
		_, err := s.output.Write(line)
		return err
	case s.checking:
		s.bytes += len(line)
		s.checksum += crc32.ChecksumIEEE(line)
	default:
		for rest := line; rest != nil; {
			var cell []byte
			cell, rest, _ = bytes.Cut(rest, []byte{'\t'})
			s.seen += len(cell)
		}
	}
	return nil
}

// Write takes what COPY sends; pgx hands it over line by line, as it came.
func (s *sink) Write(block []byte) (int, error) {
	return len(block), s.takeLine(block)
}
