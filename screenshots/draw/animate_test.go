package draw

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/gif"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/leasetop/leasetop/ui/term"
)

// moments are views that came to stand at times in milliseconds.
func moments(views ...any) (m []Moment) {
	for i := 0; i < len(views); i += 2 {
		at := time.Duration(views[i].(int)) * time.Millisecond
		m = append(m, Moment{Frame: term.Render(views[i+1].(string), 20, 4), At: at})
	}
	return m
}

var countdown = []any{
	0, "\x1b[31mleases\x1b[m\n88123 ━━━━\nw1",
	333, "\x1b[31mleases\x1b[m\n88123 ━━━─\nw1",
	667, "\x1b[31mleases\x1b[m\n88123 ━━━─\nw1",
	1001, "\x1b[31mleases\x1b[m\n88123 ━━──\nw1",
	2004, "\x1b[31mleases\x1b[m\n88123 \x1b[1;31mlost\x1b[m\nw2",
}

// animated returns the animation as it is read back from a file, and what is
// seen after each of its pictures.
func animated(t *testing.T, m []Moment) (g *gif.GIF, seen []*image.RGBA) {
	t.Helper()
	g, err := Animate(m)
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	if err := gif.EncodeAll(&file, g); err != nil {
		t.Fatal(err)
	}
	if g, err = gif.DecodeAll(&file); err != nil {
		t.Fatal(err)
	}
	screen := image.NewRGBA(image.Rect(0, 0, g.Config.Width, g.Config.Height))
	for i, picture := range g.Image {
		if g.Disposal[i] != gif.DisposalNone {
			t.Errorf("picture %d is disposed of by %d", i, g.Disposal[i])
		}
		draw.Draw(screen, picture.Rect, picture, picture.Rect.Min, draw.Over)
		copied := *screen
		copied.Pix = bytes.Clone(screen.Pix)
		seen = append(seen, &copied)
	}
	return g, seen
}

func windowed(t *testing.T, m Moment) *image.RGBA {
	t.Helper()
	faces, err := newTypefaces(moving)
	if err != nil {
		t.Fatal(err)
	}
	return window(moving, faces, m.Frame, m.Note)
}

func TestAnimationShowsEachScreen(t *testing.T) {
	t.Parallel()
	m := moments(countdown...)
	_, seen := animated(t, m)
	inks := newInks(m)
	for i, at := range []int{0, 1, 3, 4} { // 2 looks like 1
		want := inks.picture(windowed(t, m[at]))
		for p, index := range want.Pix {
			x, y := p%want.Stride, p/want.Stride
			if got := seen[i].At(x, y); got != color.RGBAModel.Convert(inks.colours[index]) {
				t.Fatalf("screen %d, pixel %d,%d: got %v, want %v", at, x, y, got, inks.colours[index])
			}
		}
	}
}

func TestAnimationsDelaysAddUp(t *testing.T) {
	t.Parallel()
	g, _ := animated(t, moments(countdown...))
	// 667 looks like what came before; the last one stays for 3 s.
	if got, want := fmt.Sprint(g.Delay), "[33 67 100 300]"; got != want {
		t.Errorf("hundredths of a second: got %v, want %v", got, want)
	}
	if g.LoopCount != 0 {
		t.Errorf("repeated %d times, not for ever", g.LoopCount)
	}
}

func TestAnimationsPicturesAreOnlyWhatChanged(t *testing.T) {
	t.Parallel()
	g, seen := animated(t, moments(countdown...))
	if g.Image[0].Rect != seen[0].Rect {
		t.Errorf("the first picture is %v", g.Image[0].Rect)
	}
	for i := 1; i < len(seen); i++ {
		picture, differing := g.Image[i], image.Rectangle{}
		for y := range seen[i].Rect.Dy() {
			for x := range seen[i].Rect.Dx() {
				p, other := image.Rect(x, y, x+1, y+1), seen[i].At(x, y) != seen[i-1].At(x, y)
				if other {
					differing = differing.Union(p)
				}
				if p.In(picture.Rect) && (picture.ColorIndexAt(x, y) != 0) != other {
					t.Fatalf("picture %d paints %d,%d without need, or not at all", i, x, y)
				}
			}
		}
		if picture.Rect != differing {
			t.Errorf("picture %d is %v, but %v changed", i, picture.Rect, differing)
		}
	}
	if got := g.Image[1].Rect; got.Dx() > moving.cellWidth || got.Dy() > moving.cellHeight {
		t.Errorf("one cell changed, but the picture is %v", got)
	}
}

