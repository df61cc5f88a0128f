package cli

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"time"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/ui/safe"
)

// line writes one JSON value as one line. Letters such as < stay as they are:
// nothing here ends up in HTML. It may end up on a terminal.
func line(w io.Writer, value any) error {
	e := json.NewEncoder(harmless{w})
	e.SetEscapeHTML(false)
	return e.Encode(value)
}

// harmless escapes what would act on a terminal. A json.Encoder writes each value at once.
type harmless struct{ to io.Writer }

func (h harmless) Write(text []byte) (int, error) {
	if _, err := h.to.Write(safe.JSON(text)); err != nil {
		return 0, err
	}
	return len(text), nil
}

// column is one column of a printed table.
type column struct {
	title string
	right bool // numbers stand on the right
	least int  // cells at least, in a table whose rows are not all known
	most  int  // cells at most, 0 for no limit
	holds holds
}

// bounded is a cell cut to what the column shows, before anything measures it.
func (c *column) bounded(cell string) string {
	if c.most > 0 && len(cell) > c.most {
		return strings.TrimRight(safe.Fit(cell, c.most), " ")
	}
	return cell
}

// holds says how secrets are looked for in the cells of a column.
type holds int

const (
	freeText holds = iota
	payloads       // JSON
	names          // of queues, workers and the like, which are not looked through
)

// table prints rows under their titles, each column as wide as its widest cell.
// Cells may hold anything: what would act on a terminal is made visible, and secrets are
// masked.
func table(w io.Writer, columns []column, rows [][]string) error {
	return (&veil{}).table(w, columns, rows)
}

// table is [table] through this veil.
func (v *veil) table(w io.Writer, columns []column, rows [][]string) error {
	shown := make([][]string, len(rows))
	for i, row := range rows {
		shown[i] = v.cells(columns, row)
	}
	rows = shown
	widths := make([]int, len(columns))
	for i, c := range columns {
		widths[i] = safe.Width(c.title)
		for _, row := range rows {
			row[i] = c.bounded(row[i])
			widths[i] = max(widths[i], safe.Width(safe.Text(row[i])))
		}
	}
	var b bytes.Buffer
	put(&b, columns, widths, titles(columns))
	for _, row := range rows {
		put(&b, columns, widths, row)
	}
	_, err := w.Write(b.Bytes())
	return err
}

// put writes one row.
func put(b *bytes.Buffer, columns []column, widths []int, row []string) {
	var l strings.Builder
	for i, c := range columns {
		if i > 0 {
			l.WriteString("  ")
		}
		if c.right {
			l.WriteString(safe.FitRight(row[i], widths[i]))
		} else {
			l.WriteString(safe.Fit(row[i], widths[i]))
		}
	}
	b.WriteString(strings.TrimRight(l.String(), " "))
	b.WriteByte('\n')
}

func titles(columns []column) []string {
	titles := make([]string, len(columns))
	for i, c := range columns {
		titles[i] = c.title
	}
	return titles
}

// flowing is a table whose rows come one by one. A cell that is wider than its column
// widens it for the rows that follow.
type flowing struct {
	w       io.Writer
	columns []column
	widths  []int
	veil    veil
}

func (f *flowing) header() error { return f.row(titles(f.columns)) }

func (f *flowing) row(cells []string) error {
	cells = f.veil.cells(f.columns, cells)
	if f.widths == nil {
		f.widths = make([]int, len(f.columns))
	}
	for i, c := range f.columns {
		cells[i] = c.bounded(cells[i])
		f.widths[i] = max(f.widths[i], c.least, safe.Width(c.title), safe.Width(safe.Text(cells[i])))
	}
	var b bytes.Buffer
	put(&b, f.columns, f.widths, cells)
	_, err := f.w.Write(b.Bytes())
	return err
}

// clock prints a time for a table: UTC, to the second; an infinite one by that word.
func clock(t time.Time) string {
	if at := queue.At(t); at.Infinity != 0 {
		return at.String()
	}
	return t.UTC().Format("2006-01-02 15:04:05Z")
}

// clockOf prints a time that may be missing.
func clockOf(t *time.Time) string {
	if t == nil {
		return ""
	}
	return clock(*t)
}
