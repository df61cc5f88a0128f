package ui

import (
	"strconv"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/ui/planwords"
	"github.com/leasetop/leasetop/ui/safe"
)

// planLine is one line under the tabs about a plan that runs here, or was started here
// and waits for somebody.
func (a *app) planLine(w int) []string {
	if p, ok := a.page().(*planPage); ok && (p.here() || p.id == a.plans.last) {
		return nil
	}
	id, t := a.plans.last, a.pic.theme
	running := a.runningPlans()
	if len(running) > 0 {
		id = running[len(running)-1]
	}
	if id == 0 {
		return nil
	}
	seen := a.plans.of(id)
	p := seen.plan
	name := t.strong.draw("plan " + strconv.FormatInt(id, 10))
	opens := ""
	if _, list := a.page().(*planList); !list && a.typing() == nil {
		opens = t.accent.draw("l") + t.dim.draw(" opens")
	}
	switch {
	case len(running) == 0 && (p.State == queue.PlanHeld || p.State == queue.PlanPaused || p.State == queue.PlanStopped):
		tone, word := planTone(p.State)
		return []string{spread([]part{{t.chip(tone, word), 0}, {name + t.dim.draw("  "+planwords.Came(p)), 0}}, []part{{opens, 1}}, w)}
	case len(running) == 0:
		return nil
	}
	text := thousands(p.Total-p.Waiting) + " of " + thousands(p.Total)
	pace, left := "", ""
	if speed, ok := seen.speed.PerSecond(); ok && p.State == queue.PlanRunning {
		pace = "· " + rate(speed) + "/s"
	}
	if d, ok := seen.speed.Left(p); ok {
		left = "· " + planwords.About(d) + " left"
	}
	if p.State != queue.PlanRunning {
		pace = "· " + planwords.Stands(p)
	}
	more := ""
	if len(running) > 1 {
		more = t.dim.draw("· and " + plural(len(running)-1, "plan") + " more")
	}
	bad := ""
	if seen.err != nil {
		bad = t.bad.draw("✗ not reached: " + brief(seen.err.Error(), 40))
	}
	line := name + "  " + t.text.draw(text)
	return []string{spread([]part{{line, 0}, {t.text.draw(safe.Text(pace)), 2}, {t.text.draw(left), 1}, {more, 3}, {bad, 0}}, []part{{opens, 1}}, w)}
}
