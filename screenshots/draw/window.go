package draw

import (
	"image"
	"image/color"

	"github.com/leasetop/leasetop/ui/term"
)

// lights are the three buttons of the title bar.
var lights = []color.RGBA{{0xff, 0x5f, 0x57, 0xff}, {0xfe, 0xbc, 0x2e, 0xff}, {0x28, 0xc8, 0x40, 0xff}}

// Window draws the frame in a window with a title bar. What is outside its
// round corners is transparent.
func Window(f *term.Frame) (image.Image, error) {
	faces, err := newTypefaces(still)
	if err != nil {
		return nil, err
	}
	return window(still, faces, f, ""), nil
}

// window draws the window with a note on the right of its title bar.
func window(s size, faces typefaces, f *term.Frame, note string) *image.RGBA {
	c := newCanvas(s, f.Width*s.cellWidth+2*s.margin, s.bar+f.Height*s.cellHeight+s.margin)
	ink, paper := resolve(f.Foreground, color.White), resolve(f.Background, color.Black)
	c.rounded(c.Bounds(), s.corner, mix(paper, ink, .22))
	c.rounded(c.Bounds().Inset(s.edge), s.corner-s.edge, paper)
	for i, light := range lights {
		across := s.of(18)
		at := image.Pt(s.margin+i*s.of(30), (s.bar-across)/2)
		c.rounded(image.Rectangle{at, at.Add(image.Pt(across, across))}, across/2, light)
	}
	width, quiet := c.Bounds().Dx(), mix(paper, ink, .55)
	title, aside := []rune(f.Title), []rune(note)
	write(c, faces.regular, (width-len(title)*s.cellWidth)/2, title, quiet)
	write(c, faces.regular, width-s.margin-len(aside)*s.cellWidth, aside, quiet)
	screen(c, image.Pt(s.margin, s.bar), faces, f)
	return c.RGBA
}

// write writes letters in the title bar from x on.
func write(c canvas, face typeface, x int, letters []rune, ink color.Color) {
	at := image.Pt(x, (c.bar-c.cellHeight)/2)
	for _, r := range letters {
		face.glyph(c, image.Rect(0, 0, c.cellWidth, c.cellHeight).Add(at), string(r), ink)
		at.X += c.cellWidth
	}
}
