package lanes

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestACrashAndTheTakeOverAreOnePicture(t *testing.T) {
	t.Parallel()
	s := tell(t, "w1", "w2", "w3").pass(10).claim(1, "w1", 1).claim(2, "w2", 1).pass(5)
	s.turn("w2", "crashed").pass(6).claim(2, "w3", 2).pass(4).finish(1).pass(2)
	s.draws(`
	w1   ··········AAAAAAAAAAAAAAA···|
	w2   ··········BBBBB✗░░░░░╮      |
	w3   ·····················↳B²BBBB|
	`)
	s.explains("B 2 send attempt 2 w3, lost by w2", "A 1 send w1 ended")
}

func TestAZombieGoesOnBesideTheOneWhoTookOver(t *testing.T) {
	t.Parallel()
	s := tell(t, "w1", "w2").pass(8).claim(7, "w2", 1).pass(4).turn("w2", "frozen").pass(6)
	s.explains("A 7 send w2 frozen")
	s.claim(7, "w1", 2).pass(3).turn("w2", "idle").pass(3).finish(7).pass(2)
	s.draws(`
	w1    ··················↱A²AAA···|
	w2    ········AAAA✱~~~A~╯~~······|
	`)
	s.explains("A 7 send attempt 2 w1 ended, lost by w2")
}

func TestAPartitionedWorkerIsTakenOverFromBelow(t *testing.T) {
	t.Parallel()
	s := tell(t, "w1", "w2", "w3").pass(6).claim(7, "w3", 1).claim(8, "w2", 1).pass(4).turn("w3", "partitioned").pass(6)
	s.explains("A 7 send w3 cut off", "B 8 send w2")
	s.claim(7, "w1", 2).pass(3).finish(8).turn("w3", "idle").pass(4)
	s.draws(`
	w1       ················↱A²AAAAA|
	w2       ······BBBBBBBBBBBBB·····|
	w3       ······AAAA≠╌╌╌A╌╯╌╌·····|
	`)
}

// Nothing is known of the workers of others but what they hold. That they renew no more
// says it.
func TestAForeignWorkerThatFallsSilentIsSeenByItsLease(t *testing.T) {
	t.Parallel()
	s := tell(t, "w1").pass(6).claim(7, "w9@db7", 1).pass(6)
	s.hung["w9@db7"] = true
	s.pass(3.5)
	s.explains("A 7 send w9@db7 silent")
	s.pass(3.5).claim(7, "w1", 2).pass(4)
	s.draws(`
	w1       ···················↱A²AA|
	w9@db7             AAAAAAAA?░░░░╯    |
	`)
	s.explains("A 7 send attempt 2 w1, lost by w9@db7")
}

// Who never renews says nothing by not renewing.
func TestALeaseThatIsNeverRenewedIsNotSilent(t *testing.T) {
	t.Parallel()
	s := tell(t).pass(6)
	s.hung["cron"] = true
	s.held[7] = Held{Job: 7, Worker: "cron", Attempt: 1, Kind: "send", Since: s.now, Expires: s.now.Add(20 * time.Second)}
	s.pass(15)
	s.draws(`
	cron               AAAAAAAAAAAAAAAA|
	`)
}

func TestWhatWaitsLongForAWorkerIsSeenToWait(t *testing.T) {
	t.Parallel()
	s := tell(t, "w1", "w2").pass(5).claim(1, "w1", 1).claim(2, "w2", 1).pass(3).turn("w1", "crashed").pass(6).finish(1).pass(4)
	s.explains("A 1 send w1 lost it", "B 2 send w2")
	s.finish(2).claim(1, "w2", 2).pass(5)
	s.draws(`
	w1       ·····AAA✗░░░░░┄┄┄┄╮     |
	w2       ·····BBBBBBBBBBBBB↳A²AAA|
	`)
}

func TestALeaseThatNobodyTakesAwayIsAnAlarm(t *testing.T) {
	t.Parallel()
	s := tell(t, "w1").pass(5).claim(1, "w1", 1).pass(3).turn("w1", "crashed").pass(12)
	s.draws(`
	w1          ·····AAA✗░░░░░!!!!!!!|
	`)
	s.explains("A 1 send w1 overdue")
}

func TestARetryIsNoTakeOver(t *testing.T) {
	t.Parallel()
	s := tell(t, "w1", "w2").pass(5).claim(1, "w1", 1).pass(4).finish(1).pass(4).claim(1, "w2", 2).pass(5).finish(1).pass(3).claim(1, "w2", 3).pass(6)
	s.draws(`
	w1   ·····AAAA···················|
	w2   ·············A²AAA···A³AAAAA|
	`)
	s.explains("A 1 send attempt 3 w2")
}

func TestShortJobsHaveNoLetters(t *testing.T) {
	t.Parallel()
	s := tell(t, "w1").pass(5)
	for i := range int64(20) {
		s.claim(100+i, "w1", 1).pass(0.5).finish(100 + i).pass(0.25)
	}
	s.claim(7, "w1", 1).pass(6)
	s.draws(`
	w1    ·····▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂AAAAAAA|
	`)
	s.explains("A 7 send w1")
}

