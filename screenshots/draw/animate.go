package draw

import (
	"bytes"
	"errors"
	"image"
	"image/gif"
	"time"

	"github.com/leasetop/leasetop/ui/term"
)

// Moment is a screen and when it came to stand.
type Moment struct {
	Frame *term.Frame
	At    time.Duration // since the first moment
	Note  string        // stands in the title bar, on the right
}

// stay is how long the last picture of an animation is looked at before it
// begins again.
const stay = 3 * time.Second

// Animate draws moments, in the order of their times, as windows that follow
// each other for ever. Each picture after the first is only the rectangle that
// changed; a moment that looks like the one before prolongs it. All are drawn
// in one palette (see newInks). The moments have to be of one size.
func Animate(moments []Moment) (*gif.GIF, error) {
	if len(moments) == 0 {
		return nil, errors.New("animate: nothing was recorded")
	}
	faces, err := newTypefaces(moving)
	if err != nil {
		return nil, err
	}
	inks := newInks(moments)
	g := &gif.GIF{}
	var shown *image.Paletted
	for i, m := range moments {
		next := m.At + stay
		if i+1 < len(moments) {
			next = moments[i+1].At
		}
		// Differences of rounded times add up to the rounded whole.
		delay := int(next/hundredth) - int(m.At/hundredth)
		picture := inks.picture(window(moving, faces, m.Frame, m.Note))
		switch {
		case shown == nil:
			g.Config = image.Config{ColorModel: inks.colours, Width: picture.Rect.Dx(), Height: picture.Rect.Dy()}
			g.Image, g.Delay = append(g.Image, picture), append(g.Delay, delay)
		case picture.Rect != shown.Rect:
			return nil, errors.New("animate: the moments are of different sizes")
		default:
			if r := changed(shown, picture); r.Empty() {
				g.Delay[len(g.Delay)-1] += delay
			} else {
				g.Image, g.Delay = append(g.Image, patch(shown, picture, r)), append(g.Delay, delay)
			}
		}
		shown = picture
	}
	for range g.Image {
		g.Disposal = append(g.Disposal, gif.DisposalNone)
	}
	return g, nil
}

// hundredth is the unit in which a GIF counts time.
const hundredth = 10 * time.Millisecond

// changed returns the smallest rectangle outside of which both pictures, of
// one size, are the same.
func changed(a, b *image.Paletted) image.Rectangle {
	var r image.Rectangle
	for y := range a.Rect.Dy() {
		was, is := a.Pix[y*a.Stride:][:a.Rect.Dx()], b.Pix[y*b.Stride:][:b.Rect.Dx()]
		if bytes.Equal(was, is) {
			continue
		}
		first, last := 0, len(is)-1
		for was[first] == is[first] {
			first++
		}
		for was[last] == is[last] {
			last--
		}
		r = r.Union(image.Rect(first, y, last+1, y+1))
	}
	return r
}

// patch returns the rectangle of the picture that goes over the one shown.
// Pixels that stay are left transparent there: long runs of one value take
// next to no room.
func patch(shown, picture *image.Paletted, r image.Rectangle) *image.Paletted {
	p := image.NewPaletted(r, picture.Palette)
	for y := r.Min.Y; y < r.Max.Y; y++ {
		row := p.Pix[p.PixOffset(r.Min.X, y):]
		was, is := shown.Pix[shown.PixOffset(r.Min.X, y):], picture.Pix[picture.PixOffset(r.Min.X, y):]
		for x := range r.Dx() {
			if was[x] != is[x] {
				row[x] = is[x]
			}
		}
	}
	return p
}
