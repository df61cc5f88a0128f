package draw

// size is how large everything is drawn, in pixels.
type size struct {
	font                  float64
	cellWidth, cellHeight int // JetBrains Mono advances 0.6 em
	baseline              int // from the top of the cell
	line                  int // thickness of a light line
	margin                int // between the window's edge and the text
	bar                   int // height of the title bar
	corner                int // radius
	edge                  int // thickness of the window's outline
}

var (
	// still is twice the size that pictures are looked at, so that they are crisp.
	still = size{font: 30, cellWidth: 18, cellHeight: 38, baseline: 29, line: 2, margin: 24, bar: 60, corner: 20, edge: 2}
	// moving is a third smaller: near the size that a page shows 120 columns in, and
	// half the file.
	moving = size{font: 20, cellWidth: 12, cellHeight: 25, baseline: 19, line: 1, margin: 16, bar: 40, corner: 13, edge: 1}
)

// of returns what a length in a still picture is in this size.
func (s size) of(length int) int { return int(float64(length)*s.font/still.font + .5) }
