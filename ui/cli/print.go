package cli

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"time"

	"github.com/leasetop/leasetop/ui/safe"
)

// line writes one JSON value as one line. Letters such as < stay as they are:
// nothing here ends up in HTML.
func line(w io.Writer, value any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(value)
}

// column is one column of a printed table.
type column struct {
	title string
	right bool // numbers stand on the right
	most  int  // cells at most, 0 for no limit
}

// table prints rows under their titles, each column as wide as its widest cell.
// Cells may hold anything: what would act on a terminal is made visible.
func table(w io.Writer, columns []column, rows [][]string) error {
	widths := make([]int, len(columns))
	for i, c := range columns {
		widths[i] = safe.Width(c.title)
		for _, row := range rows {
			widths[i] = max(widths[i], safe.Width(safe.Text(row[i])))
		}
		if c.most > 0 {
			widths[i] = min(widths[i], c.most)
		}
	}
	var b bytes.Buffer
	put := func(row []string) {
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
	titles := make([]string, len(columns))
	for i, c := range columns {
		titles[i] = c.title
	}
	put(titles)
	for _, row := range rows {
		put(row)
	}
	_, err := w.Write(b.Bytes())
	return err
}

// clock prints a time for a table: UTC, to the second.
func clock(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05Z") }

// clockOf prints a time that may be missing.
func clockOf(t *time.Time) string {
	if t == nil {
		return ""
	}
	return clock(*t)
}
