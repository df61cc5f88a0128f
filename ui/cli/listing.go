package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
)

// listPage is how many rows are asked for at a time; fewer with payloads, which may be large.
const (
	listPage         = 1000
	listPagePayloads = 50
)

// listing is a list of jobs, read page by page.
type listing struct {
	columns []column
	// next returns the page after those before, of so many at most; the last has fewer.
	next func(ctx context.Context, most int) ([]listed, error)
	// payloads returns those of some jobs. nil leaves them out.
	payloads func(ctx context.Context, ids ...int64) (map[int64]json.RawMessage, error)
}

// listed is one job of a list, for JSON and for a table.
type listed struct {
	job   job
	cells []string
}

// print prints up to limit jobs: as JSON each is one object a line.
func (l *listing) print(ctx context.Context, p Printer, limit int) error {
	most, columns := listPage, l.columns
	if l.payloads != nil {
		most, columns = listPagePayloads, append(columns, column{title: "PAYLOAD", most: 120})
	}
	out := bufio.NewWriter(p.Out)
	var rows [][]string
	for limit > 0 {
		wanted := min(limit, most)
		page, err := l.next(ctx, wanted)
		if err != nil {
			return errors.Join(err, out.Flush())
		}
		var bodies map[int64]json.RawMessage
		if l.payloads != nil {
			if bodies, err = l.payloads(ctx, ids(page)...); err != nil {
				return errors.Join(err, out.Flush())
			}
		}
		for _, j := range page {
			switch body := bodies[j.job.ID]; {
			case p.Format == JSON:
				if err := printJob(out, &j.job, body); err != nil {
					return err
				}
			case l.payloads != nil:
				rows = append(rows, append(j.cells, string(body)))
			default:
				rows = append(rows, j.cells)
			}
		}
		if len(page) < wanted {
			break
		}
		limit -= len(page)
	}
	if p.Format == JSON {
		return out.Flush()
	}
	return errors.Join(table(out, columns, rows), out.Flush())
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
