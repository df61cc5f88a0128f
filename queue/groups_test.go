package queue

import (
	"cmp"
	"slices"
	"testing"
	"time"
)

func TestDeadGroupsAddUp(t *testing.T) {
	t.Parallel()
	q := open(t)
	died(t, q)
	for text, sql := range deadChoices {
		d := must[DeadGroups](t)(q.DeadGroups(t.Context(), saying(text), 0))
		rows, err := q.pool.Query(t.Context(), `select queue, kind, fingerprint, count(*), min(died_at), max(died_at), (array_agg(id order by died_at desc, id desc))[1]
			from leasetop.jobs where status in ('failed', 'dead') and (`+sql+") group by 1, 2, 3")
		ok(t, err)
		var want []DeadGroup
		for rows.Next() {
			var g DeadGroup
			ok(t, rows.Scan(&g.Queue, &g.Kind, &g.Fingerprint, &g.Count, &g.First, &g.Last, &g.Sample))
			want = append(want, g)
		}
		if !slices.IsSortedFunc(d.Groups, func(a, b DeadGroup) int { return cmp.Compare(b.Count, a.Count) }) {
			t.Errorf("%s: the largest is not the first", text)
		}
		total := int64(0)
		for _, g := range want {
			total += g.Count
			i := slices.IndexFunc(d.Groups, func(o DeadGroup) bool {
				return o.Queue == g.Queue && o.Kind == g.Kind && o.Fingerprint == g.Fingerprint
			})
			if i < 0 {
				t.Errorf("%s: no group %+v", text, g)
				continue
			}
			got := d.Groups[i]
			if got.Count != g.Count || !got.First.Equal(g.First) || !got.Last.Equal(g.Last) || got.Sample != g.Sample || got.Error != get(t, q, g.Sample).LastError {
				t.Errorf("%s: %+v, want %+v", text, got, g)
			}
			sum := int64(0)
			for i, n := range got.Bars {
				begins, ends := d.Begins[i], d.At.Add(time.Hour)
				if i+1 < len(d.Begins) {
					ends = d.Begins[i+1]
				}
				in := count(t, q, `select count(*) from leasetop.jobs where status in ('failed', 'dead') and (`+sql+`) and queue = $1 and kind = $2 and fingerprint = $3
					and died_at >= $4 and died_at < $5`, g.Queue, g.Kind, g.Fingerprint, begins, ends)
				if n != in {
					t.Errorf("%s: bar %d from %v has %d, want %d", text, i, begins, n, in)
				}
				sum += n
			}
			if sum != g.Count || len(got.Bars) != 24 {
				t.Errorf("%s: %d bars of %d, want %d", text, len(got.Bars), sum, g.Count)
			}
		}
		if len(d.Groups) != len(want) || d.Total != total || d.Rest != 0 || !d.Whole || d.At.IsZero() || len(d.Begins) != 24 {
			t.Errorf("%s: %d groups of %d, want %d of %d: %+v", text, len(d.Groups), d.Total, len(want), total, d)
		}
		if where := saying(text); where.Queues() == nil && where.Statuses() == nil && d.Looked != 300 {
			t.Errorf("%s: looked at %d", text, d.Looked)
		}
		for _, g := range d.Groups { // by which the list finds it
			found := must[DeadFound](t)(q.DeadLetters(t.Context(), saying(text+" queue:"+g.Queue), DeadStretch{Limit: 400}))
			if !slices.ContainsFunc(found.Jobs, func(j Job) bool { return j.ID == g.Sample }) {
				t.Errorf("%s: the list has no sample %d", text, g.Sample)
			}
		}
	}
}

