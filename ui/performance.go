package ui

import (
	"time"

	"github.com/leasetop/leasetop/ui/lanes"
	"github.com/leasetop/leasetop/workers/scenario"
)

// performance is one play, as the screen knows it.
type performance struct {
	play   Playing
	pic    scenario.Picture // on the screen
	latest scenario.Picture // pic lags behind it while the picture is frozen
	clock  playClock
	now    time.Time // the clock of the play, as of latest
	taken  time.Time // this machine's clock when latest was taken
	seen   time.Time // when pic was
	shown  time.Time // as of pic
	lanes  lanes.Recorder

	stands, still bool // the clock of the play does, as of latest; as of pic

	came map[string]int // measures: how many steps had begun when each was known
}

// over tells whether it has ended, and its world is taken down.
func (p *performance) over() bool { return !p.latest.Ended.IsZero() }

// take notes a picture, and has the lanes record what it shows.
func (p *performance) take(pic scenario.Picture, now time.Time) {
	p.latest, p.taken = pic, now
	p.note(&pic)
	p.clock.Tick(now, pic.State == scenario.Waiting)
	p.now = p.clock.Of(now)
	p.stands = pic.State == scenario.Waiting && !p.clock.Settling(now)
	p.lanes.Waits = pic.State == scenario.Waiting
	p.lanes.Ran(p.clock.Of(pic.Looked), runsOf(pic.Runs, &p.clock))
	held := make([]lanes.Held, len(pic.Leases))
	for i, l := range pic.Leases {
		held[i] = lanes.Held{Job: l.Job, Worker: l.Worker, Attempt: l.Attempt, Expires: p.clock.Of(l.Expires)}
	}
	crew := make([]lanes.Worker, len(pic.Workers))
	for i, w := range pic.Workers {
		crew[i] = lanes.Worker{Name: w.Name, State: w.State, Slots: w.Slots}
	}
	p.lanes.Away(outagesOf(pic.Outages, &p.clock, now))
	p.lanes.See(p.now, held, crew)
}

// note remembers when measures were known.
func (p *performance) note(pic *scenario.Picture) {
	if p.came == nil {
		p.came = map[string]int{}
	}
	for _, m := range pic.Measures {
		if _, ok := p.came[m.Name]; !ok && m.State != scenario.ToCome {
			p.came[m.Name] = begun(pic)
		}
	}
}

// fresh tells whether a measure has come since the last step began: as long as the
// audience reads, it stays so.
func (p *performance) fresh(measure string) bool {
	at, ok := p.came[measure]
	return ok && p.pic.Ended.IsZero() && at >= begun(&p.pic)
}

// begun is how many steps are being played or over.
func begun(pic *scenario.Picture) (n int) {
	for _, step := range pic.Steps {
		if step.State != scenario.ToCome && step.State != scenario.Waiting {
			n++
		}
	}
	return n
}

// runsOf are runs as lanes have them.
func runsOf(all []scenario.Run, clock *playClock) []lanes.Run {
	runs := make([]lanes.Run, len(all))
	of := func(t time.Time) time.Time {
		if t.IsZero() {
			return t
		}
		return clock.Of(t)
	}
	for i, one := range all {
		runs[i] = lanes.Run{
			ID: one.ID, Job: one.Job, Worker: one.Worker, Attempt: one.Attempt,
			Began: of(one.Began), Ended: of(one.Ended), End: runEnds[one.End], Dead: of(one.Dead),
		}
	}
	return runs
}

// runEnds are the ends of runs as lanes have them.
var runEnds = map[scenario.RunEnd]lanes.End{
	scenario.RunDone: lanes.Done, scenario.RunFailed: lanes.Failed, scenario.RunBack: lanes.Back,
	scenario.RunFenced: lanes.Fenced, scenario.RunStopped: lanes.Stopped, scenario.RunCrashed: lanes.Crashed,
}

// show puts the latest picture on the screen.
func (p *performance) show() { p.pic, p.shown, p.seen, p.still = p.latest, p.now, p.taken, p.stands }
