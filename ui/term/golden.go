package term

import (
	"testing"

	"github.com/charmbracelet/x/exp/golden"
)

// Golden compares the frame with the drawing in testdata/<test name>.golden,
// and fails too if the frame did not fit its screen. `go test -update` draws
// anew; the drawing is then read by eye and committed.
func Golden(t testing.TB, f *Frame) {
	t.Helper()
	if err := f.Err(); err != nil {
		t.Fatalf("the view does not fit %d×%d: %v", f.Width, f.Height, err)
	}
	golden.RequireEqual(t, f.Text()+"\n")
}