// A lane for each slot where there is room, else the job that began last.
func TestSlots(t *testing.T) {
	t.Parallel()
	s := tell(t, "w1", "w2")
	s.workers[0].Slots = 3
	s.pass(4).claim(1, "w1", 1).pass(2).claim(2, "w1", 1).pass(3).claim(3, "w1", 1).pass(3).finish(2).pass(2).claim(4, "w1", 1).claim(5, "w2", 1).pass(3).turn("w1", "crashed").pass(4)
	s.draws(`
	w1         ····AAAAAAAAAAAAA✗░░░░|
	w1         ······BBBBBB··DDD✗░░░░|
	w1         ·········CCCCCCCC✗░░░░|
	w2         ··············EEEEEEEE|
	`)
	s.drawn(30*time.Second, 30, 3, `
	w1         ····AABBBCCCCCDDD✗░░░░|
	w2         ··············EEEEEEEE|
	`)
	if rows := s.Draw(s.now, 30*time.Second, 30, 3).Rows; rows[0].Held != 3 || rows[0].Slot != 0 || rows[1].Held != 1 {
		t.Errorf("the rows say %+v", rows)
	}
	s.pass(2).claim(1, "w2", 2).pass(3)
	s.drawn(60*time.Second, 20, 6, `
	w1            ·AAAA✗░╮ |
	w1            ··BBD✗░!!|
	w1            ···CC✗░░!|
	w2            ····EEE↳A|
	`)
}

// Where a job is taken over is to be seen, however short it was and whatever else was then.
func TestATakeOverIsSeenHoweverShortItWas(t *testing.T) {
	t.Parallel()
	s := tell(t, "w1", "w2").pass(5).claim(1, "w1", 1).claim(2, "w2", 1).pass(3).turn("w1", "crashed").pass(6.75)
	s.finish(2).claim(1, "w2", 2).pass(0.25).finish(1).claim(3, "w2", 1).pass(3)
	s.draws(`
	w1            ·····AAA✗░░░░░╮    |
	w2            ·····BBBBBBBBBACCCC|
	`)
}

// The figure of an attempt never stands without its letter: where the job of before has
// most of the column in which it begins, both are one further.
func TestTheFigureStandsBehindItsLetter(t *testing.T) {
	t.Parallel()
	s := tell(t, "w1").pass(5).claim(1, "w1", 1).pass(2).finish(1).claim(2, "w1", 1).pass(3.75).finish(2).claim(1, "w1", 2).pass(3.25)
	s.draws(`
	w1                ·····AABBBBA²AA|
	`)
}

// However dense lanes are, a first attempt and a later one do not look alike.
func TestARetryIsToldFromAFirstAttemptInOneCell(t *testing.T) {
	t.Parallel()
	s := tell(t, "w1", "w2")
	s.Brief = -1
	s.pass(5)
	for i := range int64(4) {
		s.claim(10+i, "w1", 1).pass(1).finish(10+i).claim(i, "w2", 2).pass(1).finish(i)
		s.claim(20+i, "w1", 3).claim(30+i, "w2", 1).pass(1).finish(20 + i).finish(30 + i)
	}
	for i := range int64(3) { // one behind the other, in one lane
		s.claim(40+i, "w1", 1+int(i)).pass(1).finish(40 + i)
	}
	s.pass(2)
	s.draws(`
	w1        ·····A·↻E·↻I·↻M·↻Q↻S³··|
	w2        ······↻D·↻H·↻L·↻P······|
	`)
}

// The story is what there is room for first.
func TestWhatIsOutOfTheOrdinaryIsDrawnFirst(t *testing.T) {
	t.Parallel()
	s := tell(t, "w10", "w1", "w2", "w3", "w4", "w5", "w6").pass(5)
	s.claim(1, "w4", 1).claim(2, "w5", 1).claim(3, "w6", 1).pass(3).turn("w5", "crashed").pass(6).claim(2, "w10", 2).pass(3)
	s.drawn(20*time.Second, 20, 3, `
	w4   ·····AAAAAAAAAAAAA|
	w5   ·····BBB✗░░░░░╮   |
	w10   ··············↳B²B|
	`)
	if d := s.Draw(s.now, 20*time.Second, 20, 3); d.Hidden != 4 {
		t.Errorf("%d workers are hidden, not 4", d.Hidden)
	}
}

// Of a worker that is gone and of which nothing is in the span there is no lane.
func TestWhoIsGoneHasNoLane(t *testing.T) {
	t.Parallel()
	s := tell(t, "w1", "w2").pass(3).claim(1, "w9@db7", 1).pass(2).finish(1)
	s.workers = s.workers[:1]
	s.pass(20)
	s.drawn(40*time.Second, 40, 9, `
	w1               ··························|
	w9@db7                  AA                     |
	`)
	s.drawn(10*time.Second, 10, 9, `
	w1 ··········|
	`)
}

