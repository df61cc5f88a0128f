package queue

import (
	"cmp"
	"slices"
	"time"
)

// gathered are the groups that were read so far.
type gathered map[gatherKey]*gatheredGroup

type gatherKey struct{ queue, kind, fingerprint string }

// gatheredGroup is a group and when its dead letters died, by fine stretches.
type gatheredGroup struct {
	DeadGroup
	stretches map[int]int64
}

// gatheredPart is what one statement knows of a group in one fine stretch, or of all that
// do not pass.
type gatheredPart struct {
	DeadGroup
	found   bool
	stretch int
}

// add takes what a statement read. When the groups are more than twice too many it leaves
// out small ones, and returns how many dead letters were in these.
func (all gathered) add(read []gatheredPart) (left int64) {
	for i := range read {
		p := &read[i]
		if !p.found {
			continue
		}
		key := gatherKey{p.Queue, p.Kind, p.Fingerprint}
		g := all[key]
		switch {
		case g == nil:
			g = &gatheredGroup{p.DeadGroup, map[int]int64{}}
			all[key] = g
		default:
			g.Count += p.Count
			if p.First.Before(g.First) {
				g.First = p.First
			}
			if p.Last.After(g.Last) || p.Last.Equal(g.Last) && p.Sample > g.Sample {
				g.Last, g.Sample = p.Last, p.Sample
			}
		}
		g.stretches[p.stretch] += p.Count
	}
	if len(all) > 2*mostGroups {
		return all.keep(mostGroups)
	}
	return 0
}

// keep leaves no more than the largest groups, and returns how many dead letters were in
// the others.
func (all gathered) keep(most int) (left int64) {
	if len(all) <= most {
		return 0
	}
	keys := make([]gatherKey, 0, len(all))
	for key := range all {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b gatherKey) int { return cmp.Compare(all[b].Count, all[a].Count) })
	for _, key := range keys[most:] {
		left += all[key].Count
		delete(all, key)
	}
	return left
}

// into puts the groups into d, the largest first, with bars from the first stretch that
// has any to the last there is. axis is where the stretches begin.
func (all gathered) into(d *DeadGroups, axis []time.Time) {
	first := deadStretches - 1
	for _, g := range all {
		for at := range g.stretches {
			first = min(first, at)
		}
	}
	each := (deadStretches - first + deadBars - 1) / deadBars
	d.Begins = make([]time.Time, deadBars)
	for i := range d.Begins {
		d.Begins[i] = axis[deadStretches-(deadBars-i)*each]
	}
	for _, g := range all {
		g.Bars = make([]int64, deadBars)
		for at, n := range g.stretches {
			g.Bars[deadBars-1-(deadStretches-1-at)/each] += n
		}
		d.Groups = append(d.Groups, g.DeadGroup)
		d.Total += g.Count
	}
	slices.SortFunc(d.Groups, func(a, b DeadGroup) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), b.Last.Compare(a.Last), cmp.Compare(b.Sample, a.Sample))
	})
}