// Where they are too many to look at, the newest of all queues are looked at.
func TestDeadGroupsOfTheNewest(t *testing.T) {
	t.Parallel()
	q := open(t)
	exec(t, q, `insert into leasetop.jobs (queue, kind, status, updated_at) select case when n % 10 = 0 then 'zoo' else 'emails' end,
		case when n <= 2000 then 'new' else 'old' end, 'dead', now() - n * interval '1 s' from generate_series(1, 20000) n`)
	d := must[DeadGroups](t)(q.DeadGroups(t.Context(), saying("!x"), 2000))
	if d.Whole || d.Looked > 2000 || d.Looked < 1800 || len(d.Groups) != 2 || d.Total != d.Looked {
		t.Fatalf("%+v", d)
	}
	for i, name := range []string{"emails", "zoo"} {
		if g := d.Groups[i]; g.Queue != name || g.Kind != "new" {
			t.Errorf("%+v", g)
		}
	}
	if age := d.At.Sub(d.Begins[0]); age < 30*time.Minute || age > 34*time.Minute {
		t.Errorf("bars from %v before", age)
	}
	all := must[DeadGroups](t)(q.DeadGroups(t.Context(), saying("kind:new"), 0))
	if !all.Whole || all.Looked != 20_000 || all.Total != 2000 || all.At.Sub(all.Begins[0]) > 55*time.Minute {
		t.Errorf("looked at %d: %d, bars from %v", all.Looked, all.Total, all.At.Sub(all.Begins[0]))
	}
}

// Errors that all differ are as many groups: those that are kept are bounded, and what
// was left out is counted.
func TestGroupsThatAreTooManyAreCountedTogether(t *testing.T) {
	t.Parallel()
	all, rest := gathered{}, int64(0)
	part := func(queue string, n int64) gatheredPart {
		return gatheredPart{DeadGroup: DeadGroup{Queue: queue, Count: n, First: time.Unix(n, 0), Last: time.Unix(n, 0)}, found: true}
	}
	for i := range 5 * mostGroups {
		rest += all.add([]gatheredPart{part(time.Duration(i).String(), 1), part("large", 3), {DeadGroup: DeadGroup{Count: 7}}})
		if len(all) > 2*mostGroups {
			t.Fatalf("%d groups at once", len(all))
		}
	}
	rest += all.keep(mostGroups)
	var d DeadGroups
	all.into(&d, deadAxis(time.Unix(1e9, 0), time.Hour))
	if len(d.Groups) != mostGroups || d.Groups[0].Queue != "large" || d.Groups[0].Count != 15*mostGroups || d.Total+rest != 20*mostGroups {
		t.Errorf("%d groups, the first %+v, %d in all and %d left", len(d.Groups), d.Groups[0], d.Total, rest)
	}
}

// A job that claims to have died in the future, or ages ago, is in a bar too.
func TestBarsOfStrangeDeaths(t *testing.T) {
	t.Parallel()
	q := open(t)
	exec(t, q, "insert into leasetop.jobs (queue, status, updated_at) values ('a', 'dead', '294276-12-31'), ('a', 'dead', '4713-01-01 BC'), ('b', 'dead', now())")
	d := must[DeadGroups](t)(q.DeadGroups(t.Context(), saying(""), 0))
	if d.Total != 3 || len(d.Groups) != 2 {
		t.Fatalf("%+v", d)
	}
	for _, g := range d.Groups {
		sum := int64(0)
		for _, n := range g.Bars {
			sum += n
		}
		if sum != g.Count || g.Sample == 0 {
			t.Errorf("%+v", g)
		}
	}
}

// A group that has been there for weeks leaves the others more than one bar.
func TestOneOldDeathLeavesTheOthersTheirBars(t *testing.T) {
	t.Parallel()
	q := open(t)
	exec(t, q, `insert into leasetop.jobs (queue, kind, status, updated_at) select 'a', 'fresh', 'dead', now() - n * interval '20 s' from generate_series(1, 90) n
		union all select 'a', 'old', 'dead', now() - interval '30 days'`)
	d := must[DeadGroups](t)(q.DeadGroups(t.Context(), saying(""), 0))
	bars := func(g *DeadGroup) (n int) {
		for _, one := range g.Bars {
			n += min(int(one), 1)
		}
		return n
	}
	if fresh, old := &d.Groups[0], &d.Groups[1]; fresh.Kind != "fresh" || bars(fresh) < 6 || old.Bars[0] != 1 || bars(old) != 1 {
		t.Errorf("%v, %v", fresh.Bars, old.Bars)
	}
	if !slices.IsSortedFunc(d.Begins, time.Time.Compare) || d.Begins[0].After(d.Groups[1].Last) || !d.Begins[23].Before(d.At) {
		t.Errorf("bars begin at %v, until %v", d.Begins, d.At)
	}
}
