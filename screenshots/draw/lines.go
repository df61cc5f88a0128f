package draw

import (
	"image"
	"image/color"
	"math"
)

// Lines, blocks and dots are drawn as geometry: a font's own would leave gaps
// between cells, since its line height is not ours.

// weight is how a box-drawing character leaves its cell on one side.
type weight uint8

const (
	none weight = iota
	light
	heavy
	double
)

// arms are the lines from the middle of the cell: left, right, up, down.
type arms [4]weight

var boxes = map[rune]arms{
	'─': {light, light, none, none}, '│': {none, none, light, light},
	'┌': {none, light, none, light}, '┐': {light, none, none, light},
	'└': {none, light, light, none}, '┘': {light, none, light, none},
	'├': {none, light, light, light}, '┤': {light, none, light, light},
	'┬': {light, light, none, light}, '┴': {light, light, light, none},
	'┼': {light, light, light, light},
	'╴': {light, none, none, none}, '╶': {none, light, none, none},
	'╵': {none, none, light, none}, '╷': {none, none, none, light},

	'━': {heavy, heavy, none, none}, '┃': {none, none, heavy, heavy},
	'┏': {none, heavy, none, heavy}, '┓': {heavy, none, none, heavy},
	'┗': {none, heavy, heavy, none}, '┛': {heavy, none, heavy, none},
	'┣': {none, heavy, heavy, heavy}, '┫': {heavy, none, heavy, heavy},
	'┳': {heavy, heavy, none, heavy}, '┻': {heavy, heavy, heavy, none},
	'╋': {heavy, heavy, heavy, heavy},
	'╸': {heavy, none, none, none}, '╺': {none, heavy, none, none},
	'╹': {none, none, heavy, none}, '╻': {none, none, none, heavy},

	'═': {double, double, none, none}, '║': {none, none, double, double},
	'╔': {none, double, none, double}, '╗': {double, none, none, double},
	'╚': {none, double, double, none}, '╝': {double, none, double, none},
}

// geometry draws a character that is made of lines or areas, and reports
// whether r is one. ink goes over paper, which is there already.
func geometry(c canvas, cell image.Rectangle, r rune, ink, paper color.RGBA) bool {
	switch {
	case boxes[r] != arms{}:
		box(c, cell, boxes[r], ink)
	case '╭' <= r && r <= '╰':
		arc(c, cell, r, ink)
	case '▀' <= r && r <= '▟':
		block(c, cell, r, ink, paper)
	case '⠀' <= r && r <= '⣿':
		braille(c, cell, r, ink)
	default:
		return false
	}
	return true
}

func box(c canvas, cell image.Rectangle, a arms, ink color.Color) {
	w, h, line := cell.Dx(), cell.Dy(), c.line
	cx, cy := (w-line)/2, (h-line)/2
	fill := func(x0, y0, x1, y1 int) { c.fill(image.Rect(x0, y0, x1, y1).Add(cell.Min), ink) }
	if a[0] == double || a[1] == double || a[2] == double || a[3] == double {
		doubled(a, cx, cy, w, h, line, fill)
		return
	}
	// A heavy line is half as thick again on both sides.
	extra := func(k weight) int {
		if k == heavy {
			return max(line/2, 1)
		}
		return 0
	}
	// Arms reach across the middle, as far as the thickest line there.
	across := line + max(extra(a[0]), extra(a[1]), extra(a[2]), extra(a[3]))
	if e := extra(a[0]); a[0] != none {
		fill(0, cy-e, cx+across, cy+line+e)
	}
	if e := extra(a[1]); a[1] != none {
		fill(cx+line-across, cy-e, w, cy+line+e)
	}
	if e := extra(a[2]); a[2] != none {
		fill(cx-e, 0, cx+line+e, cy+across)
	}
	if e := extra(a[3]); a[3] != none {
		fill(cx-e, cy+line-across, cx+line+e, h)
	}
}

