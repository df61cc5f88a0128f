// Package draw makes a picture of a terminal screen: text in fonts of its own,
// lines and blocks as geometry, colours as the cells say, and a window around.
// The same screen gives the same pixels on every machine.
package draw

import (
	"image"
	"image/color"

	uv "github.com/charmbracelet/ultraviolet"

	"github.com/leasetop/leasetop/ui/term"
)

// Screen draws the cells of the frame edge to edge, with nothing around.
func Screen(f *term.Frame) (image.Image, error) {
	faces, err := newTypefaces(still)
	if err != nil {
		return nil, err
	}
	c := newCanvas(still, f.Width*still.cellWidth, f.Height*still.cellHeight)
	screen(c, image.Point{}, faces, f)
	return c.RGBA, nil
}

// screen draws the frame's cells with their top left corner at.
func screen(c canvas, at image.Point, faces typefaces, f *term.Frame) {
	for y := range f.Height {
		for x := 0; x < f.Width; {
			cell := f.Cell(x, y)
			w := max(cell.Width, 1)
			where := image.Rect(x*c.cellWidth, y*c.cellHeight, (x+w)*c.cellWidth, (y+1)*c.cellHeight).Add(at)
			ink, paper := colours(cell, f)
			if f.Cursor != nil && f.Cursor.X == x && f.Cursor.Y == y {
				ink, paper = paper, ink
			}
			c.fill(where, paper)
			face := faces.regular
			if cell.Style.Attrs&uv.AttrBold != 0 {
				face = faces.bold
			}
			character(c, where, face, cell.Content, ink, paper)
			strokes(c, where, cell, ink, f)
			x += w
		}
	}
}

// character draws what stands in a cell.
func character(c canvas, cell image.Rectangle, face typeface, content string, ink, paper color.RGBA) {
	if content == "" || content == " " {
		return
	}
	if r := []rune(content); len(r) == 1 && geometry(c, cell, r[0], ink, paper) {
		return
	}
	if !face.glyph(c, cell, content, ink) {
		missing(c, cell, mix(paper, ink, .4))
	}
}

// missing draws an empty frame for a character that no font of ours has.
func missing(c canvas, cell image.Rectangle, ink color.Color) {
	box := cell.Inset(c.of(3))
	box.Min.Y, box.Max.Y = cell.Min.Y+c.of(8), cell.Max.Y-c.of(8)
	for _, side := range []image.Rectangle{
		{box.Min, image.Pt(box.Max.X, box.Min.Y+c.line)},
		{image.Pt(box.Min.X, box.Max.Y-c.line), box.Max},
		{box.Min, image.Pt(box.Min.X+c.line, box.Max.Y)},
		{image.Pt(box.Max.X-c.line, box.Min.Y), box.Max},
	} {
		c.fill(side, ink)
	}
}

// strokes draws the lines under and through a cell.
func strokes(c canvas, cell image.Rectangle, s *uv.Cell, ink color.RGBA, f *term.Frame) {
	across := func(y int, ink color.RGBA) {
		c.fill(image.Rect(cell.Min.X, cell.Min.Y+y, cell.Max.X, cell.Min.Y+y+c.line), ink)
	}
	if s.Style.Underline != uv.UnderlineNone {
		under := ink
		if s.Style.UnderlineColor != nil {
			under = resolve(s.Style.UnderlineColor, f.Foreground)
		}
		across(c.baseline+c.of(3), under)
		if s.Style.Underline == uv.UnderlineDouble {
			across(c.baseline+c.of(3)+2*c.line, under)
		}
	}
	if s.Style.Attrs&uv.AttrStrikethrough != 0 {
		across(c.baseline-c.of(9), ink)
	}
}
