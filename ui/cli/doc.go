// Package cli does what the one-shot commands of leasetop say: it reads and
// acts through package queue and prints the result, as a table for people or as
// JSON for scripts. The grammar, and which flag means what, is ui/command; here each
// file is one command.
//
// What it prints on standard output is a stable contract for scripts. Tables
// show text from the database through package safe, so that nothing in them
// acts on the terminal; JSON holds the true value.
package cli

import (
	"errors"
	"io"
)

// Format is how a command prints its result.
type Format string

// The formats of -o. The zero value is Table.
const (
	Table Format = "table"
	JSON  Format = "json"
)

// Printer is where a command writes.
type Printer struct {
	Out    io.Writer // the result, and nothing else
	Err    io.Writer // remarks for the person who called
	Format Format
	// Progress is the terminal on which a long command says how far it is; nil for none.
	Progress io.Writer
}

// ErrUsage is wrapped by errors that say the command was called in a wrong way;
// nothing was done.
var ErrUsage = errors.New("wrong usage")

// Usage makes an error that wraps [ErrUsage] and reads as its text alone.
func Usage(text string) error { return usage(text) }

type usage string

func (u usage) Error() string      { return string(u) }
func (usage) Is(target error) bool { return target == ErrUsage }
