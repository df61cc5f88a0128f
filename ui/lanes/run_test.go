package lanes

import (
	"testing"
	"time"
)

// begin has a worker run a job, of which leases say something only when they are looked at.
func (s *story) begin(job int64, worker string, attempt int) *story {
	s.runs = append(s.runs, Run{ID: uint64(len(s.runs) + 1), Job: job, Worker: worker, Attempt: attempt, Began: s.now})
	return s
}

// stop ends the last run of a worker.
func (s *story) stop(worker string, end End) *story {
	for i := len(s.runs) - 1; ; i-- {
		if r := &s.runs[i]; r.Worker == worker && r.Ended.IsZero() {
			r.Ended, r.End = s.now, end
			return s
		}
	}
}

// bury makes a dead letter of a job.
func (s *story) bury(job int64) *story {
	for i := len(s.runs) - 1; ; i-- {
		if r := &s.runs[i]; r.Job == job {
			r.Dead = s.now
			return s
		}
	}
}

// skip lets a time pass in which nobody looks.
func (s *story) skip(d time.Duration) *story {
	s.now = s.now.Add(d)
	return s
}

func TestTheShortestRunIsSeen(t *testing.T) {
	t.Parallel()
	s := tell(t, "w1", "w2").pass(4)
	for job := range int64(3) {
		s.begin(job+1, "w1", 1).skip(3*time.Millisecond).stop("w1", Done).pass(4)
	}
	s.draws(`
	w1              ····▂···▂···▂····|
	w2              ·················|
	`)
}

func TestAShortTakeOverSaysWhatItIs(t *testing.T) {
	t.Parallel()
	s := tell(t, "w1", "w2").pass(4).claim(1, "w1", 1).begin(1, "w1", 1).pass(3)
	s.stop("w1", Crashed).turn("w1", "crashed").pass(6)
	delete(s.held, 1)
	s.begin(1, "w2", 2).skip(3*time.Millisecond).stop("w2", Done).pass(5)
	s.draws(`
	w1            ····AAA✗░░░░░╮     |
	w2            ·············↳A²···|
	`)
	s.explains("A 1 send attempt 2 w2 ended, lost by w1")
}

// Who sleeps past the end of a lease goes on with the job, until the fence.
func TestAZombieRunsOnUntilItIsFenced(t *testing.T) {
	t.Parallel()
	s := tell(t, "w1", "w2").pass(4).claim(7, "w1", 1).begin(7, "w1", 1).pass(4).turn("w1", "frozen").pass(6)
	s.claim(7, "w2", 2).begin(7, "w2", 2).pass(2).turn("w1", "busy").pass(4)
	s.draws(`
	w1          ····AAAA✱~~~A~╮~AAAAA|
	w2          ··············↳A²AAAA|
	`)
	s.stop("w1", Fenced).pass(2).stop("w2", Done).finish(7).pass(3)
	s.draws(`
	w1     ····AAAA✱~~~A~╮~AAAA⊘·····|
	w2     ··············↳A²AAAAA····|
	`)
	s.explains("A 7 send attempt 2 w2 ended, lost by w1")
}

func TestACutOffWorkerStopsBeforeItsLeaseEnds(t *testing.T) {
	t.Parallel()
	s := tell(t, "w1", "w2").pass(4).claim(7, "w1", 1).begin(7, "w1", 1).pass(4).turn("w1", "partitioned").pass(4)
	s.stop("w1", Stopped).pass(2).claim(7, "w2", 2).begin(7, "w2", 2).pass(2).turn("w1", "idle").pass(3)
	s.draws(`
	w1           ····AAAA≠╌╌╌■░╮╌····|
	w2           ··············↳A²AAA|
	`)
}

func TestPoisonIsSeenToBeginToKillAndToEnd(t *testing.T) {
	t.Parallel()
	s := tell(t, "w1", "w2", "w3").pass(2)
	s.claim(1, "w1", 1).begin(1, "w1", 1).stop("w1", Crashed).turn("w1", "crashed").pass(6)
	s.claim(1, "w2", 2).begin(1, "w2", 2).stop("w2", Crashed).turn("w2", "crashed").pass(6)
	s.claim(1, "w3", 3).begin(1, "w3", 3).stop("w3", Crashed).turn("w3", "crashed").pass(6)
	s.bury(1).finish(1).pass(3)
	s.draws(`
	w1       ··A✗░░░░╮               |
	w2       ········↳A²✗░░╮         |
	w3       ··············↳A³✗░░†   |
	`)
	s.explains("A 1 send attempt 3 w3 dead letter, lost by w2")
}

// A lease that was read before its run ended says nothing of what came after.
func TestOldLeasesDoNotBringRunsBack(t *testing.T) {
	t.Parallel()
	s := tell(t, "w1", "w2").pass(4)
	s.claim(1, "w1", 1).begin(1, "w1", 1)
	s.skip(100*time.Millisecond).stop("w1", Done).see() // its lease is among those read before
	s.finish(1).pass(3)
	if holds := len(s.past) + len(s.open); holds != 1 {
		t.Errorf("%d holds of one run", holds)
	}
	s.begin(2, "w1", 1).pass(1).stop("w1", Back).skip(time.Millisecond).begin(2, "w2", 2)
	s.held[2] = Held{Job: 2, Worker: "w1", Attempt: 1, Expires: s.now.Add(s.lease)}
	s.see()
	delete(s.held, 2)
	s.pass(2)
	s.draws(`
	w1                    ····▂··AA··|
	w2                    ········A²A|
	`)
}

