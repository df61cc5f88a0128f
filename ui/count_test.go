package ui

import "testing"

func TestCountsFitTheirColumns(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		n        int64
		w        int
		want     string
		estimate string
		atLeast  string
	}{
		{0, 5, "0", "~0", "0+"},
		{1_204_331, 9, "1,204,331", "~1.2M", "1.2M+"},
		{1_204_331, 8, "1.2M", "~1.2M", "1.2M+"},
		{12_345_678, 5, "12.3M", "~12M", "12M+"},
		{51_216, 5, "51.2k", "~51k", "51k+"},
		{51_216, 6, "51,216", "~51.2k", "51.2k+"},
		{999_951, 5, "1.0M", "~1.0M", "1.0M+"},
		{999_499, 4, "999k", "~999k", "999k+"},
		{999_499, 3, "999k", "~999k", "999k+"},
	} {
		if got := count(c.n, false, c.w); got != c.want {
			t.Errorf("%d in %d cells: %q, want %q", c.n, c.w, got, c.want)
		}
		if got := count(c.n, true, c.w); got != c.estimate {
			t.Errorf("an estimate of %d in %d cells: %q, want %q", c.n, c.w, got, c.estimate)
		}
		if got := bounded(c.n, true, c.w); got != c.atLeast {
			t.Errorf("at least %d in %d cells: %q, want %q", c.n, c.w, got, c.atLeast)
		}
	}
}
