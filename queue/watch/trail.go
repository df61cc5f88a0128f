package watch

import (
	"errors"
	"sync"

	"github.com/jackc/pglogrepl"
)

// trailMost bounds how many transactions a trail remembers.
const trailMost = 200_000

var (
	errTrailLost = errors.New("the stream was lost meanwhile")
	errTrailFull = errors.New("too much happened meanwhile")
)

// trail remembers the ledger's digest before each transaction, from a moment before the
// position is known at which it is asked for.
type trail struct {
	of     *stream // another that comes after it knows nothing of its positions
	mu     sync.Mutex
	steps  []step
	latest digest
	at     pglogrepl.LSN // everything before is in latest
	want   pglogrepl.LSN // 0: not known yet
	found  chan struct{} // closed with the answer
	answer digest
	err    error
}

type step struct {
	commit pglogrepl.LSN
	before digest
}

func newTrail(of *stream) *trail { return &trail{of: of, found: make(chan struct{})} }

// begins is called before a transaction that was committed at a position is applied.
func (t *trail) begins(s *stream, commit pglogrepl.LSN) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.ended():
	case s != t.of:
		t.end(digest{}, errTrailLost)
	case t.want != 0 && commit >= t.want:
		t.end(s.ledger.digest, nil)
	case t.want == 0 && len(t.steps) == trailMost:
		t.end(digest{}, errTrailFull)
	case t.want == 0:
		t.steps = append(t.steps, step{commit, s.ledger.digest})
	}
}

// reached is called when everything before a position was applied.
func (t *trail) reached(s *stream, position pglogrepl.LSN) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if s != t.of {
		if !t.ended() {
			t.end(digest{}, errTrailLost)
		}
		return
	}
	t.latest, t.at = s.ledger.digest, position
	if t.want != 0 && position >= t.want && !t.ended() {
		t.end(t.latest, nil)
	}
}

// lost is called when the stream ends.
func (t *trail) lost() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.ended() {
		t.end(digest{}, errTrailLost)
	}
}

// ask says which position is wanted: the digest of all transactions committed before it.
func (t *trail) ask(position pglogrepl.LSN) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended() {
		return
	}
	t.want = position
	for _, s := range t.steps {
		if s.commit >= position {
			t.end(s.before, nil)
			return
		}
	}
	t.steps = nil
	if t.at >= position {
		t.end(t.latest, nil)
	}
}

func (t *trail) ended() bool {
	select {
	case <-t.found:
		return true
	default:
		return false
	}
}

func (t *trail) end(answer digest, err error) {
	t.answer, t.err, t.steps = answer, err, nil
	close(t.found)
}
