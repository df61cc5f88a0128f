package draw

import (
	"image/color"

	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"

	"github.com/leasetop/leasetop/ui/term"
)

// palette is what the sixteen named colours look like; a terminal's user
// chooses them, so a picture has to.
var palette = [16]color.RGBA{
	{0x2b, 0x33, 0x41, 0xff},
	{0xff, 0x7b, 0x72, 0xff},
	{0x7b, 0xd8, 0x8f, 0xff},
	{0xf0, 0xc6, 0x74, 0xff},
	{0x6c, 0xb6, 0xff, 0xff},
	{0xc3, 0xa6, 0xff, 0xff},
	{0x6f, 0xd6, 0xd2, 0xff},
	{0xd8, 0xde, 0xe9, 0xff},
	{0x5c, 0x67, 0x79, 0xff},
	{0xff, 0x9d, 0x96, 0xff},
	{0xa2, 0xe8, 0xb0, 0xff},
	{0xff, 0xdd, 0x9c, 0xff},
	{0x9c, 0xcf, 0xff, 0xff},
	{0xd9, 0xc6, 0xff, 0xff},
	{0xa0, 0xe8, 0xe5, 0xff},
	{0xff, 0xff, 0xff, 0xff},
}

// colours returns what a cell is drawn with and on.
func colours(c *uv.Cell, f *term.Frame) (ink, paper color.RGBA) {
	ink, paper = resolve(c.Style.Fg, f.Foreground), resolve(c.Style.Bg, f.Background)
	if c.Style.Attrs&uv.AttrReverse != 0 {
		ink, paper = paper, ink
	}
	if c.Style.Attrs&uv.AttrFaint != 0 {
		ink = mix(ink, paper, .45)
	}
	if c.Style.Attrs&uv.AttrConceal != 0 {
		ink = paper
	}
	return ink, paper
}

// resolve returns the colour in pixels, or other if there is none.
func resolve(c, other color.Color) color.RGBA {
	if c == nil {
		c = other
	}
	switch named := c.(type) {
	case ansi.BasicColor:
		return palette[named&15]
	case ansi.IndexedColor:
		if named < 16 {
			return palette[named]
		}
	}
	r, g, b, _ := c.RGBA()
	return color.RGBA{uint8(r >> 8), uint8(g >> 8), uint8(b >> 8), 0xff}
}
