package draw

import (
	"cmp"
	"image"
	"image/color"
	"maps"
	"slices"

	"github.com/leasetop/leasetop/ui/term"
)

// A GIF has 256 colours for all its pictures; the first of ours is the
// transparent one.
const most = 256

// inks are the colours of an animation, and which of them stands for a
// colour that was drawn.
type inks struct {
	colours color.Palette
	nearest map[color.RGBA]uint8
}

// pair is an ink and the paper that it is drawn on. Where a letter's edge
// crosses a pixel, both are mixed.
type pair struct{ ink, paper color.RGBA }

// newInks makes the palette of what the moments are drawn with: each ink,
// each paper, and between them as many steps as there is room for. Screens in
// the same colours so have the same palette, whatever is written on them.
func newInks(moments []Moment) inks {
	pairs := map[pair]bool{}
	for _, m := range moments {
		collect(pairs, m.Frame)
	}
	for steps := 8; ; steps /= 2 {
		mixed := map[color.RGBA]bool{}
		for p := range pairs {
			for i := range steps + 1 {
				mixed[mix(p.paper, p.ink, float64(i)/float64(steps))] = true
			}
		}
		if len(mixed) >= most && steps > 1 {
			continue
		}
		k := inks{colours: color.Palette{color.RGBA{}}, nearest: map[color.RGBA]uint8{}}
		for _, c := range slices.SortedFunc(maps.Keys(mixed), darker) {
			if len(k.colours) < most {
				k.colours = append(k.colours, c)
			}
		}
		return k
	}
}

// collect adds the pairs of a frame in its window.
func collect(pairs map[pair]bool, f *term.Frame) {
	ink, paper := resolve(f.Foreground, color.White), resolve(f.Background, color.Black)
	pairs[pair{mix(paper, ink, .22), paper}] = true // the outline
	pairs[pair{mix(paper, ink, .55), paper}] = true // the title
	for _, light := range lights {
		pairs[pair{light, paper}] = true
	}
	for y := range f.Height {
		for x := range f.Width {
			cell := f.Cell(x, y)
			ink, paper := colours(cell, f)
			if f.Cursor != nil && f.Cursor.X == x && f.Cursor.Y == y {
				ink, paper = paper, ink
			}
			if (cell.Content == "" || cell.Content == " ") && cell.Style.Underline == 0 {
				ink = paper
			}
			pairs[pair{ink, paper}] = true
			if c := cell.Style.UnderlineColor; c != nil {
				c := resolve(c, f.Foreground)
				pairs[pair{c, paper}] = true
			}
		}
	}
}

func darker(a, b color.RGBA) int {
	return cmp.Or(cmp.Compare(a.R, b.R), cmp.Compare(a.G, b.G), cmp.Compare(a.B, b.B))
}

// picture returns the picture in the palette's colours. Pixels less than half
// covered, those outside the window's corners, are transparent.
func (k inks) picture(m *image.RGBA) *image.Paletted {
	to := image.NewPaletted(m.Rect, k.colours)
	var last color.RGBA
	var index uint8
	for i := range to.Pix {
		c := color.RGBA{m.Pix[4*i], m.Pix[4*i+1], m.Pix[4*i+2], m.Pix[4*i+3]}
		if c != last {
			last, index = c, k.index(c)
		}
		to.Pix[i] = index
	}
	return to
}

func (k inks) index(c color.RGBA) uint8 {
	if c.A < 0x80 {
		return 0
	}
	i, known := k.nearest[c]
	if !known {
		solid := color.NRGBAModel.Convert(c).(color.NRGBA)
		solid.A = 0xff
		i = uint8(1 + k.colours[1:].Index(solid))
		k.nearest[c] = i
	}
	return i
}
