package main

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/leasetop/leasetop/ui/term"
)

// told returns a film as lines of time, text and note.
func (f film) told() (lines []string) {
	for _, m := range f {
		line := fmt.Sprintf("%v %s", m.At, m.Frame.Text())
		if m.Note != "" {
			line += " (" + m.Note + ")"
		}
		lines = append(lines, line)
	}
	return lines
}

// filmed adds screens seen at times in milliseconds.
func filmed(screens ...any) (f film) {
	for i := 0; i < len(screens); i += 2 {
		at := time.Duration(screens[i].(int)) * time.Millisecond
		f = f.add(term.Render(screens[i+1].(string), 5, 1), at)
	}
	return f
}

func TestFilmKeepsTheLastScreenOfATickAndOnlyWhatIsNew(t *testing.T) {
	t.Parallel()
	got := filmed(0, "a", 90, "b", 130, "b", 250, "c", 260, "b", 410, "d", 780, "d").told()
	if want := []string{"0s b", "400ms d"}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestFilmEndsWithTheScreenThatWasWaitedFor(t *testing.T) {
	t.Parallel()
	got := filmed(0, "a", 500, "b", 700, "c", 520, "d").told()
	if want := []string{"0s a", "500ms d"}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestStepsAreShownNoLongerThanTheyMay(t *testing.T) {
	t.Parallel()
	seconds := func(s ...float64) (ends []time.Duration) {
		for _, s := range s {
			ends = append(ends, time.Duration(s*float64(time.Second)))
		}
		return ends
	}
	for _, c := range []struct {
		name  string
		film  film
		steps []step
		ends  []time.Duration
		want  []string
	}{
		{
			"short enough", filmed(0, "a", 1500, "b", 3000, "c"),
			[]step{{Most: 2 * time.Second}, {}},
			seconds(1.5, 3),
			[]string{"0s a", "1.5s b", "3s c"},
		},
		{
			"what changes in the gap is not seen, but its end is", filmed(0, "a", 500, "b", 2000, "c", 3000, "d", 9500, "e", 10000, "f", 11000, "g"),
			[]step{{Most: 2 * time.Second}, {}},
			seconds(10, 11),
			[]string{"0s a", "500ms b", "1s d (8.0 s left out)", "1.5s e (8.0 s left out)", "2s f", "3s g"},
		},
		{
			"a screen that stands still tells too", filmed(0, "a", 10000, "b"),
			[]step{{Most: 2 * time.Second}},
			seconds(10),
			[]string{"0s a", "1s a (8.0 s left out)", "2s b"},
		},
		{
			"two gaps", filmed(0, "a", 4000, "b", 9000, "c"),
			[]step{{Most: time.Second}, {Most: time.Second}},
			seconds(4, 9),
			[]string{"0s a", "500ms a (3.0 s left out)", "1s b", "1.5s b (4.0 s left out)", "2s c"},
		},
	} {
		if got := c.film.without(cuts(c.steps, c.ends)).told(); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: got\n%q, want\n%q", c.name, got, c.want)
		}
	}
}
