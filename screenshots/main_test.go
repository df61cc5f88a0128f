package main

import (
	"fmt"
	"image/png"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	xterm "golang.org/x/term"

	"github.com/leasetop/leasetop/ui/term"
)

func TestShotsAreWellFormed(t *testing.T) {
	t.Parallel()
	names := map[string]bool{}
	for _, s := range scenes {
		if _, err := regexp.Compile(s.Ready); err != nil || s.Ready == "" {
			t.Errorf("%d×%d is ready when %q is seen: %v", s.Width, s.Height, s.Ready, err)
		}
		for _, shot := range s.Shots {
			if names[shot.Name] || shot.Name == "" {
				t.Errorf("two shots are named %q", shot.Name)
			}
			names[shot.Name] = true
			if len(shot.Until) == 0 {
				t.Errorf("%s waits for nothing", shot.Name)
			}
			for _, key := range shot.Keys {
				if _, err := term.Key(key); err != nil {
					t.Errorf("%s: %v", shot.Name, err)
				}
			}
			for _, pattern := range shot.Until {
				if _, err := regexp.Compile(pattern); err != nil {
					t.Errorf("%s: %v", shot.Name, err)
				}
			}
		}
	}
	if err := check([]string{"overview", "nothing"}); err == nil || !strings.Contains(err.Error(), "nothing") {
		t.Errorf("got %v", err)
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
		fmt.Printf(" [%s]", key)
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
	o.only = []string{"first", "second"}
	if err := play(t.Context(), s, o); err != nil {
		t.Fatal(err)
	}
	var bounds []string
	for _, name := range o.only {
		f, err := os.Open(filepath.Join(o.out, name+".png"))
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
