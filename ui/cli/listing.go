package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"time"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/ui/safe"
)

// listPage is how many rows are asked for at a time; fewer with payloads, which may be large.
const (
	listPage         = 1000
	listPagePayloads = 50
)

// longWait is how long nothing is said of how far the reading is.
const longWait = time.Second

// Part says which jobs of a list are printed.
type Part struct {
	Limit    int   // so many at most
	Before   int64 // those that come after the job of this id; 0 is from the first of the list
	Payloads bool
	Reveal   bool // and the secrets in what is printed for people; the operator log is told first
}

// listing is a list of jobs, read page by page.
type listing struct {
	columns []column
	log     operatorLog
	of      string                 // what chose the jobs, for the operator log
	nothing func() (string, error) // what to say when there are none; may be nil
	// next returns those after the page before, so many at most, and how far the list is
	// read then. They may be none, and yet not the last.
	next func(ctx context.Context, most int) ([]listed, reached, error)
	// payloads returns those of some jobs, in their order, whole or so many characters of each.
	payloads func(ctx context.Context, most int, ids ...int64) iter.Seq2[queue.Payload, error]
}

// cellMost is how many characters of a payload a cell is made of, which shows far fewer.
const cellMost = 16 << 10

// listed is one job of a list, for JSON and for a table.
type listed struct {
	job     job
	cells   []string
	payload json.RawMessage // nil where none is asked for
}

// reached says how far a list was read.
type reached struct {
	id     int64 // what was not read comes after this job; 0 when nothing was read
	looked int   // at so many jobs, listed or not; 0 when an index alone led to those listed
	more   bool  // there may be jobs beyond
	sure   bool  // there are
}

// print prints a part of the list: as JSON each job is one object a line, as soon as it is
// found. When it fails or is called off half-way it prints what was found before.
func (l *listing) print(ctx context.Context, p Printer, part Part) error {
	if !part.Reveal || p.Format == JSON {
		_, err := l.printed(ctx, p, part, &veil{})
		return err
	}
	act := queue.Act{By: Operator(), What: "reveal", Filter: l.of, Reason: fmt.Sprintf("a list of up to %d with payloads", part.Limit)}
	return l.log.Logged(ctx, act, func(ctx context.Context) (int, int, error) {
		shown, err := l.printed(ctx, p, part, &veil{off: true})
		return shown, 0, err
	})
}

// printed prints through a veil, and returns how many.
func (l *listing) printed(ctx context.Context, p Printer, part Part, v *veil) (shown int, err error) {
	columns := l.columns
	if part.Payloads {
		columns = append(columns, column{title: "PAYLOAD", most: 120, holds: payloads})
	}
	out := bufio.NewWriter(p.Out)
	var rows [][]string
	far, failed := l.read(ctx, p, part, func(j *listed) error {
		shown++
		switch {
		case p.Format == JSON:
			return printJob(out, &j.job, j.payload)
		case part.Payloads:
			rows = append(rows, append(j.cells, string(j.payload)))
		default:
			rows = append(rows, j.cells)
		}
		return nil
	}, out.Flush)
	if failed != nil && far.id != 0 {
		failed = fmt.Errorf("%w (read down to job %d: --before %[2]d goes on there)", failed, far.id)
	}
	if p.Format != JSON && (failed == nil || shown > 0) {
		if err := errors.Join(v.table(out, columns, rows), out.Flush()); err != nil {
			return shown, errors.Join(failed, err)
		}
	}
	if failed == nil && far.more {
		more := "perhaps more"
		if far.sure {
			more = "more"
		}
		fmt.Fprintf(p.Err, "leasetop: %d shown, %s with --limit or --before %d\n", shown, more, far.id)
	}
	if failed == nil && shown == 0 && l.nothing != nil && part.Before == 0 {
		text, err := l.nothing()
		if text != "" {
			fmt.Fprintln(p.Err, "leasetop: "+safe.Text(text))
		}
		failed = err
	}
	if v.masked > 0 && part.Payloads {
		fmt.Fprintln(p.Err, "leasetop: secrets are masked: --reveal prints them, and the operator log tells who did")
	}
	return shown, failed
}

// read reads a part of the list and hands on each job, and says after each page that it was
// one. It asks for one job more than the part may have, to know whether there is one, but goes
// no further for that than one question.
func (l *listing) read(ctx context.Context, p Printer, part Part, put func(*listed) error, paged func() error) (far reached, err error) {
	most := listPage
	if part.Payloads {
		most = listPagePayloads
	}
	began, said := time.Now(), false
	wipe := func() {
		if said {
			p.endProgress()
		}
		said = false
	}
	defer wipe()
	for left, done := part.Limit, false; !done; {
		page, at, err := l.next(ctx, min(left+1, most))
		if err != nil {
			return far, err
		}
		done = left == 0 || !at.more
		if len(page) > left {
			page, done = page[:left], true
			at = reached{id: far.id, looked: at.looked, more: true, sure: true}
			if left > 0 {
				at.id = page[left-1].job.ID
			}
		}
		if len(page) > 0 {
			wipe()
			for j, err := range l.withPayloads(ctx, p, part, page) {
				if err == nil {
					err = put(j)
				}
				if err != nil {
					return far, errors.Join(err, paged())
				}
				far.id = j.job.ID
			}
			if err := paged(); err != nil {
				return far, err
			}
			left -= len(page)
		}
		far = at
		if !done && time.Since(began) > longWait {
			p.progress(far.words(part.Limit - left))
			said = true
		}
	}
	return far, nil
}

// withPayloads is each job of a page, with its payload where payloads are asked for; an error
// ends it. A job that was deleted meanwhile has none.
func (l *listing) withPayloads(ctx context.Context, p Printer, part Part, page []listed) iter.Seq2[*listed, error] {
	return func(yield func(*listed, error) bool) {
		most := 0
		if p.Format != JSON {
			most = cellMost
		}
		if part.Payloads {
			for payload, err := range l.payloads(ctx, most, ids(page)...) {
				if err != nil {
					yield(nil, err)
					return
				}
				for ; page[0].job.ID != payload.ID; page = page[1:] {
					if !yield(&page[0], nil) {
						return
					}
				}
				page[0].payload = payload.JSON
				if !yield(&page[0], nil) {
					return
				}
				page[0].payload, page = nil, page[1:] // a large one is not kept
			}
		}
		for i := range page {
			if !yield(&page[i], nil) {
				return
			}
		}
	}
}

// words say how far it is.
func (r *reached) words(found int) string {
	if r.looked == 0 {
		return "found " + thousands(found)
	}
	return fmt.Sprintf("found %s, looked at %s jobs down to id %d", thousands(found), thousands(r.looked), r.id)
}

func ids(page []listed) []int64 {
	out := make([]int64, len(page))
	for i := range page {
		out[i] = page[i].job.ID
	}
	return out
}

// printJob writes a job as one line. The payload, nil for none, is put in as PostgreSQL
// printed it: a number that no Go type holds stays as it is, however deep it is nested.
func printJob(w io.Writer, j *job, payload json.RawMessage) error {
	var b bytes.Buffer
	if err := line(&b, j); err != nil {
		return err
	}
	text := bytes.TrimSuffix(b.Bytes(), []byte("}\n"))
	for _, part := range [][]byte{text, []byte(`,"payload":`), payload, []byte("}\n")} {
		if payload == nil && len(part) > 0 && part[0] == ',' {
			continue
		}
		if _, err := w.Write(part); err != nil {
			return err
		}
	}
	return nil
}
