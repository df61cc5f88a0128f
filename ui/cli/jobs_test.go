package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/queue/filter"
)

// jobsTable has jobs from id 1 up, of which some pass the filter.
type jobsTable struct {
	newest int64
	pass   []int64                                             // newest first
	hinder func(context.Context, queue.Stretch) (failed error) // before each scan; may be nil

	scans []queue.Stretch
	died  map[int64]time.Time
}

func (t *jobsTable) Scan(ctx context.Context, _ queue.Filter, s queue.Stretch) (found queue.Found, err error) {
	t.scans = append(t.scans, s)
	if t.hinder != nil {
		if err := t.hinder(ctx, s); err != nil {
			return found, err
		}
	}
	from := t.newest
	if s.From != nil {
		from = s.From.ID - 1
	}
	for id := from; id > 0 && found.Looked < s.Look; id-- {
		if slices.Contains(t.pass, id) {
			if len(found.Jobs) == s.Limit {
				found.Next = &queue.Cursor{ID: found.Jobs[s.Limit-1].ID}
				return found, nil
			}
			found.Jobs = append(found.Jobs, queue.Job{ID: id, Status: queue.Completed})
		}
		found.Looked++
		if found.Looked == s.Look && id > 1 {
			found.Next = &queue.Cursor{ID: id}
		}
	}
	return found, nil
}

func (t *jobsTable) Logged(ctx context.Context, _ queue.Act, do func(context.Context) (int, int, error)) error {
	_, _, err := do(ctx)
	return err
}

func (t *jobsTable) ByID(_ context.Context, ids ...int64) (jobs []queue.Job, err error) {
	for _, id := range ids {
		if at, ok := t.died[id]; ok {
			jobs = append(jobs, queue.Job{ID: id, Status: queue.Dead, DiedAt: &at})
		}
	}
	return jobs, nil
}

func (t *jobsTable) DeadLetters(_ context.Context, _ filter.Filter, s queue.DeadStretch) (found queue.DeadFound, err error) {
	for _, id := range t.pass { // in the order of their deaths
		at := t.died[id]
		if s.From != nil && !at.Before(*s.From.DiedAt) {
			continue
		}
		if len(found.Jobs) == s.Limit {
			last := found.Jobs[s.Limit-1]
			found.Next = &queue.Cursor{ID: last.ID, DiedAt: last.DiedAt}
			break
		}
		found.Jobs = append(found.Jobs, queue.Job{ID: id, Status: queue.Dead, DiedAt: &at})
	}
	return found, nil
}

func (t *jobsTable) Payloads(_ context.Context, _ int, ids ...int64) iter.Seq2[queue.Payload, error] {
	return func(yield func(queue.Payload, error) bool) {
		for _, id := range ids {
			if !yield(queue.Payload{ID: id, JSON: json.RawMessage(fmt.Sprintf(`{"of": %d}`, id))}, nil) {
				return
			}
		}
	}
}

// jobsPrinted calls the command, and returns the ids that it printed in their order.
func jobsPrinted(ctx context.Context, t *testing.T, q jobsReader, f queue.Filter, part Part) (ids []int64, remarks string, err error) {
	t.Helper()
	var out, remark bytes.Buffer
	err = Jobs(ctx, Printer{Out: &out, Err: &remark, Format: JSON}, q, f, part)
	for line := range strings.Lines(out.String()) {
		var j struct{ ID int64 }
		if err := json.Unmarshal([]byte(line), &j); err != nil {
			t.Errorf("on standard output: %q", line)
		}
		ids = append(ids, j.ID)
	}
	return ids, remark.String(), err
}

// timeout is what the server says when statement_timeout is over.
type timeout struct{}

func (timeout) Error() string        { return "canceling statement due to statement timeout" }
func (timeout) Is(target error) bool { return target == queue.ErrStatementTimeout }

func TestJobsGoesOnToTheEndOfTheTable(t *testing.T) {
	t.Parallel()
	table := &jobsTable{newest: 8 * lookMost, pass: []int64{5*lookMost + 7, 3}}
	ids, remarks, err := jobsPrinted(t.Context(), t, table, queue.Filter{Queue: "rare"}, Part{Limit: 100})
	if err != nil || remarks != "" || !slices.Equal(ids, table.pass) {
		t.Errorf("printed %v, %q, %v", ids, remarks, err)
	}
	if len(table.scans) != 8 {
		t.Errorf("%d questions", len(table.scans))
	}
	for _, s := range table.scans {
		if s.Look < 1 || s.Look > lookMost {
			t.Errorf("a question looks at %d jobs", s.Look)
		}
	}
}

