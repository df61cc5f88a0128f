package queue

import (
	"context"
	"errors"
	"time"
)

// Act is one entry of the operator log: what a person did to jobs and queues, or saw of them.
type Act struct {
	ID     int64      `json:"id"`
	At     time.Time  `json:"at"`     // when it began, by the database's clock
	Ended  *time.Time `json:"ended"`  // nil: it is under way, or whoever did it is gone
	By     string     `json:"by"`     // operating system user and host: "ann@laptop"
	Role   string     `json:"role"`   // of the database
	What   string     `json:"what"`   // redrive, discard, restore, cancel, release, run now, edit, reveal, pause, resume, purge, plan …
	Filter string     `json:"filter"` // what chose the jobs, or the queues' names; "" when they were named by id
	Reason string     `json:"reason"`
	IDs    []int64    `json:"ids"`   // the jobs; the first 100 of them
	Plan   int64      `json:"plan"`  // the redrive plan it belongs to; 0 none
	Asked  int64      `json:"asked"` // how many jobs, or queues, it was about
	Done   int64      `json:"done"`
	Skips  int64      `json:"skips"`
	Error  string     `json:"error"` // why it ended before its end
}

// Logged does something and enters it in the operator log: before, so that what was
// begun stands there whatever happens, and after, with what came of it. An act that cannot be
// entered is not begun. By, What and what else is known before are taken from a.
func (q *Queue) Logged(ctx context.Context, a Act, do func(context.Context) (done, skipped int, err error)) error {
	return errors.ErrUnsupported
}

// Acts returns up to limit entries of the operator log that pass, newest first: those
// with ids below before, which is 0 for the first page.
func (q *Queue) Acts(ctx context.Context, before int64, limit int) ([]Act, error) {
	return nil, errors.ErrUnsupported
}
