package scenario

import (
	"context"
	"errors"
	"time"
)

const (
	usualPatience = 5 * time.Second
	lookAgain     = 20 * time.Millisecond // between two looks at an assertion
	// grace is how long a look may yet take that began in time.
	grace = 250 * time.Millisecond
)

// expect looks at an assertion until it holds, or its time or its matter is over.
func (p *Play) expect(ctx context.Context, s *Stage, step, n int, acted time.Time) (bool, error) {
	e := &p.scenario.Steps[step].Expect[n]
	patience := e.Within
	if patience == 0 {
		patience = usualPatience
	}
	patience *= time.Duration(p.o.Patience)
	set := func(state State, seen string) {
		p.board.change(func(b *Picture) {
			a := &b.Steps[step].Assertions[n]
			a.State, a.Seen, a.Took = state, seen, time.Since(acted)
		})
	}
	set(Playing, "")
	defer p.tick(step, n, acted)()
	again := time.NewTicker(lookAgain)
	defer again.Stop()
	deadline := acted.Add(patience)
	over := deadline.Add(grace * time.Duration(p.o.Patience))
	if began := time.Now(); began.After(deadline) {
		over = began.Add(usualPatience * time.Duration(p.o.Patience)) // its turn came late: it has one look
	}
	for {
		looking, cancel := context.WithDeadline(ctx, over)
		ok, seen, err := e.Holds(looking, s)
		cancel()
		if ctx.Err() != nil {
			return false, context.Cause(ctx)
		}
		now := time.Now()
		final := errors.Is(err, ErrFinal)
		switch {
		case final:
			ok = false
		case err != nil:
			ok, seen = false, err.Error()
		case ok && !now.Before(over):
			ok, seen = false, "it was not seen in time, but later"
		}
		switch {
		case ok:
			set(Passed, seen)
			return true, nil
		case final, !now.Before(deadline):
			set(Failed, seen)
			return false, nil
		}
		p.board.touch(func(b *Picture) (news bool) {
			a := &b.Steps[step].Assertions[n]
			news, a.Seen = a.Seen != seen, seen
			return news
		})
		select {
		case <-ctx.Done():
			return false, context.Cause(ctx)
		case <-again.C:
		}
	}
}

// tick has the audience see how long an assertion has been looked at, until it is stopped:
// a look may take long where a server is away.
func (p *Play) tick(step, n int, acted time.Time) (stop func()) {
	ticker, over := time.NewTicker(LookEvery), make(chan struct{})
	go func() {
		defer ticker.Stop()
		for {
			select {
			case <-over:
				return
			case <-ticker.C:
			}
			p.board.touch(func(b *Picture) (news bool) {
				a := &b.Steps[step].Assertions[n]
				if a.State == Playing {
					a.Took, news = time.Since(acted), true
				}
				return news
			})
		}
	}()
	return func() { close(over) }
}
