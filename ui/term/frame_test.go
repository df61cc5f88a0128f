package term

import (
	"strings"
	"testing"

	uv "github.com/charmbracelet/ultraviolet"
)

func TestRenderedViewIsDrawn(t *testing.T) {
	t.Parallel()
	view := "╭ QUEUES 4 ────────╮\n" +
		"│\x1b[1mQUEUE\x1b[m   READY  60s│\n" +
		"│▸\x1b[32memails\x1b[m  1,204 ▁▂▅│\n" +
		"│ 你好👩🏾‍💻    12 ███│\n" +
		"╰──────────────────╯"
	Golden(t, Render(view, 20, 5))
}

func TestWhatDoesNotFitIsReported(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, view, want string }{
		{"fits", "12345\n你好1", ""},
		{"too wide", "12345\n你好12", "line 2 is 6 cells wide"},
		{"too high", "1\n2\n3", "3 lines on a screen of 2"},
		{"control", "a\tb", "control character"},
	} {
		f := Render(c.view, 5, 2)
		if err := f.Err(); (err != nil) != (c.want != "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.name, err, c.want)
		}
	}
}

func TestFrameIsReadByCell(t *testing.T) {
	t.Parallel()
	f := Render("你好 \x1b[1mready\x1b[m\n\n", 12, 4)
	if got := f.Text(); got != "你好 ready" {
		t.Errorf("got %q", got)
	}
	x, y, ok := f.Find("ready")
	if !ok || x != 5 || y != 0 || f.Cell(x, y).Content != "r" || f.Cell(1, 0).Width != 0 {
		t.Errorf("found at %d,%d (%v): %v", x, y, ok, f.Cell(x, y))
	}
	if f.Cell(12, 0) != nil || f.Cell(0, -1) != nil {
		t.Error("cells outside the screen")
	}
}

func TestFramesThatLookTheSameAreEqual(t *testing.T) {
	t.Parallel()
	const view = "\x1b[31mleases\x1b[m 4"
	f := Render(view, 12, 2)
	if !f.Equal(Render(view, 12, 2)) {
		t.Error("the same view is unequal")
	}
	titled, pointed := Render(view, 12, 2), Render(view, 12, 2)
	titled.Title, pointed.Cursor = "leasetop", &uv.Position{}
	for name, other := range map[string]*Frame{
		"text":   Render("\x1b[31mleases\x1b[m 5", 12, 2),
		"colour": Render("\x1b[32mleases\x1b[m 4", 12, 2),
		"weight": Render("\x1b[1;31mleases\x1b[m 4", 12, 2),
		"size":   Render(view, 12, 3),
		"title":  titled,
		"cursor": pointed,
	} {
		if f.Equal(other) || other.Equal(f) {
			t.Errorf("another %s is not told apart", name)
		}
	}
}
