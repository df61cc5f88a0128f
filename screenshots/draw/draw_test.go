package draw

import (
	"go/ast"
	"go/parser"
	"go/token"
	"image"
	"image/color"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/leasetop/leasetop/ui/term"
)

// drawn returns the picture of a view without a window.
func drawn(t *testing.T, view string, width, height int) image.Image {
	t.Helper()
	f := term.Render(view, width, height)
	if err := f.Err(); err != nil {
		t.Fatal(err)
	}
	m, err := Screen(f)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// at returns the colour of a pixel of the cell x, y, dx and dy from its corner.
func at(m image.Image, x, y, dx, dy int) color.RGBA {
	return color.RGBAModel.Convert(m.At(x*still.cellWidth+dx, y*still.cellHeight+dy)).(color.RGBA)
}

// inked reports whether any pixel of the rectangle differs from the paper.
func inked(m image.Image, r image.Rectangle) bool {
	_, paper := term.Dark()
	for y := r.Min.Y; y < r.Max.Y; y++ {
		for x := r.Min.X; x < r.Max.X; x++ {
			if color.RGBAModel.Convert(m.At(x, y)) != paper {
				return true
			}
		}
	}
	return false
}

func cellAt(x, y, w int) image.Rectangle {
	return image.Rect(x*still.cellWidth, y*still.cellHeight, (x+w)*still.cellWidth, (y+1)*still.cellHeight)
}

func TestLinesMeetAcrossCells(t *testing.T) {
	t.Parallel()
	for _, box := range []string{"╭─╮\n│ │\n╰─╯", "┌─┐\n│ │\n└─┘", "┏━┓\n┃ ┃\n┗━┛", "╔═╗\n║ ║\n╚═╝"} {
		m := drawn(t, box, 3, 3)
		// Each border between two cells is crossed by the same ink on both sides.
		for i := range 2 {
			for d := range still.cellHeight {
				for _, y := range []int{0, 2} {
					if l, r := at(m, i, y, still.cellWidth-1, d), at(m, i+1, y, 0, d); l != r {
						t.Errorf("%q: gap beside cell %d,%d", box, i, y)
					}
				}
			}
			for d := range still.cellWidth {
				for _, x := range []int{0, 2} {
					if u, l := at(m, x, i, d, still.cellHeight-1), at(m, x, i+1, d, 0); u != l {
						t.Errorf("%q: gap below cell %d,%d", box, x, i)
					}
				}
			}
		}
		if !inked(m, cellAt(1, 0, 1)) || inked(m, cellAt(1, 1, 1)) {
			t.Errorf("%q: not a hollow box", box)
		}
	}
}

func TestLinesMeetAndDifferInWeightInBothSizes(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]size{"still": still, "moving": moving} {
		c := newCanvas(s, 2*s.cellWidth, 3*s.cellHeight)
		thick := func(row int, view string) (pixels [2]int) { // at either side of the border
			screen(c, image.Pt(0, row*s.cellHeight), typefaces{}, term.Render(view, 2, 1))
			for y := range s.cellHeight {
				for i := range pixels {
					at := image.Pt(s.cellWidth-1+i, row*s.cellHeight+y)
					if inked(c, image.Rectangle{at, at.Add(image.Pt(1, 1))}) {
						pixels[i]++
					}
				}
			}
			return pixels
		}
		light, heavy, double := thick(0, "╭╮"), thick(1, "━━"), thick(2, "══")
		if want := s.line; light != [2]int{want, want} || double != [2]int{2 * want, 2 * want} {
			t.Errorf("%s: light %v, double %v", name, light, double)
		}
		if heavy[0] <= light[0] || heavy[0] != heavy[1] {
			t.Errorf("%s: heavy %v beside light %v", name, heavy, light)
		}
	}
}

func TestBlocksFillTheirPart(t *testing.T) {
	t.Parallel()
	ink, paper := term.Dark()
	m := drawn(t, "█▄▌▐▀▟", 6, 1)
	for i, want := range [][4]bool{ // top left, top right, bottom left, bottom right
		{true, true, true, true},
		{false, false, true, true},
		{true, false, true, false},
		{false, true, false, true},
		{true, true, false, false},
		{false, true, true, true},
	} {
		for k, filled := range want {
			got := at(m, i, 0, 1+k%2*(still.cellWidth-3), 1+k/2*(still.cellHeight-3))
			if filled && got != ink || !filled && got != paper {
				t.Errorf("block %d, corner %d: %v", i, k, got)
			}
		}
	}
	for i, r := range []rune("▁▂▃▄▅▆▇█") {
		m := drawn(t, string(r), 1, 1)
		full := 0
		for y := range still.cellHeight {
			if at(m, 0, 0, 5, y) == ink {
				full++
			}
		}
		if want := (still.cellHeight*(i+1) + 4) / 8; full != want {
			t.Errorf("%c is %d pixels high, want %d", r, full, want)
		}
	}
}