// doubled draws the straight lines and corners of double boxes.
func doubled(a arms, cx, cy, w, h, line int, fill func(x0, y0, x1, y1 int)) {
	gap := line + 1 // from the middle to either line
	left, right, top, bottom := cx-gap, cx+gap, cy-gap, cy+gap
	switch {
	case a[0] != none && a[1] != none:
		fill(0, top, w, top+line)
		fill(0, bottom, w, bottom+line)
		return
	case a[2] != none && a[3] != none:
		fill(left, 0, left+line, h)
		fill(right, 0, right+line, h)
		return
	}
	// A corner: the outer pair of lines meet, and the inner pair do.
	for _, outer := range []bool{true, false} {
		x, y := right, bottom
		if (a[1] != none) == outer {
			x = left
		}
		if (a[3] != none) == outer {
			y = top
		}
		if a[0] != none {
			fill(0, y, x+line, y+line)
		} else {
			fill(x, y, w, y+line)
		}
		if a[2] != none {
			fill(x, 0, x+line, y+line)
		} else {
			fill(x, y, x+line, h)
		}
	}
}

// arc draws the rounded corner ╭ ╮ ╯ ╰: a quarter circle between two edges,
// and a straight piece where the cell is higher than the circle.
func arc(c canvas, cell image.Rectangle, r rune, ink color.Color) {
	half := float64(c.line) / 2
	mx, my := float64((cell.Dx()-c.line)/2)+half, float64((cell.Dy()-c.line)/2)+half
	sx, sy := 1., 1. // which way the arms go from the middle
	if r == '╮' || r == '╯' {
		sx = -1
	}
	if r == '╯' || r == '╰' {
		sy = -1
	}
	radius := math.Min(mx, my)
	c.shape(cell, ink, func(x, y float64) bool {
		// From the circle's centre, towards the arms.
		dx, dy := (x-mx)*sx-radius, (y-my)*sy-radius
		switch {
		case dx > 0 && dy > 0:
			return false
		case dx > 0:
			return math.Abs(y-my) <= half
		case dy > 0:
			return math.Abs(x-mx) <= half
		}
		return math.Abs(math.Hypot(dx, dy)-radius) <= half
	})
}

// block draws the halves, eighths, shades and quadrants U+2580–U+259F.
func block(c canvas, cell image.Rectangle, r rune, ink, paper color.RGBA) {
	w, h := cell.Dx(), cell.Dy()
	part := func(whole, eighths int) int { return (whole*eighths + 4) / 8 }
	fill := func(x0, y0, x1, y1 int) { c.fill(image.Rect(x0, y0, x1, y1).Add(cell.Min), ink) }
	switch {
	case r == '▀':
		fill(0, 0, w, h/2)
	case r <= '█': // ▁ is one eighth, █ is eight
		fill(0, h-part(h, int(r-'▀')), w, h)
	case r <= '▏': // ▉ is seven eighths, ▏ is one
		fill(0, 0, part(w, int('▐'-r)), h)
	case r == '▐':
		fill(w/2, 0, w, h)
	case r <= '▓':
		c.fill(cell, mix(paper, ink, float64(r-'░'+1)/4))
	case r == '▔':
		fill(0, 0, w, part(h, 1))
	case r == '▕':
		fill(w-part(w, 1), 0, w, h)
	default:
		// Which quarters ▖▗▘▙▚▛▜▝▞▟ fill: 1 top left, 2 top right, 4 and 8 below.
		quarters := [...]int{4, 8, 1, 13, 9, 7, 11, 2, 6, 14}[r-'▖']
		for i, at := range []image.Rectangle{
			image.Rect(0, 0, w/2, h/2), image.Rect(w/2, 0, w, h/2),
			image.Rect(0, h/2, w/2, h), image.Rect(w/2, h/2, w, h),
		} {
			if quarters>>i&1 == 1 {
				c.fill(at.Add(cell.Min), ink)
			}
		}
	}
}

// braille draws the dots of U+2800–U+28FF, two columns of four.
func braille(c canvas, cell image.Rectangle, r rune, ink color.Color) {
	w, h := float64(cell.Dx()), float64(cell.Dy())
	// Bit by bit: the column and row of its dot.
	dots := [8][2]float64{{0, 0}, {0, 1}, {0, 2}, {1, 0}, {1, 1}, {1, 2}, {0, 3}, {1, 3}}
	c.shape(cell, ink, func(x, y float64) bool {
		for i, d := range dots {
			if (r-'⠀')>>i&1 == 1 && math.Hypot(x-w*(d[0]+.5)/2, y-h*(d[1]+.5)/4) <= w/6 {
				return true
			}
		}
		return false
	})
}
