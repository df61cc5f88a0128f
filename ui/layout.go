package ui

// The smallest window in which the screens make sense, and the one from which
// panes stand side by side in borders.
const (
	leastWidth, leastHeight = 60, 20
	wideWidth, wideHeight   = 96, 26
)

// pane is one part of a screen: its state, what it takes, and its drawing.
type pane interface {
	Heading() heading
	Show(p *picture)
	View(w, h int) []string // the inside, without edges
	Move(m motion)
	Focus(on bool)
}

// panes is a group of panes of which one has the focus.
type panes struct {
	all []pane
	at  int
}

// Cycle moves the focus on.
func (g *panes) Cycle(by int) {
	g.all[g.at].Focus(false)
	g.at = (g.at + by + len(g.all)) % len(g.all)
	g.all[g.at].Focus(true)
}

// Move moves the cursor of the pane that has the focus.
func (g *panes) Move(m motion) { g.all[g.at].Move(m) }

// Show hands every pane a new picture.
func (g *panes) Show(p *picture) {
	for _, one := range g.all {
		one.Show(p)
	}
}

// box draws the i-th pane in a border.
func (g *panes) box(t *theme, i, w, h int) []string {
	return t.boxed(g.all[i].Heading(), g.all[i].View(max(w-2, 0), max(h-2, 0)), w, h, i == g.at)
}

// column draws panes below each other in borders, with these heights.
func (g *panes) column(t *theme, w int, panes, heights []int) []string {
	var lines []string
	for k, i := range panes {
		lines = append(lines, g.box(t, i, w, heights[k])...)
	}
	return lines
}

// stack draws all panes below each other under rules, for small windows: each
// has at least its heading, the one with the focus has most.
func (g *panes) stack(t *theme, w, h int, wants []int) []string {
	heights := share(h, g.at, wants)
	var lines []string
	for i, one := range g.all {
		if heights[i] > 0 {
			lines = append(lines, t.ruled(one.Heading(), one.View(w, heights[i]-1), w, heights[i], i == g.at)...)
		}
	}
	return lines
}

// share divides h lines among panes: first a heading for each, then the focused
// pane gets what it wants up to half of the rest, then the others a line each in
// turn up to their wants; what nobody wants goes to the focused pane.
func share(h, focused int, wants []int) []int {
	heights := make([]int, len(wants))
	give := func(i, n int) {
		n = min(n, h)
		heights[i] += n
		h -= n
	}
	for i := range wants {
		give((focused+i)%len(wants), 1)
	}
	give(focused, min(wants[focused], (h+1)/2))
	for before := -1; h > 0 && before != h; {
		before = h
		for i, want := range wants {
			if heights[i]-1 < want {
				give(i, 1)
			}
		}
	}
	give(focused, h)
	return heights
}
