package lanes

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"github.com/leasetop/leasetop/ui/safe"
)

// A letter stands for one job in all there is to be seen, a job has one letter wherever
// it is held, and no picture is larger than was asked for: in a world of chance.
func TestLettersAndBoundsInAWorldOfChance(t *testing.T) {
	t.Parallel()
	for seed := range uint64(4) {
		random := rand.New(rand.NewPCG(seed, 6))
		var names []string
		for i := range 1 + random.IntN(40) {
			names = append(names, fmt.Sprintf("w%d", i))
		}
		s := tell(t, names...)
		letters := map[int64]rune{} // of the jobs with a story, as long as they are held
		next := int64(1)
		for range 150 {
			for range random.IntN(6) {
				name := names[random.IntN(len(names))]
				switch random.IntN(6) {
				case 0, 1, 2:
					s.claim(next, name, 1+random.IntN(2))
					next++
				case 3:
					for id := range s.held {
						s.finish(id)
						break
					}
				case 4:
					s.turn(name, []string{"busy", "crashed", "frozen", "partitioned", "stopped"}[random.IntN(5)])
				case 5:
					for id, h := range s.held {
						s.claim(id, name, h.Attempt+1)
						break
					}
				}
			}
			s.pass(float64(random.IntN(8)) / 4)
			span := []time.Duration{15 * time.Second, time.Minute, 5 * time.Minute}[random.IntN(3)]
			width, height := random.IntN(130)-2, random.IntN(40)-2
			checkDrawing(t, &s.Recorder, s.now, span, width, height)
			checkLetters(t, &s.Recorder, letters)
			if t.Failed() {
				t.Fatalf("with seed %d", seed)
			}
		}
	}
}

func checkDrawing(t *testing.T, r *Recorder, now time.Time, span time.Duration, width, height int) {
	t.Helper()
	d := r.Draw(now, span, width, height)
	if len(d.Rows) > max(height, 0) {
		t.Fatalf("%d rows of %d", len(d.Rows), height)
	}
	workers := map[string]bool{}
	for _, row := range d.Rows {
		workers[row.Worker] = true
		if len(row.Cells) != width {
			t.Fatalf("%d cells of %d", len(row.Cells), width)
		}
		for _, c := range row.Cells {
			if text := string(c.Glyph); safe.Width(text) != 1 || safe.Text(text) != text {
				t.Fatalf("%q is no cell", c.Glyph)
			}
		}
	}
	for _, l := range r.lanes {
		if l.condition() == unknown || workers[safe.Text(l.name)] || d.Hidden > 0 {
			continue
		}
		t.Fatalf("no row of %s, and nothing hidden", l.name)
	}
	seen := map[rune]int64{}
	for _, e := range d.Legend {
		if other, twice := seen[e.Letter]; twice {
			t.Fatalf("%c is %d and %d", e.Letter, other, e.Job)
		}
		seen[e.Letter] = e.Job
	}
	for _, row := range d.Rows {
		for _, c := range row.Cells {
			if letter := c.Glyph >= 'A' && c.Glyph <= 'z'; letter && seen[c.Glyph] == 0 {
				t.Fatalf("%c is drawn and not explained: %+v", c.Glyph, d.Legend)
			}
		}
	}
}

// checkLetters looks that a job with a story keeps its letter as long as it is held.
func checkLetters(t *testing.T, r *Recorder, letters map[int64]rune) {
	t.Helper()
	owners := map[int]int64{}
	for id, j := range r.jobs {
		if j.letter == 0 {
			continue
		}
		if other, twice := owners[j.letter]; twice {
			t.Fatalf("%d and %d have one letter", id, other)
		}
		owners[j.letter] = id
		if letter := rune(alphabet[j.letter-1]); j.story {
			if before, had := letters[id]; had && before != letter {
				t.Fatalf("the letter of %d was %c and is %c", id, before, letter)
			}
			letters[id] = letter
		}
	}
	for id := range letters {
		if j := r.jobs[id]; j == nil || r.open[id] == nil && j.letter == 0 {
			delete(letters, id)
		} else if j.letter == 0 {
			t.Fatalf("%d had a letter, and has none", id)
		}
	}
}

