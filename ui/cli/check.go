package cli

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/queue/alert"
	"github.com/leasetop/leasetop/sql/local"
	"github.com/leasetop/leasetop/ui/mask"
	"github.com/leasetop/leasetop/ui/safe"
)

// Verdict is what a check came to, as monitoring plugins end: 0, 1, 2 or 3. As an error it
// says no more than the line that was printed.
type Verdict int

// The verdicts of monitoring plugins.
const (
	Fine Verdict = iota
	Warning
	Critical
	CannotTell
)

func (v Verdict) String() string {
	return [...]string{"OK", "WARNING", "CRITICAL", "UNKNOWN"}[v]
}

func (v Verdict) Error() string { return v.String() }

// checked are the measures that one look at the table tells; leases that run out a minute
// are no trace of any kind in it.
var checked = []alert.Measure{alert.Dead, alert.DeadRate, alert.Age, alert.Expired}

// CheckOptions are the limits of a check.
type CheckOptions struct {
	Queue     string // "" is all queues together
	Max, Warn alert.Limits
	Timeout   time.Duration
}

// check returns what is wrong with the options; "" when nothing is.
func (c *CheckOptions) check() string {
	if len(c.Max)+len(c.Warn) == 0 {
		return "no limit was given: say one, like --max-dead 10 or --max-age 5m"
	}
	for _, m := range checked {
		critical, both := c.Max[m]
		if warn, ok := c.Warn[m]; ok && both && warn > critical {
			flag := strings.ReplaceAll(string(m), "_", "-")
			return fmt.Sprintf("--warn-%s is above --max-%s: it would never warn", flag, flag)
		}
	}
	return ""
}

// lastAnswer is how long the database's own words are waited for when time is up.
const lastAnswer = 200 * time.Millisecond

// Check judges the queues by limits and prints one line for monitoring: the verdict, in
// words, and the figures. It returns the [Verdict], unless it is Fine. It starts no private
// server, whose empty queues would be well, and takes no longer than it may.
func Check(ctx context.Context, p Printer, w Where, c CheckOptions) error {
	if wrong := c.check(); wrong != "" {
		return Unchecked(p, wrong)
	}
	ctx, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	type answer struct {
		vitals  queue.Vitals
		refused []queue.Refused
		noQueue string // why the queue may not be meant
		err     error
	}
	answers := make(chan answer, 2)
	go func() { // whose end, the closing of connections, is not waited for
		err := running(ctx, &w)
		if err == nil {
			err = With(ctx, w, func(d *Database) error {
				v, err := d.Vitals(ctx, queue.VitalsOf{Queue: c.Queue, Window: alert.Window, Late: alert.Grace, Cap: c.cap()})
				refused, none := []queue.Refused(nil), ""
				if err == nil {
					refused, err = d.Refused(ctx, refusedRead)
				}
				if err == nil && c.Queue != "" && v.Dead == 0 && v.OldestReady == 0 && v.Expired == 0 {
					none, err = noQueue(ctx, d.Queue, c.Queue)
				}
				if err == nil {
					answers <- answer{vitals: v, refused: refused, noQueue: none}
				}
				return err
			})
		}
		answers <- answer{err: err}
	}()
	var a answer
	select {
	case a = <-answers:
	case <-ctx.Done():
		select {
		case a = <-answers:
		case <-time.After(lastAnswer):
			a.err = ctx.Err()
		}
	}
	switch {
	case a.err == nil && a.noQueue != "":
		return Unchecked(p, a.noQueue)
	case a.err == nil:
		return c.judge(p, a.vitals, a.refused)
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return Unchecked(p, "no answer within "+c.Timeout.String())
	case ctx.Err() != nil:
		return Unchecked(p, "interrupted")
	}
	return Unchecked(p, a.err.Error())
}

// running makes the private server, where that is meant, one that is named.
func running(ctx context.Context, w *Where) error {
	source, err := w.source(ctx)
	if err != nil || !source.Private() {
		return err
	}
	url, is, err := local.Running(ctx, local.Options{}, localDatabase)
	if err == nil && !is {
		err = errors.New("no database is named, and the private server does not run")
	}
	w.URL = url
	return err
}

// cap is how far a count must go to tell that a limit is passed.
func (c *CheckOptions) cap() int {
	most := 100_000.0
	for _, limits := range []alert.Limits{c.Max, c.Warn} {
		most = max(most, limits[alert.Dead], limits[alert.Expired], limits[alert.DeadRate]*alert.Window.Minutes())
	}
	return int(min(most, math.MaxInt32-1)) + 1
}

// finding is what a check prints as JSON.
type finding struct {
	Status  string                       `json:"status"`
	Code    int                          `json:"code"`
	Says    []string                     `json:"says"`
	Queue   *string                      `json:"queue"` // null for all queues
	At      *queue.Time                  `json:"at"`    // the database's clock; null when it did not answer
	Figures map[alert.Measure]figureLine `json:"figures,omitempty"`
}

type figureLine struct {
	Value   float64  `json:"value"`
	AtLeast bool     `json:"at_least"`
	Warn    *float64 `json:"warn"`
	Max     *float64 `json:"max"`
}

