package lanes

import (
	"strings"
	"testing"
	"time"
)

// A job that was over before it had a letter is drawn without one in that stretch for good,
// whatever becomes of it later.
func TestThePastIsNotLetteredLater(t *testing.T) {
	t.Parallel()
	s := tell(t, "w1", "w2").pass(5).claim(1, "w1", 1).pass(0.5).finish(1).pass(6)
	s.draws(`
	w1                   ·····▂······|
	w2                   ············|
	`)
	s.claim(1, "w2", 2).pass(4)
	s.draws(`
	w1               ·····▂··········|
	w2               ···········A²AAA|
	`)
	s.explains("A 1 send attempt 2 w2")
}

// Letters that are in sight are not taken away for jobs that came later, unless somebody
// lost one of these.
func TestLettersDoNotVanishFromSight(t *testing.T) {
	t.Parallel()
	s := tell(t, "w1", "w2")
	const span = 5 * time.Minute
	s.Draw(s.now, span, 300, 2)
	first := func() rune {
		for _, c := range s.Draw(s.now, span, 300, 2).Rows[0].Cells {
			if strings.ContainsRune(alphabet, c.Glyph) {
				return c.Glyph
			}
		}
		return 0
	}
	for i := range int64(len(alphabet) + 8) {
		s.claim(1+i, "w1", 1).pass(1).finish(1 + i).pass(1)
		if got := first(); got != 'A' {
			t.Fatalf("after %d jobs the first is drawn as %q", i+1, got)
		}
	}
	s.claim(1000, "w2", 1).turn("w2", "crashed").pass(2)
	entries := s.Draw(s.now, span, 300, 2).Legend
	if len(entries) == 0 || entries[0].Job != 1000 {
		t.Errorf("a job whose holder died has no letter: %+v", entries)
	}
}
