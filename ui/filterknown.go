package ui

import (
	"slices"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/queue/filter"
)

// known is what the feed and the workers know to complete a filter with.
func (p *picture) known() (known filter.Known) {
	for i := range p.state.Depths.Queues {
		known.Queues = append(known.Queues, p.state.Depths.Queues[i].Queue)
	}
	for i := range p.state.Leases.List {
		l := &p.state.Leases.List[i]
		known.Kinds = append(known.Kinds, l.Kind)
		name := l.Owner
		if token, ok := queue.ParseToken(l.Owner); ok {
			name = token.Worker
		}
		known.Workers = append(known.Workers, name)
	}
	for i := range p.state.Dead.Latest {
		known.Kinds = append(known.Kinds, p.state.Dead.Latest[i].Kind)
	}
	for i := range p.workers {
		known.Workers = append(known.Workers, p.workers[i].Name)
	}
	return known
}

// tidy puts each name there once, in order.
func tidy(known filter.Known) filter.Known {
	for _, names := range []*[]string{&known.Queues, &known.Kinds, &known.Workers} {
		slices.Sort(*names)
		*names = slices.DeleteFunc(slices.Compact(*names), func(name string) bool { return name == "" })
	}
	return known
}
