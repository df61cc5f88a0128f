package scenario

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/leasetop/leasetop/workers/internal/without"
)

// ErrCancelled is the error of a play that was stopped before its end.
var ErrCancelled = errors.New("stopped before its end")

// Options of a play. The zero value plays from end to end without a pause.
type Options struct {
	Seed    uint64 // decides what the play draws by lot; 0 draws one
	Stepped bool   // waits before each step until [Play.Next], or its narration has been read; see [Play.Auto]
	// Patience is how many times as long each assertion may take, and more than 1 leaves
	// timed measures unjudged: for tests, beside which anything may run, and which look at
	// nothing for its own sake. 0 is 1.
	Patience int
}

const (
	usualSetUp  = 30 * time.Second
	cleanUpTime = 30 * time.Second
	// What a step did stays in sight for so long; and for longer where the picture of it
	// takes its time.
	leastShown = time.Second
	mostShown  = 4 * time.Second
	// Reading time of a narration: about 14 characters a second, as subtitles have it.
	readingPace  = 70 * time.Millisecond
	leastReading = 2500 * time.Millisecond
)

// Play is one performance of a scenario. It is safe for concurrent use.
type Play struct {
	scenario Scenario
	ground   Ground
	o        Options
	board    board

	cancel context.CancelCauseFunc
	next   chan struct{} // the audience goes on
	done   chan struct{}

	mu    sync.Mutex
	auto  bool
	turns chan struct{} // closed when auto changes
}

// Start begins a play and returns at once. The end of ctx stops it, and cleans up.
func Start(ctx context.Context, sc Scenario, g Ground, o Options) *Play {
	if o.Seed == 0 {
		o.Seed = 1 + rand.Uint64N(1<<31)
	}
	o.Patience = max(o.Patience, 1)
	p := &Play{
		scenario: sc, ground: g, o: o,
		next: make(chan struct{}, 1), done: make(chan struct{}), turns: make(chan struct{}),
	}
	p.board.begin(sc, o)
	ctx, p.cancel = context.WithCancelCause(ctx)
	go p.perform(ctx)
	return p
}

// Next goes on to the next step, where the play waits for it, or to its narration, where
// it lets one be seen.
func (p *Play) Next() {
	if state := p.board.picture().State; state != Waiting && state != Shown {
		return
	}
	select {
	case p.next <- struct{}{}:
	default:
	}
}

// Auto has a stepped play go on by itself, each time when the narration had time to be
// read; or no longer.
func (p *Play) Auto(on bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.auto != on {
		p.auto = on
		close(p.turns)
		p.turns = make(chan struct{})
		p.board.change(func(b *Picture) { b.Auto = on })
	}
}

// Stop ends the play early. It is over, and cleaned up, when Done is closed.
func (p *Play) Stop() { p.cancel(ErrCancelled) }

// Done is closed when the play is over and its world taken down.
func (p *Play) Done() <-chan struct{} { return p.done }

// Picture is the play as it stands.
func (p *Play) Picture() Picture { return p.board.picture() }

// Changed is closed once there is a newer picture than the given version.
func (p *Play) Changed(version uint64) <-chan struct{} { return p.board.changed(version) }

// Result waits for the end and tells how it went.
func (p *Play) Result() Result {
	<-p.done
	return p.board.result()
}

// perform is the whole play.
func (p *Play) perform(ctx context.Context) {
	defer close(p.done)
	defer p.cancel(nil)
	stage, err := newStage(ctx, p)
	if err == nil {
		err = p.tell(ctx, stage)
	}
	if stage.watch != nil && ctx.Err() == nil { // the last picture is of the end, and it is judged
		stage.watch()
		stage.watched.Wait()
		stage.look(ctx)
		if judged := p.judge(ctx, stage); err == nil {
			err = judged
		}
		stage.showWorkers()
	}
	if cause := context.Cause(ctx); cause != nil {
		err = cause
		if !errors.Is(cause, ErrCancelled) && !errors.Is(cause, errSwept) {
			err = fmt.Errorf("%w: %w", ErrCancelled, cause)
		}
	}
	p.board.change(func(b *Picture) { b.State = CleaningUp })
	cleaning, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanUpTime)
	defer cancel()
	if clean := stage.strike(cleaning); clean != nil {
		err = errors.Join(err, fmt.Errorf("clean up: %w", clean))
	}
	p.board.end(err)
}