func TestColoursAreTheCells(t *testing.T) {
	t.Parallel()
	ink, paper := term.Dark()
	red, blue := color.RGBA{0xff, 0, 0, 0xff}, color.RGBA{0, 0, 0xff, 0xff}
	for _, c := range []struct {
		name, view string
		want       color.RGBA // of a full block
	}{
		{"default", "█", ink},
		{"true colour", "\x1b[38;2;255;0;0m█\x1b[m", red},
		{"background", "\x1b[48;2;255;0;0m \x1b[m", red},
		{"reverse", "\x1b[7;38;2;255;0;0;48;2;0;0;255m█\x1b[m", blue},
		{"reverse of the default", "\x1b[7m \x1b[m", ink},
		{"named", "\x1b[31m█\x1b[m", palette[1]},
		{"bright", "\x1b[91m█\x1b[m", palette[9]},
		{"indexed as named", "\x1b[38;5;9m█\x1b[m", palette[9]},
		{"indexed", "\x1b[38;5;196m█\x1b[m", red},
		{"faint", "\x1b[2;38;2;255;0;0m█\x1b[m", mix(red, paper, .45)},
		{"concealed", "\x1b[8m█\x1b[m", paper},
	} {
		if got := at(drawn(t, c.view, 1, 1), 0, 0, still.cellWidth/2, still.cellHeight/2); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestStrokesRunUnderAndThrough(t *testing.T) {
	t.Parallel()
	ink, _ := term.Dark()
	m := drawn(t, "\x1b[4m \x1b[m\x1b[9m \x1b[m\x1b[4;58;2;255;0;0m \x1b[m", 3, 1)
	for x := range still.cellWidth {
		if at(m, 0, 0, x, still.baseline+3) != ink || at(m, 1, 0, x, still.baseline-9) != ink {
			t.Fatalf("gap at pixel %d", x)
		}
	}
	if got := at(m, 2, 0, 4, still.baseline+3); got != (color.RGBA{0xff, 0, 0, 0xff}) {
		t.Errorf("underline is %v", got)
	}
}

func TestBoldIsDrawnBolder(t *testing.T) {
	t.Parallel()
	if reflect.DeepEqual(drawn(t, "leasetop", 8, 1), drawn(t, "\x1b[1mleasetop\x1b[m", 8, 1)) {
		t.Error("bold looks like regular")
	}
}

func TestWhatNoFontHasIsAnEmptyBox(t *testing.T) {
	t.Parallel()
	m := drawn(t, "你a", 3, 1)
	if !inked(m, cellAt(0, 0, 2)) || inked(m, cellAt(0, 0, 2).Inset(10)) {
		t.Error("not an empty box")
	}
}

func TestMarksStandOverTheirLetter(t *testing.T) {
	t.Parallel()
	m := drawn(t, " x\u030b ", 3, 1) // no such letter in Unicode, so it is not composed
	if inked(m, cellAt(0, 0, 1)) || inked(m, cellAt(2, 0, 1)) {
		t.Error("the mark lies outside its cell")
	}
	if top := image.Rect(still.cellWidth, 0, 2*still.cellWidth, 13); !inked(m, top) {
		t.Error("no mark over the letter")
	}
}

func TestWindowHasRoundTransparentCornersAndATitle(t *testing.T) {
	t.Parallel()
	f := term.Render("x", 40, 3)
	plain, err := Window(f)
	if err != nil {
		t.Fatal(err)
	}
	b := plain.Bounds()
	if b.Dx() != 40*still.cellWidth+2*still.margin || b.Dy() != 3*still.cellHeight+still.bar+still.margin {
		t.Errorf("size %v", b)
	}
	for _, p := range []image.Point{b.Min, {b.Max.X - 1, 0}, {0, b.Max.Y - 1}, b.Max.Sub(image.Pt(1, 1))} {
		if _, _, _, alpha := plain.At(p.X, p.Y).RGBA(); alpha != 0 {
			t.Errorf("corner %v is not transparent", p)
		}
	}
	f.Title = "leasetop"
	titled, err := Window(f)
	if err != nil {
		t.Fatal(err)
	}
	if reflect.DeepEqual(plain, titled) {
		t.Error("no title")
	}
	again, err := Window(f)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(titled, again) {
		t.Error("the same screen gave another picture")
	}
}

// TestEveryCharacterOfTheScreensIsDrawn reads the dashboard's source: whatever
// it prints that is not ASCII must be geometry or in a font of ours.
func TestEveryCharacterOfTheScreensIsDrawn(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../ui/*.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("no sources (%v)", err)
	}
	faces, err := newTypefaces(still)
	if err != nil {
		t.Fatal(err)
	}
	c := newCanvas(still, still.cellWidth, still.cellHeight)
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Skipf("%s does not parse: %v", name, err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			literal, ok := n.(*ast.BasicLit)
			if !ok || literal.Kind != token.STRING && literal.Kind != token.CHAR {
				return true
			}
			text, err := strconv.Unquote(literal.Value)
			if err != nil {
				return true
			}
			for _, r := range text {
				if r > '~' && !geometry(c, c.Bounds(), r, color.RGBA{}, color.RGBA{}) &&
					!faces.regular.glyph(c, c.Bounds(), string(r), color.RGBA{}) {
					t.Errorf("%s: no font has %q (%U)", name, r, r)
				}
			}
			return true
		})
	}
}
