package plain

import (
	"time"

	"github.com/leasetop/leasetop/queue/alert"
	"github.com/leasetop/leasetop/queue/watch"
)

// alerts prints which limits are passed now, and were not before; which are kept again;
// and of which neither can be told.
func (p *printer) alerts(s *watch.State, local time.Time) {
	if len(p.alarm.Limits) == 0 {
		return
	}
	now := s.Clock.Now(local)
	fresh, over := p.alarm.Take(alert.Read(s, local), local)
	for _, one := range fresh {
		p.line(now, "alert", one.Says())
	}
	for _, one := range over {
		p.line(now, "alert", "over: "+one.Says())
	}
	doubted := map[alert.Measure]bool{}
	for _, d := range p.alarm.Doubts() {
		doubted[d.Measure] = true
		if !p.doubted[d.Measure] {
			p.line(now, "alert", "cannot tell "+d.Says())
		}
	}
	p.doubted = doubted
}