func TestALetterIsGivenAgainWhenItsJobIsGoneFromTheWindow(t *testing.T) {
	t.Parallel()
	s := tell(t, "w1")
	s.Keep = 30 * time.Second
	for i := range int64(30) { // more than letters, but never as many at once
		s.claim(100+i, "w1", 1).pass(2).finish(100 + i)
		if i >= 26 {
			continue
		}
		if got, want := s.jobs[100+i].letter, int(i)+1; got != want {
			t.Fatalf("job %d has letter %d, not %d", 100+i, got, want)
		}
	}
	s.pass(60)
	if len(s.jobs) != 0 || len(s.past) != 0 || s.letters.owner != [len(alphabet)]*job{} {
		t.Errorf("a minute later it keeps %d jobs, %d holds and letters %v", len(s.jobs), len(s.past), s.letters.owner)
	}
}

// With more jobs than letters, the ones that went well do without: who crashes has one.
func TestStoriesHaveLettersAmongThousands(t *testing.T) {
	t.Parallel()
	s := tell(t, "w1", "w2", "w3")
	for i := range int64(200) {
		s.claim(1000+i, "w1", 1)
	}
	s.pass(2).claim(7, "w2", 1).turn("w2", "crashed").pass(5).claim(7, "w3", 2).pass(2)
	if j := s.jobs[7]; j.letter == 0 {
		t.Error("the job that was taken over has no letter")
	}
	checkDrawing(t, &s.Recorder, s.now, time.Minute, 80, 30)
}

// Where many come and go, letters are for those that take long, and do not change hands.
func TestLettersKeepTheirJobsInACrowd(t *testing.T) {
	t.Parallel()
	var names []string
	for i := range 40 {
		names = append(names, fmt.Sprintf("w%d", i))
	}
	s := tell(t, names...)
	for i, name := range names[:3] {
		s.claim(int64(1+i), name, 1)
	}
	s.pass(1)
	for round := range int64(30) { // 37 at jobs of a second and a half, some tried again
		for i, name := range names[3:] {
			s.claim(1000+round*100+int64(i), name, 1+i%2)
		}
		s.pass(1.5)
		for i := range names[3:] {
			s.finish(1000 + round*100 + int64(i))
		}
		if round < 5 {
			continue
		}
		for id := range int64(3) {
			if got, want := s.jobs[1+id].letter, int(1+id); got != want {
				t.Fatalf("after %d rounds job %d has letter %d", round, 1+id, got)
			}
		}
	}
	if n := len(s.Draw(s.now, 20*time.Second, 100, 40).Legend); n != 3 {
		t.Errorf("%d jobs have letters, not the three that took long", n)
	}
}

func TestMemoryIsBounded(t *testing.T) {
	t.Parallel()
	var r Recorder
	now, id := noon, int64(0)
	for round := range 40 {
		now = now.Add(250 * time.Millisecond)
		var held []Held
		var workers []Worker
		for i := range 2 * heldMost {
			id++
			held = append(held, Held{Job: id, Worker: fmt.Sprintf("w%d@host%d", i%7000, round), Attempt: 1})
		}
		for i := range 2 * lanesMost {
			workers = append(workers, Worker{Name: fmt.Sprintf("v%d", i+round*100), State: []string{"busy", "frozen"}[round%2]})
		}
		r.See(now, held, workers)
		if n := len(r.past) + len(r.open); n > holdsMost {
			t.Fatalf("it keeps %d holds", n)
		}
		if n := len(r.lanes); n > holdsMost+lanesMost {
			t.Fatalf("it keeps %d lanes", n)
		}
		if n := len(r.jobs); n > holdsMost {
			t.Fatalf("it keeps %d jobs", n)
		}
	}
	for i := range 1000 {
		now = now.Add(time.Millisecond)
		r.See(now, nil, []Worker{{Name: "w1", State: []string{"busy", "frozen"}[i%2]}})
	}
	if n := len(r.lanes["w1"].spells); n > spellsMost {
		t.Errorf("it keeps %d spells", n)
	}
	checkDrawing(t, &r, now, time.Minute, 80, 30)
	r.See(now.Add(time.Hour), nil, nil)
	r.See(now.Add(2*time.Hour), nil, nil)
	if len(r.lanes) != 0 || len(r.jobs) != 0 || len(r.past) != 0 {
		t.Errorf("two hours later it keeps %d lanes, %d jobs and %d holds", len(r.lanes), len(r.jobs), len(r.past))
	}
}