// errFailed is an assertion, a measure or an invariant that does not hold; the board says which.
var errFailed = errors.New("an assertion does not hold")

func (p *Play) tell(ctx context.Context, s *Stage) error {
	if setup := p.scenario.Setup; setup != nil {
		if err := p.setUp(ctx, s, setup); err != nil {
			return fmt.Errorf("set the stage: %w", err)
		}
	}
	s.observe(ctx)
	for i := range p.scenario.Steps {
		if err := p.step(ctx, s, i); err != nil {
			return err
		}
	}
	return p.measure(ctx, s, 0)
}

// setUp gives up when it takes too long. What it makes may live as long as the play.
func (p *Play) setUp(ctx context.Context, s *Stage, setup func(context.Context, *Stage) error) error {
	within := p.scenario.SetsUpIn
	if within == 0 {
		within = usualSetUp
	}
	within *= time.Duration(p.o.Patience)
	late := fmt.Errorf("it was not done within %v", within)
	setting, cancel := context.WithCancelCause(ctx)
	timer := time.AfterFunc(within, func() { cancel(late) })
	err := setup(setting, s)
	switch {
	case timer.Stop() || ctx.Err() != nil:
		return err
	case err == nil || errors.Is(err, late): // what it made may live under a context that is over
		return late
	}
	return fmt.Errorf("%w: %w", late, err)
}

func (p *Play) step(ctx context.Context, s *Stage, i int) error {
	step := &p.scenario.Steps[i]
	select { // a key that was pressed for what is over
	case <-p.next:
	default:
	}
	p.board.change(func(b *Picture) { b.Step, b.State = i, Waiting; b.Steps[i].State = Waiting })
	if err := p.await(ctx, step); err != nil {
		return err
	}
	began := time.Now()
	p.board.change(func(b *Picture) {
		b.State = Playing
		b.Steps[i].State, b.Steps[i].Began = Playing, began
	})
	if step.Do != nil {
		if err := step.Do(ctx, s); err != nil {
			p.board.change(func(b *Picture) { b.Steps[i].State = Failed })
			return fmt.Errorf("step %d: %w", i+1, err)
		}
	}
	acted, failed := time.Now(), false
	for n := range step.Expect {
		ok, err := p.expect(ctx, s, i, n, acted)
		if err != nil {
			return err
		}
		failed = failed || !ok
	}
	p.board.change(func(b *Picture) {
		b.Steps[i].Took = time.Since(began)
		b.Steps[i].State = Passed
		if failed {
			b.Steps[i].State = Failed
		}
	})
	if failed {
		return errFailed
	}
	if err := p.measure(ctx, s, i+1); err != nil {
		return err
	}
	if p.o.Stepped && p.o.Patience == 1 && i+1 < len(p.scenario.Steps) { // else nobody looks
		return p.show(ctx, s)
	}
	return nil
}

// show leaves what a step did in sight before the next one is told: for a moment, and until
// the picture is not older than the verdict. Who has seen it goes on at once.
func (p *Play) show(ctx context.Context, s *Stage) error {
	p.board.change(func(b *Picture) { b.State = Shown })
	verdict := time.Now()
	s.lookNow()
	again := time.NewTicker(LookEvery)
	defer again.Stop()
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-p.next:
			return nil
		case <-again.C:
		}
		since := time.Since(verdict)
		if since >= leastShown && p.board.picture().Looked.After(verdict) || since >= mostShown {
			return nil
		}
	}
}

// await waits for the audience.
func (p *Play) await(ctx context.Context, step *Step) error {
	if !p.o.Stepped {
		return context.Cause(ctx)
	}
	reading := max(leastReading, time.Duration(utf8.RuneCountInString(step.Say))*readingPace)
	read := time.NewTimer(reading)
	defer read.Stop()
	for over := false; ; {
		p.mu.Lock()
		auto, turns := p.auto, p.turns
		p.mu.Unlock()
		if auto && over {
			return nil
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-p.next:
			return nil
		case <-turns:
		case <-read.C:
			over = true
		}
	}
}

// Lacks tells whether a test took a protection out, for stories that do what it is about
// themselves: they do it without, then.
func (s *Stage) Lacks(p without.Protection) bool { return without.Lacks(s.ctx, p) }
