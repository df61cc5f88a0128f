package ui

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/leasetop/leasetop/ui/safe"
)

// A heading whose second part is too long shows both its ends, in every width; a job's page shows the whole name.
func TestHeadingThatIsTooLongIsCutInTheMiddle(t *testing.T) {
	t.Parallel()
	name := "begin-" + strings.Repeat("x", 94) + "-end"
	for w := 40; w <= 120; w++ {
		for _, note := range []string{"", "3 secrets masked · X reveals"} {
			line := ansi.Strip(newTheme(true, true).edge(heading{name: "JOB 146", rest: name, note: note, must: note[:min(len(note), 9)]}, "╭╮", w, false))
			if safe.Width(line) != w || !strings.Contains(line, "JOB 146 beg") || !strings.Contains(line, "nd ") {
				t.Errorf("%d cells: %s", w, line)
			}
		}
	}
	job := sampleJob(88007)
	job.Queue, job.Kind = name, ""
	s := atJob(t, newWorld(), job, 120, 36)
	s.sees("JOB 88007 begin-", "queue ", name[:60])
	if text := s.screen().Text(); strings.Count(text, "-end") < 2 {
		t.Errorf("the whole name is nowhere on\n%s", text)
	}
}
