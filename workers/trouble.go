package workers

import (
	"context"
	"errors"
	"regexp"
	"sync"
	"syscall"

	"github.com/jackc/pgx/v5/pgconn"
)

// troubles are the operations that fail just now, and the reasons told of each, so that
// an outage is told once at its beginning, once more for each new reason, and once at
// its end, however many tries it takes.
type troubles struct {
	mu  sync.Mutex
	now map[string]map[string]bool
}

// reasonsKept bounds the reasons told of one outage.
const reasonsKept = 10

// trouble notes that an operation failed.
func (p *Pool) trouble(operation string, err error) {
	if first, fresh := p.troubles.note(operation, reasonOf(err)); fresh {
		verb := " fail: "
		if !first {
			verb = " still fail: "
		}
		p.emit(Event{What: DBTrouble, Text: operation + verb + err.Error()})
		p.signals.troubled.send(operation)
	}
}

func (t *troubles) note(operation, reason string) (first, fresh bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.now == nil {
		t.now = map[string]map[string]bool{}
	}
	told := t.now[operation]
	if told == nil {
		told, first = map[string]bool{}, true
		t.now[operation] = told
	}
	if told[reason] || len(told) == reasonsKept {
		return first, false
	}
	told[reason] = true
	return first, true
}

// works notes that an operation succeeded.
func (p *Pool) works(operation string) {
	p.troubles.mu.Lock()
	before := p.troubles.now[operation] != nil
	delete(p.troubles.now, operation)
	p.troubles.mu.Unlock()
	if before {
		p.emit(Event{What: DBTrouble, Text: operation + " work again"})
	}
}

// particular is what differs between two errors for the same reason: numbers, and the
// names of queues and hosts.
var particular = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|[0-9]+`)

// reasonOf is what kind of error this is: the server's code, the system's, or the text
// without what is particular to one try.
func reasonOf(err error) string {
	var pg *pgconn.PgError
	var errno syscall.Errno
	switch {
	case errors.As(err, &pg):
		return pg.Code
	case errors.As(err, &errno):
		return errno.Error()
	case errors.Is(err, context.DeadlineExceeded):
		return context.DeadlineExceeded.Error()
	}
	return particular.ReplaceAllString(err.Error(), "…")
}
