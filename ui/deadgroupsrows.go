package ui

import (
	"strings"
	"time"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/ui/safe"
)

var groupColumns = []column{
	{title: "COUNT", min: 5, max: 5, right: true},
	{title: "FIRST", min: 6, right: true, rank: 4},
	{title: "LAST", min: 6, right: true, rank: 2},
	{title: "DIED", min: 10, max: 10, rank: 3},
	{title: "KIND", min: 8, max: 8, rank: 1},
	{title: "ERROR", min: 30, max: 400, grows: true},
}

const (
	barsColumn = 3
	barsWidth  = 76 // the narrowest list that has room for them
)

// rows draws the groups in a window of h lines. marked tells which of them are.
func (g *deadGroups) rows(w, h int, marked func(i int, key groupKey) bool) []string {
	t := g.pic.theme
	from, to := g.list.Window(max(h-1, 1))
	groups := g.found.Groups[from:to]
	columns := append([]column(nil), groupColumns...)
	each := func(text func(*queue.DeadGroup) string) func(func(string) bool) {
		return func(yield func(string) bool) {
			for i := range groups {
				if !yield(text(&groups[i])) {
					return
				}
			}
		}
	}
	columns[0].max = 1 + widest(5, 9, each(func(one *queue.DeadGroup) string { return thousands(one.Count) }))
	columns[0].min = columns[0].max
	bars := 0
	if len(groups) > 0 {
		bars = len(groups[0].Bars)
	}
	g.measure(bars, pick(w < wideWidth, 12, 40))
	columns[barsColumn].out = bars == 0
	columns[barsColumn].min = max((bars+g.joined-1)/g.joined, len("DIED"))
	columns[barsColumn].max = columns[barsColumn].min
	columns[4].max = widest(8, max(min(24, w/4), 8), each(func(one *queue.DeadGroup) string { return kindOf(one.Queue, one.Kind) }))
	if w >= barsWidth {
		columns[4].min = min(columns[4].max, 16)
	}
	grid := arrange(columns, w-3) // beside the cursor and the marks
	if grid.widths[barsColumn] == 0 {
		g.since = time.Time{} // nobody sees them
	}
	lines := []string{"  " + grid.header(t.dim)}
	for i := from; i < to; i++ {
		row := grid.row(g.cells(&g.found.Groups[i]))
		lines = append(lines, t.lineOf(" "+row, w, i == g.list.at, marked(i, g.list.keys[i])))
	}
	return lines
}

// measure notes how many of the bars that were counted are drawn as one, for all to have
// room, and where the first begins.
func (g *deadGroups) measure(bars, most int) {
	g.joined, g.since = max((bars+most-1)/most, 1), time.Time{}
	if len(g.found.Begins) > 0 {
		g.since = g.found.Begins[0]
	}
}

func (g *deadGroups) cells(one *queue.DeadGroup) []cell {
	t, now := g.pic.theme, g.pic.now
	samples := make([]float64, (len(one.Bars)+g.joined-1)/g.joined)
	for i, n := range one.Bars { // the newest bar is whole
		samples[len(samples)-1-(len(one.Bars)-1-i)/g.joined] += float64(n)
	}
	says := cell{text: briefly(one.Fingerprint), ink: t.text}
	switch {
	case one.Fingerprint == "" && one.Error != "": // it begins with blank lines
		says.text = briefly(one.Error)
	case one.Fingerprint == "":
		says = cell{text: "died without an error", ink: t.dim}
	}
	return []cell{
		{text: count(one.Count, false, 9), ink: t.strong},
		{text: age(now.Sub(one.First)), ink: t.dim},
		{text: age(now.Sub(one.Last)), ink: t.dim},
		{paint: func(w int) string { return spark(samples, w, t.bad, t.faint) }},
		t.whereCell(one.Queue, one.Kind),
		says,
	}
}

// words is how old the groups are.
func (g *deadGroups) words() (words []string, stale bool) {
	if !g.read {
		return nil, false
	}
	old := g.pic.local.Sub(g.heard)
	late := g.signal != g.pic.state.Dead.Signal && old > max(staleAfter, 2*groupsRest*g.took) || g.err != nil
	words = append(words, pick(late, "stale: "+age(old)+" old", "read "+age(old)+" ago"))
	return words, late
}

// legend is what the bars are about; "" when there are none. Their time is logarithmic:
// the last minutes and a death weeks ago both have room.
func (g *deadGroups) legend() string {
	if g.since.IsZero() {
		return ""
	}
	return "died: " + age(g.pic.now.Sub(g.since)) + " ago ← log → now"
}

// sample is the newest error of the group under the cursor, whole, as far as there is room.
func (g *deadGroups) sample(w, most int) (lines []string) {
	one, ok := g.Group()
	if !ok || most <= 0 {
		return nil
	}
	t := g.pic.theme
	says := briefly(one.Error)
	front := "newest #" + itoa(one.Sample) + "  "
	if says == "" {
		says = "no error was noted"
	}
	text := bound(wrap(says, max(w-len(front)-3, 10)), most, max(w-len(front)-3, 10))
	for i, line := range text {
		lines = append(lines, "   "+pick(i == 0, t.dim.draw(front), strings.Repeat(" ", len(front)))+t.text.draw(line))
	}
	for i := range lines {
		lines[i] = safe.FitStyled(lines[i], w)
	}
	return lines
}
