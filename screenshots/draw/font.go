package draw

import (
	"embed"
	"fmt"
	"image"
	"image/color"

	"golang.org/x/image/font"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
	"golang.org/x/text/unicode/norm"
)

// The fonts are part of the program, so that a picture is the same wherever it
// is drawn: JetBrains Mono, and DejaVu Sans Mono for symbols it lacks. Their
// licences stand beside them.
//
//go:embed fonts/*.ttf
var fonts embed.FS

// typeface is the fonts to look for a character in, best first.
type typeface []struct {
	outlines *opentype.Font
	face     font.Face
}

// typefaces are the faces of one picture; they may not be shared by two.
type typefaces struct{ regular, bold typeface }

func newTypefaces(s size) (t typefaces, err error) {
	if t.regular, err = newTypeface(s, "JetBrainsMono-Regular", "DejaVuSansMono"); err == nil {
		t.bold, err = newTypeface(s, "JetBrainsMono-Bold", "DejaVuSansMono")
	}
	return t, err
}

func newTypeface(s size, names ...string) (typeface, error) {
	t := make(typeface, len(names))
	for i, name := range names {
		data, err := fonts.ReadFile("fonts/" + name + ".ttf")
		if err != nil {
			return nil, fmt.Errorf("read font: %w", err)
		}
		if t[i].outlines, err = opentype.Parse(data); err != nil {
			return nil, fmt.Errorf("parse font %s: %w", name, err)
		}
		t[i].face, err = opentype.NewFace(t[i].outlines, &opentype.FaceOptions{Size: s.font, DPI: 72})
		if err != nil {
			return nil, fmt.Errorf("open font %s: %w", name, err)
		}
	}
	return t, nil
}

// glyph draws one cluster into its cell, and reports whether a font has it.
// Letters with marks are composed first: nothing here shapes text.
func (t typeface) glyph(c canvas, cell image.Rectangle, cluster string, ink color.Color) bool {
	drawn := false
	var buf sfnt.Buffer
	for _, r := range norm.NFC.String(cluster) {
		for _, f := range t {
			if i, err := f.outlines.GlyphIndex(&buf, r); err != nil || i == 0 {
				continue
			}
			x := cell.Min.X
			if advance, _ := f.face.GlyphAdvance(r); advance > 0 {
				x += (cell.Dx() - advance.Round()) / 2
			} else {
				x += c.cellWidth // a mark's outline lies over the letter before it
			}
			d := font.Drawer{Dst: c, Src: image.NewUniform(ink), Face: f.face, Dot: fixed.P(x, cell.Min.Y+c.baseline)}
			d.DrawString(string(r))
			drawn = true
			break
		}
	}
	return drawn
}