// Of very many leases not all are told of each time. One that is back is the one it was.
func TestALeaseThatIsBackIsNoOther(t *testing.T) {
	t.Parallel()
	s := tell(t, "w1").pass(3).claim(7, "w1", 1).pass(3)
	lease := s.held[7]
	for range 20 {
		s.finish(7).pass(0.25)
		s.held[7] = lease
		s.pass(0.25)
	}
	s.draws(`
	w1              ···AAAAAAAAAAAAAA|
	`)
	if holds := len(s.past) + len(s.open); holds != 1 {
		t.Errorf("%d holds of one lease", holds)
	}
}

// Names come from the table. Whatever somebody wrote there, cells stay cells.
func TestHostileNamesAndTimes(t *testing.T) {
	t.Parallel()
	var r Recorder
	nasty := "\x1b]0;owned\a\u202e\nw1"
	held := []Held{
		{Job: 1, Worker: nasty, Attempt: -3, Queue: nasty, Kind: nasty, Since: noon.Add(time.Hour), Expires: noon.Add(-time.Hour)},
		{Job: 1, Worker: "twice", Attempt: 1 << 40},
		{Job: -1, Worker: "", Attempt: 99, Since: time.Unix(0, 0), Expires: time.Unix(1<<40, 0), Renews: true},
	}
	workers := []Worker{{Name: nasty, State: nasty, Since: noon.Add(-1000 * time.Hour), Slots: -7}}
	for _, after := range []time.Duration{0, time.Second, -time.Hour, 3 * time.Second} {
		r.See(noon.Add(after), held, workers)
		checkDrawing(t, &r, noon.Add(after), time.Minute, 40, 10)
	}
	for _, row := range r.Draw(noon, time.Minute, 40, 10).Rows {
		if safe.Text(row.Worker) != row.Worker || safe.Text(row.State) != row.State {
			t.Errorf("%q is %q", row.Worker, row.State)
		}
	}
	for _, e := range r.Draw(noon.Add(3*time.Second), time.Minute, 40, 10).Legend {
		if text := e.Text(); safe.Text(text) != text {
			t.Errorf("the legend says %q", text)
		}
	}
}

// BenchmarkSee is one observation of 200 leases, of which one in twenty is new.
func BenchmarkSee(b *testing.B) {
	var r Recorder
	now, first := noon, int64(0)
	held := make([]Held, 200)
	for b.Loop() {
		now, first = now.Add(250*time.Millisecond), first+10
		for i := range held {
			id := first + int64(i)
			held[i] = Held{Job: id, Worker: "w" + strconv.FormatInt(id%40, 10), Attempt: 1, Queue: "emails", Expires: now.Add(time.Minute), Renews: true}
		}
		r.See(now, held, nil)
	}
}

// BenchmarkDraw is one drawing of a busy five minutes.
func BenchmarkDraw(b *testing.B) {
	var r Recorder
	now := noon
	for i := range int64(1200) {
		now = now.Add(250 * time.Millisecond)
		var held []Held
		for k := range int64(40) {
			held = append(held, Held{Job: (i/4+k*7)/8*1000 + k, Worker: "w" + strconv.FormatInt(k%20, 10), Attempt: 1})
		}
		r.See(now, held, nil)
	}
	for b.Loop() {
		r.Draw(now, 5*time.Minute, 100, 28)
	}
}