// A job that is to be tried again keeps its letter, though others want one.
func TestAJobThatComesBackKeepsItsLetter(t *testing.T) {
	t.Parallel()
	s := tell(t, "w1", "w2").pass(2)
	s.claim(1, "w1", 1).begin(1, "w1", 1).pass(1).stop("w1", Back).finish(1)
	for i := range int64(100) {
		s.claim(100+i, "w2", 1).begin(100+i, "w2", 1).pass(1)
		if s.jobs[100+i].letter == 0 {
			t.Fatalf("job %d is held and has no letter", 100+i)
		}
		s.stop("w2", Done).finish(100 + i)
		if i%50 == 20 { // it comes back, and fails again
			s.claim(1, "w1", 2+int(i/50)).begin(1, "w1", 2+int(i/50)).pass(1).stop("w1", Back).finish(1)
		}
	}
	if letter := s.jobs[1].letter; letter != 1 {
		t.Errorf("the job that was tried again has letter %d", letter)
	}
}

// However many jobs had a story, one that is held now for a while has a letter.
func TestWhatIsHeldNowHasALetter(t *testing.T) {
	t.Parallel()
	s := tell(t, "w1")
	for i := range int64(60) {
		s.claim(100+i, "w1", 2).pass(1).finish(100 + i)
	}
	s.claim(7, "w1", 1).pass(1)
	if s.jobs[7].letter == 0 {
		t.Error("it has none")
	}
}

// What had the look of silence was silence, though a renewal came after all.
func TestALateRenewalDoesNotUndoTheSilence(t *testing.T) {
	t.Parallel()
	s := tell(t, "w1").pass(4).claim(7, "w1", 1).pass(6)
	s.hung["w1"] = true
	s.pass(5)
	s.draws(`
	w1               ····AAAAAAAA?░░░|
	`)
	s.hung["w1"] = false
	s.pass(4)
	s.draws(`
	w1           ····AAAAAAAA?░░AAAAA|
	`)
}

// A heartbeat that was stalled may renew a lease which its worker has given up.
func TestALeaseWhoseWorkerRunsTheJobNoMoreIsNoWork(t *testing.T) {
	t.Parallel()
	s := tell(t, "w1").pass(4).claim(7, "w1", 1)
	for _, running := range []bool{true, false} {
		h := s.held[7]
		h.Running = running
		s.held[7] = h
		s.pass(4)
	}
	s.draws(`
	w1                  ····AAAA░░░░░|
	`)
}

// While no leases can be read a job is held as far as is known; that its handler is over is
// known, and shown.
func TestARunThatIsOverIsNoWorkThoughItsLeaseIsNotKnownToEnd(t *testing.T) {
	t.Parallel()
	s := tell(t, "w1", "w2").pass(4)
	s.lease = time.Minute
	s.claim(1, "w1", 1).begin(1, "w1", 1).claim(2, "w2", 1).begin(2, "w2", 1).pass(2)
	read := s.now
	s.stop("w1", Done)
	for range 16 { // looks that find the database away
		s.now = s.now.Add(time.Second / 4)
		s.Ran(read, s.runs)
		s.See(s.now, []Held{s.held[1], s.held[2]}, s.workers)
	}
	s.draws(`
	w1                    ····AAA▁▁▁▁|
	w2                    ····BBBBBBB|
	`)
	delete(s.held, 1) // it was written after all; nobody knew that, and the past stays as it was drawn
	s.pass(2)
	s.draws(`
	w1                  ····AAA▁▁▁▁··|
	w2                  ····BBBBBBBBB|
	`)
}

// A run that goes on while the world waits has its letter at once: the picture may stand
// still a moment later. Where there is a crowd, letters go to what lasts.
func TestARunThatGoesOnWhileTheWorldWaitsHasItsLetterAtOnce(t *testing.T) {
	t.Parallel()
	s := tell(t, "w1", "w2")
	s.Brief = 200 * time.Millisecond
	s.pass(4).claim(1, "w1", 1).begin(1, "w1", 1).see()
	if s.jobs[1].letter != 0 {
		t.Error("it has one before it is known to last")
	}
	s.Waits = true
	s.see()
	s.draws(`
	w1                          ····A|
	w2                          ·····|
	`)
	for i := range int64(crowd) {
		s.begin(100+i, "w2", 1).skip(20*time.Millisecond).stop("w2", Done).see()
	}
	s.claim(200, "w2", 1).begin(200, "w2", 1).see()
	if s.jobs[200].letter != 0 {
		t.Error("one of many short runs has a letter")
	}
	s.pass(3)
	if s.jobs[200].letter == 0 {
		t.Error("a run that lasts has none")
	}
}

// Of a job that was not done it is not said that it ended, and those that nobody lost are
// known to be past.
func TestHowAJobEndedIsSaid(t *testing.T) {
	t.Parallel()
	s := tell(t, "w1", "w2", "w3").pass(2)
	for i, end := range []End{Done, Failed, Back} {
		worker := s.workers[i].Name
		s.begin(int64(i+1), worker, 1).pass(2).stop(worker, end).pass(2)
	}
	s.begin(4, "w1", 1).pass(2)
	s.explains("D 4 w1", "C 3 w3 given back", "B 2 w2 failed", "A 1 w1 ended")
	for _, e := range s.Draw(s.now, 30*time.Second, 30, 3).Legend {
		if e.Past != (e.Job != 4) {
			t.Errorf("of job %d it is said that it is past: %v", e.Job, e.Past)
		}
	}
}
