package draw

import (
	"image"
	"image/color"

	"github.com/leasetop/leasetop/ui/term"
)

const (
	margin = 24 // pixels between the window's edge and the text
	bar    = 60 // height of the title bar
	corner = 20 // radius
	edge   = 2  // width of the window's outline
)

// lights are the three buttons of the title bar.
var lights = []color.RGBA{{0xff, 0x5f, 0x57, 0xff}, {0xfe, 0xbc, 0x2e, 0xff}, {0x28, 0xc8, 0x40, 0xff}}

// Window draws the frame in a window with a title bar. What is outside its
// round corners is transparent.
func Window(f *term.Frame) (image.Image, error) {
	faces, err := newTypefaces()
	if err != nil {
		return nil, err
	}
	c := newCanvas(f.Width*cellWidth+2*margin, bar+f.Height*cellHeight+margin)
	ink, paper := resolve(f.Foreground, color.White), resolve(f.Background, color.Black)
	c.rounded(c.Bounds(), corner, mix(paper, ink, .22))
	c.rounded(c.Bounds().Inset(edge), corner-edge, paper)
	for i, light := range lights {
		const size = 18
		at := image.Pt(margin+i*30, (bar-size)/2)
		c.rounded(image.Rectangle{at, at.Add(image.Pt(size, size))}, size/2, light)
	}
	title(c, faces.regular, f.Title, mix(paper, ink, .55))
	screen(c, image.Pt(margin, bar), faces, f)
	return c.RGBA, nil
}

// title writes the window title in the middle of the bar.
func title(c canvas, face typeface, text string, ink color.Color) {
	letters := []rune(text)
	at := image.Pt((c.Bounds().Dx()-len(letters)*cellWidth)/2, (bar-cellHeight)/2)
	for _, r := range letters {
		face.glyph(c, image.Rect(0, 0, cellWidth, cellHeight).Add(at), string(r), ink)
		at.X += cellWidth
	}
}