// How many jobs that the server refuses to change are read, and told.
const (
	refusedRead = 1000
	refusedTold = 2
)

// refused says which jobs the server refuses to change: nothing else in the figures shows
// that they stand still.
func (c *CheckOptions) refused(all []queue.Refused) (said []string) {
	more := 0
	for _, r := range all {
		switch {
		case c.Queue != "" && r.Queue != c.Queue:
		case len(said) == refusedTold:
			more++
		default:
			text, _ := mask.Text(r.Error())
			said = append(said, text)
		}
	}
	if more > 0 {
		said = append(said, "and it refuses "+counted(more, "more job")+" to be changed")
	}
	return said
}

// judge prints the verdict about figures and the jobs that the server refuses to change.
func (c *CheckOptions) judge(p Printer, v queue.Vitals, all []queue.Refused) error {
	figures := alert.Figures{
		alert.Dead:     {Value: float64(v.Dead), AtLeast: v.DeadAtLeast},
		alert.DeadRate: {Value: float64(v.Died) / v.Window.Minutes(), AtLeast: v.DiedAtLeast},
		alert.Age:      {Value: max(v.OldestReady, 0).Truncate(time.Millisecond).Seconds(), Of: v.OldestQueue},
		alert.Expired:  {Value: float64(v.Expired), AtLeast: v.ExpiredAtLeast},
	}
	critical, doubts := c.Max.Judge(figures)
	warnings, more := c.Warn.Judge(figures)
	passed := map[alert.Measure]bool{}
	verdict, said := Fine, []string{}
	for _, b := range critical {
		verdict, passed[b.Measure] = Critical, true
		said = append(said, b.Says())
	}
	for _, b := range warnings {
		if passed[b.Measure] {
			continue
		}
		text := b.Says()
		if verdict == Critical {
			text += " (a warning)"
		}
		verdict = max(verdict, Warning)
		said = append(said, text)
	}
	if stuck := c.refused(all); len(stuck) > 0 {
		verdict = max(verdict, Warning)
		said = append(said, stuck...)
	}
	for _, d := range append(doubts, more...) {
		if verdict == Fine {
			verdict = CannotTell
		}
		said = append(said, d.Says())
	}
	if len(said) == 0 {
		for _, m := range checked {
			said = append(said, figures[m].Says(m))
		}
	}
	if p.Format == JSON {
		at := queue.At(v.At)
		out := finding{Status: verdict.String(), Code: int(verdict), Says: said, At: &at, Figures: map[alert.Measure]figureLine{}}
		if c.Queue != "" {
			out.Queue = &c.Queue
		}
		for _, m := range checked {
			f := figureLine{Value: figures[m].Value, AtLeast: figures[m].AtLeast}
			f.Warn, f.Max = limitOf(c.Warn, m), limitOf(c.Max, m)
			out.Figures[m] = f
		}
		return verdict.told(line(p.Out, out))
	}
	text := strings.Join(said, "; ")
	if c.Queue != "" {
		text = "queue " + c.Queue + ": " + text
	}
	return verdict.told(plugin(p, verdict, text, c.performance(figures)))
}

func limitOf(l alert.Limits, m alert.Measure) *float64 {
	if v, ok := l[m]; ok {
		return &v
	}
	return nil
}

// performance writes the figures as graphs take them: name=value;warn;max;least.
func (c *CheckOptions) performance(f alert.Figures) string {
	number := func(v *float64) string {
		if v == nil {
			return ""
		}
		return strconv.FormatFloat(*v, 'f', -1, 64)
	}
	parts := make([]string, 0, len(checked))
	for _, m := range checked {
		unit, value := "", f[m].Value
		if m == alert.Age {
			unit = "s"
		}
		parts = append(parts, fmt.Sprintf("%s=%s%s;%s;%s;0", m, number(&value), unit, number(limitOf(c.Warn, m)), number(limitOf(c.Max, m))))
	}
	return " | " + strings.Join(parts, " ")
}

// plugin prints the one line. What names of queues and messages of the database hold ends
// neither the line nor the words, and does nothing to a terminal.
func plugin(p Printer, v Verdict, text, performance string) error {
	text = strings.ReplaceAll(safe.Text(strings.Join(strings.Fields(text), " ")), "|", "¦")
	_, err := fmt.Fprintf(p.Out, "%s - %s%s\n", v, text, performance)
	return err
}

// Unchecked says that, and why, nothing could be checked.
func Unchecked(p Printer, why string) error {
	if p.Format == JSON {
		return CannotTell.told(line(p.Out, finding{Status: CannotTell.String(), Code: int(CannotTell), Says: []string{why}}))
	}
	return CannotTell.told(plugin(p, CannotTell, why, ""))
}

// told is what to return once the verdict was printed, or could not be: status 0 says that
// all is well, and is not for a reader who went away.
func (v Verdict) told(err error) error {
	switch {
	case v != Fine:
		return v
	case err != nil:
		return CannotTell
	}
	return nil
}