// Whether there is more is said on standard error; for that alone one question is put, and
// no walk to the end of the table.
func TestJobsSaysWhenThereAreMore(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		table  jobsTable
		part   Part
		ids    []int64
		remark string
		atMost int // questions
	}{
		"all":          {jobsTable{newest: 9, pass: []int64{8, 5, 2}}, Part{Limit: 3}, []int64{8, 5, 2}, "", 1},
		"more":         {jobsTable{newest: 9, pass: []int64{8, 5, 2}}, Part{Limit: 2}, []int64{8, 5}, "leasetop: 2 shown, more with --limit or --before 5\n", 1},
		"the rest":     {jobsTable{newest: 9, pass: []int64{8, 5, 2}}, Part{Limit: 2, Before: 5}, []int64{2}, "", 1},
		"payloads":     {jobsTable{newest: 200, pass: descending(200, 1)}, Part{Limit: 120, Payloads: true}, descending(200, 81), "leasetop: 120 shown, more with --limit or --before 81\n", 3},
		"a whole page": {jobsTable{newest: 3000, pass: descending(3000, 1)}, Part{Limit: listPage}, descending(3000, 2001), "leasetop: 1000 shown, more with --limit or --before 2001\n", 2},
		"perhaps": {
			jobsTable{newest: 9 * lookMost, pass: []int64{8*lookMost + 1}},
			Part{Limit: 1},
			[]int64{8*lookMost + 1},
			fmt.Sprintf("leasetop: 1 shown, perhaps more with --limit or --before %d\n", 7*lookMost+1),
			2,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ids, remark, err := jobsPrinted(t.Context(), t, &c.table, queue.Filter{}, c.part)
			if err != nil || !slices.Equal(ids, c.ids) || remark != c.remark {
				t.Errorf("printed %v, %q, %v", ids, remark, err)
			}
			if len(c.table.scans) > c.atMost {
				t.Errorf("%d questions", len(c.table.scans))
			}
		})
	}
}

func descending(from, to int64) (ids []int64) {
	for ; from >= to; from-- {
		ids = append(ids, from)
	}
	return ids
}

// A question that the server gives up is put again for less, until it is answered.
func TestJobsLooksAtLessWhereTheServerGivesUp(t *testing.T) {
	t.Parallel()
	table := &jobsTable{newest: 20_000, pass: []int64{3}, hinder: func(_ context.Context, s queue.Stretch) error {
		if s.Look > 4000 {
			return fmt.Errorf("scan jobs: %w", timeout{})
		}
		return nil
	}}
	ids, _, err := jobsPrinted(t.Context(), t, table, queue.Filter{}, Part{Limit: 100})
	if err != nil || !slices.Equal(ids, table.pass) {
		t.Errorf("printed %v, %v", ids, err)
	}
	if given := slices.IndexFunc(table.scans, func(s queue.Stretch) bool { return s.Look <= 4000 }); given < 1 ||
		slices.ContainsFunc(table.scans[given:], func(s queue.Stretch) bool { return s.Look > 4000 }) {
		t.Errorf("questions %+v", table.scans)
	}

	hopeless := &jobsTable{newest: 20_000, hinder: func(context.Context, queue.Stretch) error { return timeout{} }}
	if _, _, err := jobsPrinted(t.Context(), t, hopeless, queue.Filter{}, Part{Limit: 100}); !errors.Is(err, timeout{}) {
		t.Errorf("error %v", err)
	}
	if last := hopeless.scans[len(hopeless.scans)-1]; last.Look != lookLeast {
		t.Errorf("gave up at %d jobs", last.Look)
	}
}

// Where a question takes long the next looks at less, and at more again where it does not.
func TestJobsLooksAtLessWhereItTakesLong(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		slow := 4
		table := &jobsTable{newest: 5 * lookMost, hinder: func(context.Context, queue.Stretch) error {
			if slow--; slow >= 0 {
				time.Sleep(2 * lookFor)
			}
			return nil
		}}
		if _, _, err := jobsPrinted(t.Context(), t, table, queue.Filter{}, Part{Limit: 100}); err != nil {
			t.Fatal(err)
		}
		var looks []int
		for _, s := range table.scans[:9] {
			looks = append(looks, lookMost/s.Look)
		}
		if !slices.Equal(looks, []int{1, 2, 4, 8, 16, 8, 4, 2, 1}) {
			t.Errorf("questions look at a 1/%v", looks)
		}
	})
}

