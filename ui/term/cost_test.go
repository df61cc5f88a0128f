package term

import (
	"runtime"
	"testing"
)

func TestCostIsTold(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("only Linux tells")
	}
	tm := open(t, Options{})
	tm.Expect("size 80×24")
	spent, err := tm.Spent()
	if err != nil || spent <= 0 {
		t.Errorf("spent %v, error %v", spent, err)
	}
	for n := range 50 { // work: each is drawn
		tm.Press(string(rune('a' + n%10)))
	}
	tm.Press("Z")
	tm.Expect("key Z")
	if more, err := tm.Spent(); err != nil || more <= spent {
		t.Errorf("spent %v after %v, error %v", more, spent, err)
	}
	if peak, err := tm.Peak(); err != nil || peak < 1<<20 || peak > 1<<30 {
		t.Errorf("held %d bytes, error %v", peak, err)
	}
	tm.Press("q")
	tm.Exit()
	if _, err := tm.Peak(); err == nil {
		t.Error("a program that ended holds memory")
	}
}
