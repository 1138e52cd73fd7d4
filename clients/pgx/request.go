package main

import (
	"fmt"
	"strconv"
	"time"
)

const (
	executionsMax = 1_000_000_000
	warmupMax     = 1_000_000
	limitMax      = 1_000_000
)

// A request is the command line, as CONTRACT.md has it.
type request struct {
	conninfo    string
	sql         string
	output      string // empty: nothing is printed
	connectOnce bool
	executions  int
	warmup      int
	limit       time.Duration // no execution begins later; 0: no limit
	method      *method
}

// parse returns the request of the command line; its errors name the option, the
// value and what to give instead.
func parse(arguments []string) (*request, error) {
	asked := &request{output: "/dev/null", executions: 1, method: &methods[0]}
	printing := 0
	for len(arguments) > 0 {
		option, value := arguments[0], ""
		arguments = arguments[1:]
		switch option {
		case "-a", "-y":
		case "-c", "-s", "-o", "-f", "-p", "-k", "-n", "-w", "-t", "-m":
			if len(arguments) == 0 {
				return nil, fmt.Errorf("%s has no value: see --help", option)
			}
			value, arguments = arguments[0], arguments[1:]
		default:
			return nil, fmt.Errorf("unknown option %q: see --help", option)
		}
		if err := asked.take(option, value, &printing); err != nil {
			return nil, err
		}
	}
	if asked.conninfo == "" {
		return nil, fmt.Errorf("-c is missing: see --help")
	}
	if asked.sql == "" {
		return nil, fmt.Errorf("-s is missing: see --help")
	}
	if printing == 0 {
		asked.output = ""
	}
	return asked, nil
}

// take takes one option.
func (r *request) take(option, value string, printing *int) (err error) {
	switch option {
	case "-a", "-y":
		r.method, err = findMethod(option[1:], "")
	case "-m":
		r.method, err = findMethod("", value)
	case "-c":
		r.conninfo = value
	case "-s":
		r.sql = value
	case "-o":
		r.output = value
	case "-p":
		*printing, err = number(option, value, 0, 1)
	case "-k":
		var once int
		once, err = number(option, value, 0, 1)
		r.connectOnce = once == 1
	case "-n":
		r.executions, err = number(option, value, 1, executionsMax)
	case "-w":
		r.warmup, err = number(option, value, 0, warmupMax)
	case "-t":
		var seconds int
		seconds, err = number(option, value, 1, limitMax)
		r.limit = time.Duration(seconds) * time.Second
	}
	return err
}

// findMethod returns the method of a letter, or else of a name.
func findMethod(letter, name string) (*method, error) {
	for i := range methods {
		if letter != "" && methods[i].letter == letter || letter == "" && methods[i].name == name {
			return &methods[i], nil
		}
	}
	if letter != "" {
		return nil, fmt.Errorf("-%s is nothing that this client has: see --help", letter)
	}
	return nil, fmt.Errorf("-m %q is not known: see --help", name)
}

func number(option, value string, low, high int) (int, error) {
	n, err := strconv.Atoi(value)
	if err != nil || n < low || n > high {
		return 0, fmt.Errorf("%s %q is not valid: give a whole number from %d to %d",
			option, value, low, high)
	}
	return n, nil
}