// On a terminal it is said how far a long reading is, first after a second, and wiped
// before anything else is printed.
func TestJobsSaysHowFarItIs(t *testing.T) {
	t.Parallel()
	for format, result := range map[Format]string{Table: `ID.*\n +3 .*\n`, JSON: `\{"id":3,.*\}\n`} {
		t.Run(string(format), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				table := &jobsTable{newest: 25 * lookMost, pass: []int64{3}, hinder: func(context.Context, queue.Stretch) error {
					time.Sleep(lookFor / 2)
					return nil
				}}
				var terminal bytes.Buffer
				p := Printer{Out: &terminal, Err: &terminal, Format: format, Progress: &terminal}
				if err := Jobs(t.Context(), p, table, queue.Filter{}, Part{Limit: 100}); err != nil {
					t.Fatal(err)
				}
				first := fmt.Sprintf("\r\x1b[Kfound 0, looked at 550,000 jobs down to id %d\r", 14*lookMost+1)
				if !strings.HasPrefix(terminal.String(), first) {
					t.Errorf("said %q", terminal.String())
				}
				last := `\r\x1b\[Kfound 0, looked at 1,200,000 jobs down to id 50001\r\x1b\[K` + result + `$`
				if !regexp.MustCompile(last).MatchString(terminal.String()) {
					t.Errorf("said %q", terminal.String())
				}
			})
		})
	}
}

// Called off, it has printed what it found, and says with what it goes on.
func TestJobsCalledOffPrintsWhatItFound(t *testing.T) {
	t.Parallel()
	for format, want := range map[Format]string{Table: `\n449999 .*completed`, JSON: `^\{"id":449999,.*\}\n$`} {
		ctx, stop := context.WithCancel(t.Context())
		table := &jobsTable{newest: 9 * lookMost, pass: []int64{9*lookMost - 1, 3}}
		table.hinder = func(ctx context.Context, _ queue.Stretch) error {
			if len(table.scans) == 4 {
				stop()
			}
			if ctx.Err() != nil { // the server, too, says that it was cancelled
				return errors.Join(ctx.Err(), timeout{})
			}
			return nil
		}
		var out bytes.Buffer
		err := Jobs(ctx, Printer{Out: &out, Err: &out, Format: format}, table, queue.Filter{}, Part{Limit: 100})
		if !errors.Is(err, context.Canceled) || !strings.HasSuffix(err.Error(), "(read down to job 300001: --before 300001 goes on there)") {
			t.Errorf("error %v", err)
		}
		if !regexp.MustCompile(want).MatchString(out.String()) || len(table.scans) != 4 {
			t.Errorf("printed %q after %d questions", out.String(), len(table.scans))
		}
	}
}

func TestJobsThatCannotBeReadPrintNothing(t *testing.T) {
	t.Parallel()
	refused := errors.New("permission denied")
	table := &jobsTable{newest: 9, hinder: func(context.Context, queue.Stretch) error { return refused }}
	var out bytes.Buffer
	if err := Jobs(t.Context(), Printer{Out: &out, Err: &out}, table, queue.Filter{}, Part{Limit: 1}); err != refused || out.Len() > 0 {
		t.Errorf("printed %q, %v", out.String(), err)
	}
}

// Dead letters of both kinds are listed by their deaths, which is not the order of the ids.
func TestJobsListsDeadLettersByTheirDeaths(t *testing.T) {
	t.Parallel()
	table := &jobsTable{pass: []int64{4, 9, 2, 7}, died: map[int64]time.Time{4: noon.Add(4), 9: noon.Add(3), 2: noon.Add(2), 7: noon.Add(1)}}
	both := queue.Filter{Statuses: []queue.Status{queue.Dead, queue.Failed}}
	for _, c := range []struct {
		part   Part
		ids    []int64
		remark string
	}{
		{Part{Limit: 4}, []int64{4, 9, 2, 7}, ""},
		{Part{Limit: 2}, []int64{4, 9}, "leasetop: 2 shown, more with --limit or --before 9\n"},
		{Part{Limit: 1, Before: 9}, []int64{2}, "leasetop: 1 shown, more with --limit or --before 2\n"},
		{Part{Limit: 2, Before: 9}, []int64{2, 7}, ""},
	} {
		if ids, remark, err := jobsPrinted(t.Context(), t, table, both, c.part); err != nil || !slices.Equal(ids, c.ids) || remark != c.remark {
			t.Errorf("%+v: printed %v, %q, %v", c.part, ids, remark, err)
		}
	}
	if _, _, err := jobsPrinted(t.Context(), t, table, both, Part{Limit: 1, Before: 5}); err == nil || !strings.Contains(err.Error(), "job 5 is no dead letter") {
		t.Errorf("error %v", err)
	}
	if len(table.scans) > 0 {
		t.Errorf("scans %v", table.scans)
	}
	if byDeath(queue.Filter{}) || byDeath(queue.Filter{Statuses: []queue.Status{queue.Dead}}) || byDeath(queue.Filter{Statuses: queue.Statuses}) {
		t.Error("others are listed by their deaths")
	}
}
