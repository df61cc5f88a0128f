package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/leasetop/leasetop/ui/safe"
	"github.com/leasetop/leasetop/workers/scenario"
	"github.com/leasetop/leasetop/workers/scenario/stories"
)

// SoakOptions say for how long things break at random.
type SoakOptions struct {
	Lasts time.Duration
	Seed  uint64 // 0 draws one
}

// soakEvery is how often a soak says how it stands.
const soakEvery = 10 * time.Second

// Soak breaks things at random, under load, on a server of its own, and looks meanwhile
// whether any job was lost or done twice; at the end it waits until all are done. To people
// it says every ten seconds how it stands; as JSON it prints one line at the end. The error
// says that a promise was broken, or that somebody stopped it.
func Soak(ctx context.Context, p Printer, d *Database, o SoakOptions) error {
	story := stories.Soak(o.Lasts)
	ground := d.Ground()
	ok, why, err := ground.Allows(ctx, story.Needs)
	if err != nil {
		return err
	}
	if !ok {
		return Usage(fmt.Sprintf("a soak needs a %s of its own: %s", story.Needs, why))
	}
	play := scenario.Start(ctx, story, ground, scenario.Options{Seed: o.Seed})
	r, err := finish(p, play, followSoak)
	switch {
	case !r.OK && !errors.Is(r.Err, scenario.ErrCancelled):
		return errors.New("the soak failed")
	case err != nil:
		return err
	case !r.OK:
		return fmt.Errorf("soak: %w", r.Err)
	}
	return nil
}

// followSoak prints a soak as it goes, until it is over.
func followSoak(p Printer, play *scenario.Play) {
	t := playTeller{w: p.Out}
	standing := time.NewTicker(soakEvery)
	defer standing.Stop()
	for {
		pic := play.Picture()
		t.tell(pic, p)
		if !pic.Ended.IsZero() {
			p.endProgress()
			fmt.Fprintf(p.Out, "     %s\n", strings.ReplaceAll(ansi.Wordwrap(soakBroke(pic), 74, ""), "\n", "\n     "))
			t.end(pic)
			return
		}
		select {
		case <-play.Changed(pic.Version):
		case <-standing.C:
			p.endProgress()
			fmt.Fprintf(p.Out, "     %5s  %s\n", time.Since(pic.Began).Round(time.Second), soakStands(pic))
		}
	}
}

// soakStands says how a soak stands, in one line.
func soakStands(pic scenario.Picture) string {
	faults := 0
	for _, bar := range pic.Bars {
		faults += int(bar.Value)
	}
	text := fmt.Sprintf("faults %d", faults)
	for _, d := range pic.Depths {
		text += fmt.Sprintf(" · done %d · waiting %d · leased %d", d.Completed, d.Pending, d.Processing)
		if dead := d.Failed + d.Dead; dead > 0 {
			text += fmt.Sprintf(" · dead %d", dead)
		}
	}
	i := pic.Invariants
	if i.Missed {
		return text + " · lost, double effects, overlaps: not counted"
	}
	return text + fmt.Sprintf(" · lost %d · double effects %d · overlaps %d", i.Lost, i.Doubled, i.Overlaps)
}

// soakBroke says what broke, and how often.
func soakBroke(pic scenario.Picture) string {
	kinds := make([]string, 0, len(pic.Bars))
	for _, bar := range pic.Bars {
		kinds = append(kinds, fmt.Sprintf("%s %.0f", safe.Text(bar.Name), bar.Value))
	}
	return strings.Join(kinds, " · ")
}
