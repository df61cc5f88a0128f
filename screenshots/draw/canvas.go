package draw

import (
	"image"
	"image/color"
	"image/draw"
	"math"
)

// canvas is an image with the two ways of painting everything but text: flat
// rectangles, and shapes with smooth edges.
type canvas struct {
	*image.RGBA
	size
}

func newCanvas(s size, width, height int) canvas {
	return canvas{image.NewRGBA(image.Rect(0, 0, width, height)), s}
}

// fill paints the rectangle.
func (c canvas) fill(r image.Rectangle, ink color.Color) {
	draw.Draw(c, r, image.NewUniform(ink), image.Point{}, draw.Over)
}

// samples is how many points along each axis of a pixel decide how much of it
// a shape covers.
const samples = 4

// shape paints the part of the rectangle that lies inside, in pixels from the
// rectangle's corner, blending where an edge crosses a pixel.
func (c canvas) shape(r image.Rectangle, ink color.Color, inside func(x, y float64) bool) {
	mask := image.NewAlpha(r)
	for y := range r.Dy() {
		for x := range r.Dx() {
			n := 0
			for s := range samples * samples {
				px := float64(x) + (float64(s%samples)+.5)/samples
				py := float64(y) + (float64(s/samples)+.5)/samples
				if inside(px, py) {
					n++
				}
			}
			mask.SetAlpha(r.Min.X+x, r.Min.Y+y, color.Alpha{uint8(n * 255 / (samples * samples))})
		}
	}
	draw.DrawMask(c, r, image.NewUniform(ink), image.Point{}, mask, r.Min, draw.Over)
}

// rounded paints the rectangle with quarter circles for corners.
func (c canvas) rounded(r image.Rectangle, radius int, ink color.Color) {
	c.fill(image.Rect(r.Min.X+radius, r.Min.Y, r.Max.X-radius, r.Max.Y), ink)
	c.fill(image.Rect(r.Min.X, r.Min.Y+radius, r.Min.X+radius, r.Max.Y-radius), ink)
	c.fill(image.Rect(r.Max.X-radius, r.Min.Y+radius, r.Max.X, r.Max.Y-radius), ink)
	d := float64(radius)
	for _, corner := range []struct {
		at     image.Point
		cx, cy float64 // the circle's centre
	}{
		{r.Min, d, d},
		{image.Pt(r.Max.X-radius, r.Min.Y), 0, d},
		{image.Pt(r.Min.X, r.Max.Y-radius), d, 0},
		{image.Pt(r.Max.X-radius, r.Max.Y-radius), 0, 0},
	} {
		c.shape(image.Rect(0, 0, radius, radius).Add(corner.at), ink, func(x, y float64) bool {
			return math.Hypot(x-corner.cx, y-corner.cy) <= d
		})
	}
}

// mix returns a colour between a (t = 0) and b (t = 1).
func mix(a, b color.RGBA, t float64) color.RGBA {
	part := func(x, y uint8) uint8 { return uint8(float64(x)*(1-t) + float64(y)*t + .5) }
	return color.RGBA{part(a.R, b.R), part(a.G, b.G), part(a.B, b.B), 0xff}
}
