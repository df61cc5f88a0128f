package main

import (
	"image"
	"image/draw"
	"image/gif"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	window "github.com/leasetop/leasetop/screenshots/draw"
)

// last returns what is seen when the pictures have been shown over each other.
func last(g *gif.GIF) *image.RGBA {
	screen := image.NewRGBA(image.Rect(0, 0, g.Config.Width, g.Config.Height))
	for _, picture := range g.Image {
		draw.Draw(screen, picture.Rect, picture, picture.Rect.Min, draw.Over)
	}
	return screen
}

func TestRecordingShowsWhatThePressedKeysDid(t *testing.T) {
	t.Parallel()
	o := itself(t)
	r := recording{
		Name: "keys", Width: 40, Height: 5, Ready: `ready`,
		Before: []step{{Keys: []string{"a"}, Until: []string{`\[a\]`}}},
		Steps: []step{
			{Until: []string{`\[a\]$`}},
			{Read: time.Second, Keys: []string{"b"}, Until: []string{`\[b\]$`}},
			{Keys: []string{"c"}, Until: []string{`\[a\] \[b\] \[c\]`}},
		},
	}
	if err := record(t.Context(), r, o); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(filepath.Join(o.out, "keys.gif"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	g, err := gif.DecodeAll(file)
	if err != nil {
		t.Fatal(err)
	}
	// On a busy machine one may be missed.
	if n := len(g.Image); n != 3 && n != 2 {
		t.Errorf("%d pictures of three screens", n)
	}
	hundredths := 0
	for _, delay := range g.Delay {
		hundredths += delay
	}
	if hundredths < 100+300 {
		t.Errorf("all is over after %d hundredths of a second", hundredths)
	}

	// The same keys without a recording lead to what it shows last.
	tm, err := open(o, r.Width, r.Height, r.Ready)
	if err != nil {
		t.Fatal(err)
	}
	defer tm.Close()
	screen, err := take(t.Context(), tm, []string{"a", "b", "c"}, []string{`\[c\]`})
	if err != nil {
		t.Fatal(err)
	}
	still, err := window.Animate([]window.Moment{{Frame: screen}})
	if err != nil {
		t.Fatal(err)
	}
	got, want := last(g), last(still)
	for y := range want.Rect.Dy() {
		for x := range want.Rect.Dx() {
			if got.At(x, y) != want.At(x, y) {
				t.Fatalf("pixel %d,%d is %v, want %v", x, y, got.At(x, y), want.At(x, y))
			}
		}
	}
	if got.Rect != want.Rect {
		t.Errorf("size %v, want %v", got.Rect, want.Rect)
	}
}

func TestOnlyWantedRecordingsAreMade(t *testing.T) {
	t.Parallel()
	o := itself(t)
	o.only = []string{"other.gif", "keys.png"}
	if err := record(t.Context(), recording{Name: "keys", Ready: `never`}, o); err != nil {
		t.Fatal(err)
	}
	if files, err := os.ReadDir(o.out); err != nil || len(files) != 0 {
		t.Errorf("made %v (%v)", files, err)
	}
}

func TestRecordingThatNeverComesSaysWhatItSaw(t *testing.T) {
	t.Parallel()
	o := options{out: t.TempDir(), bin: "sh", args: []string{"-c", "echo something else; read line"}}
	r := recording{Name: "x", Width: 40, Height: 5, Ready: `.`, Steps: []step{{Keys: []string{"enter"}, Until: []string{"QUEUES"}}}}
	err := record(t.Context(), r, o)
	if err == nil || !strings.Contains(err.Error(), "recording x") || !strings.Contains(err.Error(), "something else") {
		t.Errorf("got %v", err)
	}
}
