package main

import (
	"fmt"
	"image/png"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	xterm "golang.org/x/term"

	"github.com/leasetop/leasetop/ui/term"
)

func TestPicturesAreWellFormed(t *testing.T) {
	t.Parallel()
	names := map[string]bool{}
	named := func(name string) {
		if names[name] || strings.HasPrefix(name, ".") {
			t.Errorf("two pictures are named %q, or one has no name", name)
		}
		names[name] = true
	}
	formed := func(name string, keys, until []string) {
		if len(until) == 0 {
			t.Errorf("%s waits for nothing", name)
		}
		for _, key := range keys {
			if _, err := term.Key(key); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		for _, pattern := range until {
			if _, err := regexp.Compile(pattern); err != nil || pattern == "" {
				t.Errorf("%s waits for %q: %v", name, pattern, err)
			}
		}
	}
	for i, s := range scenes {
		formed(fmt.Sprintf("scene %d", i+1), nil, []string{s.Ready})
		for _, shot := range s.Shots {
			named(shot.Name + ".png")
			for _, s := range shot.Before {
				formed("before "+shot.Name, s.Keys, s.Until)
			}
			formed(shot.Name, shot.Keys, shot.Until)
		}
	}
	for _, r := range recordings {
		named(r.Name + ".gif")
		formed(r.Name, nil, []string{r.Ready})
		if len(r.Steps) == 0 {
			t.Errorf("%s shows nothing", r.Name)
		}
		for _, s := range append(slices.Clone(r.Before), r.Steps...) {
			formed(r.Name, s.Keys, s.Until)
		}
	}
	if err := check([]string{"overview.png", "nothing.gif"}); err == nil || !strings.Contains(err.Error(), "nothing.gif") {
		t.Errorf("got %v", err)
	}
}

func TestPicturesAreNamedBeforeLeasetopsOwnArguments(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ line, only, args string }{
		{"", "", ""},
		{"-light a.png b.gif", "a.png b.gif", ""},
		{"a.png -- --fresh x", "a.png", "--fresh x"},
		{"-- --fresh", "", "--fresh"},
	} {
		o, err := parse(strings.Fields(c.line))
		if only, args := strings.Join(o.only, " "), strings.Join(o.args, " "); err != nil || only != c.only || args != c.args {
			t.Errorf("%q: draw %q, leasetop %q (%v)", c.line, only, args, err)
		}
	}
}

// The test binary stands in for leasetop: told so, it shows what is pressed.
func TestMain(m *testing.M) {
	if len(os.Args) != 2 || os.Args[1] != "program" {
		os.Exit(m.Run())
	}
	if _, err := xterm.MakeRaw(int(os.Stdin.Fd())); err != nil {
		panic(err)
	}
	fmt.Print("\x1b[?1049h\x1b]2;title\a\x1b[31mready\x1b[m")
	for key := make([]byte, 1); ; {
		if _, err := os.Stdin.Read(key); err != nil {
			panic(err)
		}
		fmt.Printf("\x1b[?2026h [%s]\x1b[?2026l", key) // seen all at once
	}
}

// itself returns options that run the stand-in.
func itself(t *testing.T) options {
	t.Helper()
	bin, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return options{out: t.TempDir(), bin: bin, args: []string{"program"}}
}

func TestPlayTakesTheShotsInOrder(t *testing.T) {
	t.Parallel()
	o := itself(t)
	s := scene{Width: 40, Height: 5, Ready: `.`, Shots: []shot{
		{Name: "first", Until: []string{`^ready$`}},
		{Name: "second", Keys: []string{"a", "b"}, Until: []string{`\[a\] \[b\]`, `ready`}},
		{Name: "third", Keys: []string{"c"}, Until: []string{`\[a\] \[b\] \[c\]`}},
	}}
	o.only = []string{"first.png", "second.png"}
	if err := play(t.Context(), s, o); err != nil {
		t.Fatal(err)
	}
	var bounds []string
	for _, name := range o.only {
		f, err := os.Open(filepath.Join(o.out, name))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		m, err := png.Decode(f)
		if err != nil {
			t.Fatal(err)
		}
		bounds = append(bounds, m.Bounds().String())
	}
	if bounds[0] != bounds[1] || bounds[0] == "(0,0)-(0,0)" {
		t.Errorf("pictures of %v", bounds)
	}
	first, err := os.ReadFile(filepath.Join(o.out, "first.png"))
	if err != nil {
		t.Fatal(err)
	}
	second, err := os.ReadFile(filepath.Join(o.out, "second.png"))
	if err != nil {
		t.Fatal(err)
	}
	if string(first) == string(second) {
		t.Error("the keys changed nothing")
	}
	if _, err := os.Stat(filepath.Join(o.out, "third.png")); !os.IsNotExist(err) {
		t.Errorf("took a shot that was not wanted (%v)", err)
	}
}

func TestShotThatNeverComesSaysWhatItSaw(t *testing.T) {
	t.Parallel()
	o := options{out: t.TempDir(), bin: "sh", args: []string{"-c", "echo something else; exit 1"}}
	err := play(t.Context(), scene{Width: 40, Height: 5, Ready: `.`, Shots: []shot{{Name: "x", Until: []string{"QUEUES"}}}}, o)
	if err == nil || !strings.Contains(err.Error(), "shot x") || !strings.Contains(err.Error(), "something else") {
		t.Errorf("got %v", err)
	}
}
