package command

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/queue/filter"
	"github.com/leasetop/leasetop/sql/local/testdb"
	"github.com/leasetop/leasetop/ui/cli"
)

// questions are those that the command jobs puts to a queue.
type questions struct {
	*queue.Queue
	asked []queue.Stretch
	found []queue.Found
	lists int
}

func (q *questions) Scan(ctx context.Context, f queue.Filter, s queue.Stretch) (queue.Found, error) {
	found, err := q.Queue.Scan(ctx, f, s)
	q.asked, q.found = append(q.asked, s), append(q.found, found)
	return found, err
}

func (q *questions) DeadLetters(ctx context.Context, where filter.Filter, s queue.DeadStretch) (queue.DeadFound, error) {
	q.lists++
	return q.Queue.DeadLetters(ctx, where, s)
}

// A few jobs far down in a large table are found by questions of which none looks at more
// than so many jobs; see also the queue's TestScanWorkIsBounded.
func TestJobsOfALargeTableAreFoundByBoundedQuestions(t *testing.T) {
	t.Parallel()
	const all, most = 180_000, 50_000
	opened, err := queue.Open(t.Context(), testdb.New(t), queue.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Close()
	for _, fill := range []string{
		"ALTER TABLE leasetop.jobs SET (autovacuum_enabled = off)",
		`INSERT INTO leasetop.jobs (queue, status) SELECT CASE WHEN n IN (3, 70000, 180000) THEN 'rare' ELSE 'emails' END,
			CASE WHEN n % 100000 = 8 THEN 'failed' WHEN n = 9 THEN 'dead' ELSE 'completed' END FROM generate_series(1, 180000) n`,
	} {
		if _, err := opened.Pool().Exec(t.Context(), fill); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		filter queue.Filter
		part   cli.Part
		want   string // the first columns, one space between
		looked int    // by all questions; that of an index looks at none
		lists  int
	}{
		"a rare queue":       {queue.Filter{Queue: "rare"}, cli.Part{Limit: 100}, "180000 rare|70000 rare|3 rare", all, 0},
		"the rest of it":     {queue.Filter{Queue: "rare"}, cli.Part{Limit: 100, Before: 70_000}, "3 rare", 69_999, 0},
		"no queue":           {queue.Filter{Queue: "nobody's"}, cli.Part{Limit: 100}, "", all, 0},
		"an indexed status":  {queue.Filter{Statuses: []queue.Status{queue.Failed}}, cli.Part{Limit: 100}, "100008 emails|8 emails", 0, 0},
		"dead, by the death": {queue.Filter{Statuses: queue.DeadLetters}, cli.Part{Limit: 2}, "100008 emails|9 emails", 0, 1},
	} {
		q := &questions{Queue: opened}
		var out, remarks bytes.Buffer
		if err := cli.Jobs(t.Context(), cli.Printer{Out: &out, Err: &remarks}, q, c.filter, c.part); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		var got []string
		for line := range strings.Lines(out.String()) {
			got = append(got, strings.Join(strings.Fields(line)[:2], " "))
		}
		if want := strings.FieldsFunc("ID QUEUE|"+c.want, func(r rune) bool { return r == '|' }); !slices.Equal(got, want) {
			t.Errorf("%s: printed %q", name, out.String())
		}
		looked := 0
		for i, s := range q.asked {
			looked += q.found[i].Looked
			if s.Look < 1 || s.Look > most || q.found[i].Looked > s.Look {
				t.Errorf("%s: a question that looks at %d jobs looked at %d", name, s.Look, q.found[i].Looked)
			}
		}
		if looked != c.looked || q.lists != c.lists {
			t.Errorf("%s: looked at %d jobs, %d lists", name, looked, q.lists)
		}
	}
}