// The same moments are in the same columns a little later: a lane moves, it does not
// change.
func TestColumnsStandStill(t *testing.T) {
	t.Parallel()
	s := tell(t, "w1").pass(3).claim(1, "w1", 1).pass(8).finish(1).pass(1)
	before := s.picture(30*time.Second, 30, 5)
	for range 3 {
		s.pass(0.25)
		if now := s.picture(30*time.Second, 30, 5); now != before {
			t.Errorf("within a second\n%s\nbecame\n%s", before, now)
		}
	}
}

// A picture of a moment that is past shows nothing of what came later.
func TestAPictureOfThePast(t *testing.T) {
	t.Parallel()
	s := tell(t, "w1", "w2").pass(10).claim(1, "w1", 1).pass(5)
	then, before := s.now, s.picture(20*time.Second, 20, 5)
	s.pass(1).turn("w1", "crashed").pass(6).claim(1, "w2", 2).pass(4)
	s.now = then
	if now := s.picture(20*time.Second, 20, 5); now != before {
		t.Errorf("it was\n%s\nand is\n%s", before, now)
	}
}

// What a worker had last when it stopped it has finished, though its lease was read
// before its state.
func TestWhoStoppedInGoodOrderLostNothing(t *testing.T) {
	t.Parallel()
	s := tell(t, "w1").pass(5).claim(1, "w1", 1).pass(3)
	s.turn("w1", "stopped").finish(1).pass(5)
	s.draws(`
	w1                 ·····AAA      |
	`)
	s.explains("A 1 send w1 ended")
}

// Whenever it moves, all of a picture goes to the terminal: a large one does so about once
// a second. Between two of its moves it grows at its right edge, and nothing else changes.
func TestALargePictureMovesSeldom(t *testing.T) {
	t.Parallel()
	var names []string
	for i := range 20 {
		names = append(names, fmt.Sprintf("w%d", i))
	}
	s := tell(t, names...)
	for i, name := range names {
		s.claim(int64(100+i), name, 1)
	}
	s.pass(5)
	shot := func() []string { return strings.Split(s.picture(15*time.Second, 100, 20), "\n") }
	moves, before := 0, shot()
	const seconds = 8
	for range 4 * seconds {
		s.pass(0.25)
		now, grown := shot(), 0
		for i := range now {
			if strings.HasPrefix(strings.TrimRight(now[i], " |"), strings.TrimRight(before[i], " |")) {
				grown++
			}
		}
		switch grown {
		case 0:
			moves++
		case len(now):
		default:
			t.Fatalf("%d of %d rows grew, the others did not", grown, len(now))
		}
		before = now
	}
	if moves < seconds/2 || moves > seconds {
		t.Errorf("it moved %d times in %d seconds", moves, seconds)
	}
}

// Where not all workers have room, those that ended in good order go first, and of what is
// of the same interest those that died and hold nothing more.
func TestTheLivingHaveRoomBeforeThoseThatEnded(t *testing.T) {
	t.Parallel()
	s := tell(t, "a1", "a2", "b1", "b2").pass(4)
	s.claim(1, "a1", 1).claim(2, "a2", 1).pass(3).finish(1).finish(2).turn("a1", "stopped").turn("a2", "stopped").pass(1)
	s.claim(3, "b1", 1).claim(4, "b2", 1).pass(3)
	shown := func(n int, want string) {
		t.Helper()
		d := s.Draw(s.now, 30*time.Second, 30, n)
		var names []string
		for _, row := range d.Rows {
			names = append(names, row.Worker)
		}
		if got := strings.Join(names, " "); got != want || d.Hidden != 4-n {
			t.Errorf("of %d: %s and %d more, not %s", n, got, d.Hidden, want)
		}
	}
	shown(2, "b1 b2")
	shown(3, "a1 b1 b2")
	s.finish(3).turn("b1", "crashed").pass(1)
	shown(2, "b1 b2")
	s.claim(4, "b2", 2).turn("b2", "frozen").pass(1)
	shown(1, "b2")
}

// One row stands for all jobs of a worker that died: where they are taken over, none of their
// letters comes back in it, though one was found to be lost a little later than another.
func TestADeadWorkersLaneEndsWithoutALetter(t *testing.T) {
	t.Parallel()
	s := tell(t, "w1", "w2")
	s.workers[0].Slots, s.workers[1].Slots = 3, 3
	s.pass(5)
	for i := range int64(3) {
		s.claim(1+i, "w1", 1)
	}
	s.pass(3).turn("w1", "crashed").pass(5)
	s.claim(1, "w2", 2).pass(0.5).claim(2, "w2", 2).claim(3, "w2", 2).pass(3)
	s.drawn(30*time.Second, 30, 2, `
	w1              ·····AAA✗░░░░╮   |
	w2              ·············↳B²B|
	`)
}