func TestNoteStandsInTheTitleBar(t *testing.T) {
	t.Parallel()
	m := moments(0, "same", 100, "same")
	m[1].Note = "8.0 s left out"
	g, _ := animated(t, m)
	if len(g.Image) != 2 || g.Image[1].Rect.Max.Y > moving.bar || g.Image[1].Rect.Min.X < g.Config.Width/2-moving.cellWidth*4 {
		t.Fatalf("%d pictures, %v", len(g.Image), g.Image[len(g.Image)-1].Rect)
	}
}

func TestColoursOfAnAnimationAreTheScreens(t *testing.T) {
	t.Parallel()
	m := moments(0, "plain \x1b[31mred\x1b[m \x1b[4;58;2;255;255;0munder\x1b[m\n\x1b[1;32mgreen\x1b[m \x1b[7mreverse\x1b[m ░▒▓\n\x1b[2mfaint\x1b[m 你")
	inks, picture := newInks(m), windowed(t, m[0])
	in := inks.picture(picture)
	worst := 0.0
	for i := range in.Pix {
		x, y := i%in.Stride, i/in.Stride
		want, got := picture.RGBAAt(x, y), color.RGBAModel.Convert(in.At(x, y)).(color.RGBA)
		if want.A < 0xff { // the window's corners
			if painted := in.Pix[i] != 0; painted != (want.A >= 0x80) {
				t.Errorf("%d,%d is covered by %d of 255; painted: %v", x, y, want.A, painted)
			}
			continue
		}
		away := func(a, b uint8) float64 { d := float64(a) - float64(b); return d * d }
		worst = max(worst, math.Sqrt(away(want.R, got.R)+away(want.G, got.G)+away(want.B, got.B)))
	}
	// Between black and white a step of 8 is 55, and none is further than half.
	if worst > 28 {
		t.Errorf("a colour is off by %.0f", worst)
	}
	fg, bg := term.Dark()
	for _, flat := range []color.RGBA{fg, bg, palette[1], palette[2], lights[0], {0xff, 0xff, 0, 0xff}} {
		if got := inks.colours[inks.index(flat)]; got != flat {
			t.Errorf("%v is drawn as %v", flat, got)
		}
	}
}

func TestScreensInTheSameColoursHaveTheSamePalette(t *testing.T) {
	t.Parallel()
	a := newInks(moments(0, "one \x1b[31mred\x1b[m"))
	b := newInks(moments(0, "\x1b[31mmore red\x1b[m", 100, "other"))
	if fmt.Sprint(a.colours) != fmt.Sprint(b.colours) {
		t.Error("other colours")
	}
}

func TestMoreColoursThanAPictureHoldsAreDrawnInTheNearest(t *testing.T) {
	t.Parallel()
	var view strings.Builder
	for line := range 4 {
		for x := range 20 {
			fmt.Fprintf(&view, "\x1b[38;2;%d;%d;0;48;2;0;%d;%dm▒\x1b[m", 60*line, 12*x, 12*x, 60*line)
		}
		view.WriteByte('\n')
	}
	g, _ := animated(t, moments(0, strings.TrimSpace(view.String())))
	if n := len(g.Image[0].Palette); n != 256 {
		t.Errorf("%d colours", n)
	}
}

func TestWhatCannotBeAnimatedIsSaid(t *testing.T) {
	t.Parallel()
	if _, err := Animate(nil); err == nil || !strings.Contains(err.Error(), "nothing") {
		t.Errorf("got %v", err)
	}
	m := append(moments(0, "x"), Moment{Frame: term.Render("x", 21, 4), At: time.Second})
	if _, err := Animate(m); err == nil || !strings.Contains(err.Error(), "sizes") {
		t.Errorf("got %v", err)
	}
}
