package queue

import (
	"context"
	"fmt"
	"time"
)

const (
	// tallyBlock is how many jobs are counted at once: some ten milliseconds.
	tallyBlock = 10_000
	// tallyEvery is how often they are counted at most; and so that it takes no more than a tenth of the time.
	tallyEvery, tallyShare = 100 * time.Millisecond, 10
	// tallySpell is after how long of counting something else has its turn.
	tallySpell = 50 * time.Millisecond
	// judgedFrom is how many jobs have to have ended for a share of them to say anything.
	judgedFrom = 10
)

// tally is what has become of the jobs that a plan redrove, counted in blocks of which
// those that have ended whole are not looked at again.
type tally struct {
	blocks []block
	at     int           // the block that is counted next
	spent  time.Duration // on this round
	next   time.Time     // when the next round begins
	cares  int64         // the position from which it judges
}

type block struct {
	from, to int64 // positions above the first and up to the second
	counted  int64 // up to here
	planOutcomes
}

// newTally begins a block at the position from which the plan judges.
func newTally(p *standingPlan) tally {
	t := tally{cares: p.judged}
	for from := int64(0); from < p.Total; {
		to := min(from+tallyBlock, p.Total)
		if from < p.judged {
			to = min(to, p.judged)
		}
		t.blocks = append(t.blocks, block{from: from, to: to})
		from = to
	}
	return t
}

// count counts again when it is time to, for a moment: a round of a large plan takes many.
func (t *tally) count(ctx context.Context, q *Queue, p *standingPlan) error {
	began := time.Now()
	if began.Before(t.next) {
		return nil
	}
	for ; t.at < len(t.blocks) && t.blocks[t.at].from < p.reached; t.at++ {
		b := &t.blocks[t.at]
		if b.counted == b.to && b.ended() == b.redriven {
			continue
		}
		if time.Since(began) > tallySpell {
			t.spent += time.Since(began)
			return nil
		}
		to := min(b.to, p.reached)
		o, err := q.outcomes(ctx, p.ID, b.from, to)
		if err != nil {
			return err
		}
		b.planOutcomes, b.counted = o, to
	}
	t.spent += time.Since(began)
	t.next = began.Add(max(tallyEvery, tallyShare*t.spent))
	t.at, t.spent = 0, 0
	return nil
}

// all is what has become of all that were redriven.
func (t *tally) all() (all planOutcomes) {
	for _, b := range t.blocks {
		all = all.plus(b.planOutcomes)
	}
	return all
}

// judged is what has become of those by which the plan is judged.
func (t *tally) judged() (some planOutcomes) {
	for _, b := range t.blocks {
		if b.from >= t.cares {
			some = some.plus(b.planOutcomes)
		}
	}
	return some
}

// fresh tells whether everything that the plan redrove was counted; else it will be, at once.
func (t *tally) fresh(p *standingPlan) bool {
	if t.all().redriven == p.Redriven {
		return true
	}
	t.next = time.Time{}
	return false
}

// ended tells whether all that is judged has ended.
func (t *tally) ended() bool {
	o := t.judged()
	return o.ended() == o.redriven
}

// unknown says why nobody can tell how the canary ended, "" when most of it can be judged.
func (t *tally) unknown() string {
	o := t.judged()
	if o.known() > 0 && o.known()*2 >= o.redriven {
		return ""
	}
	return fmt.Sprintf("%d of the %d that went first are gone, and nobody knows how they ended", o.gone, o.redriven)
}

// stop says why the plan is to stop, "" when it is to go on. As long as few have ended, their
// share is taken of the canary, or of the first ten: one that dies first is not all. Those gone count as neither.
func (t *tally) stop(p *standingPlan) (why string) {
	o := t.judged()
	of := max(o.known(), min(judgedFrom, p.Total-p.judged))
	if p.State == PlanCanary {
		of = o.redriven - o.gone
	}
	if p.StopAt == nil || o.died*100 <= int64(*p.StopAt)*of {
		return ""
	}
	return fmt.Sprintf("%d of %d that ended died again, more than %d %%", o.died, o.known(), *p.StopAt)
}
