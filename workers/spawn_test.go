package workers

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/leasetop/leasetop/queue"
)

func TestSpawnAsRefusesNamesThatMakeNoSense(t *testing.T) {
	t.Parallel()
	p := newPool(t, openQueue(t), on(nothing), Options{})
	for name, want := range map[string]string{
		"north-1_b.C":              "",
		strings.Repeat("x", 32):    "",
		"north-1_b.D":              "",
		"":                         "it needs a name",
		strings.Repeat("x", 33):    "33 characters",
		"a/b":                      "letters, digits",
		"a#1":                      "letters, digits",
		"a b":                      "letters, digits",
		"größe":                    "letters, digits",
		"\x1b[31m":                 "letters, digits",
		strings.Repeat("\xff", 99): "letters, digits",
	} {
		err := p.SpawnAs(name, []string{"q"}, 1)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v, want %q", name, err, want)
		}
	}
	if err := p.SpawnAs("x", []string{"other"}, 1); err == nil || !strings.Contains(err.Error(), "no handler") {
		t.Errorf("a queue that nobody serves: %v", err)
	}
	if n := len(p.Workers()); n != 3 {
		t.Errorf("%d workers are listed, want 3", n)
	}
	if err := p.Stop(context.Background()); err != nil {
		t.Fatal(err)
	}
	if err := p.SpawnAs("late", []string{"q"}, 1); !errors.Is(err, ErrStopped) {
		t.Errorf("after a stop: %v, want ErrStopped", err)
	}
}

func TestSpawnPassesOverNamesThatAreTaken(t *testing.T) {
	t.Parallel()
	p := newPool(t, openQueue(t), on(nothing), Options{})
	if err := p.SpawnAs("w1", []string{"q"}, 1); err != nil {
		t.Fatal(err)
	}
	if name := spawn(t, p, 1, "q"); name != "w2" {
		t.Errorf("spawned %s, want w2", name)
	}
}

// A name may come again. A token may not: it would not fence the one who had it first.
func TestWorkerOfTheSameNameWritesOtherTokens(t *testing.T) {
	t.Parallel()
	q := openQueue(t)
	tokens := make(chan string, 2)
	p := startPool(t, q, on(func(_ context.Context, job *queue.Job) error {
		tokens <- job.LockedBy
		return nil
	}), Options{}, 0)
	var seen []string
	for range 2 {
		if err := p.SpawnAs("again", []string{"q"}, 1); err != nil {
			t.Fatal(err)
		}
		if err := p.SpawnAs("again", []string{"q"}, 1); err == nil {
			t.Error("two listed workers have one name")
		}
		enqueue(t, q, queue.NewJob{})
		seen = append(seen, receive(t, "a run", tokens))
		if err := p.Kill("again"); err != nil {
			t.Fatal(err)
		}
		if err := p.Remove("again"); err != nil {
			t.Fatal(err)
		}
	}
	first, _ := queue.ParseToken(seen[0])
	second, ok := queue.ParseToken(seen[1])
	if !ok || first.Worker != "again" || second.Worker != "again" || first == second {
		t.Errorf("tokens %q: want different ones of one worker", seen)
	}
}

// A name is looked up, not looked for: each worker costs as much as the one before. What
// is in the list alone is not found.
func TestSpawningWalksNoList(t *testing.T) {
	t.Parallel()
	p, err := New(anywhere(t, 4), on(nothing), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = p.Stop(t.Context()) }()
	for _, want := range []string{"w1", "w2"} {
		if name, err := p.Spawn([]string{"q"}, 1); err != nil || name != want {
			t.Fatalf("spawned %q: %v", name, err)
		}
	}
	delete(p.named, "w1")
	if err := p.SpawnAs("w1", []string{"q"}, 1); err != nil {
		t.Errorf("the list was walked: %v", err)
	}
	if err := p.SpawnAs("w2", []string{"q"}, 1); err == nil {
		t.Error("two workers have one name")
	}
}
