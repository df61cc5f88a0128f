package lanes

import (
	"testing"
)

// did has a worker do so many jobs between two looks.
func (s *story) did(worker string, jobs uint64) *story {
	for i := range s.workers {
		if s.workers[i].Name == worker {
			s.workers[i].Done += jobs
		}
	}
	return s
}

func TestWhatIsDoneBetweenTwoLooksIsSeen(t *testing.T) {
	t.Parallel()
	s := tell(t, "w1", "w2")
	s.workers[1].Slots = 2
	s.pass(3).did("w1", 1).pass(2)
	for range 4 * 3 {
		s.did("w1", 2).did("w2", 1).pass(0.25)
	}
	s.pass(2)
	s.draws(`
	w1                    ···▂·▂▂▂···|
	w2                    ·····▂▂▂···|
	w2                    ···········|
	`)
}

// A job that was held when somebody looked is drawn as that, and as nothing else: whether
// its worker tells that it is done before its lease is gone, or after.
func TestWhatWasSeenIsNotDrawnTwice(t *testing.T) {
	t.Parallel()
	for name, lag := range map[string]int{"at once": 0, "the worker first": -1, "the lease first": 1} {
		s := tell(t, "w1")
		s.pass(3)
		for job := range int64(4) {
			s.claim(1+job, "w1", 1).pass(1)
			switch lag {
			case -1:
				s.did("w1", 1).pass(0.25).finish(1 + job)
			case 0:
				s.did("w1", 1).finish(1 + job)
			case 1:
				s.finish(1+job).did("w1", 1)
			}
			s.pass(1)
		}
		if unseen := s.lanes["w1"].unseen; len(unseen) != 0 {
			t.Errorf("%s: %d jobs seem to be unseen", name, len(unseen))
		}
	}
}

// An end without an outcome, as of a job that was given back, hides no more than what
// comes at the same time.
func TestAnEndWithoutAnOutcomeHidesNothingLater(t *testing.T) {
	t.Parallel()
	s := tell(t, "w1").pass(3)
	for job := range int64(3) {
		s.claim(1+job, "w1", 1).pass(0.5).finish(1 + job).pass(0.5)
	}
	s.pass(1).did("w1", 1).pass(0.25)
	if unseen := s.lanes["w1"].unseen; len(unseen) != 1 {
		t.Errorf("%d times something was done unseen, not once", len(unseen))
	}
}

// Of a worker that was started anew nothing is made up.
func TestACountThatBeginsAnewSaysNothing(t *testing.T) {
	t.Parallel()
	s := tell(t, "w1").did("w1", 100).pass(2)
	s.workers[0].Done = 3
	s.pass(2)
	s.workers[0].State = "stopped"
	s.pass(1)
	if unseen := s.lanes["w1"].unseen; len(unseen) != 1 { // the hundred
		t.Errorf("%d times something was done unseen, not once", len(unseen))
	}
	for range 4 * unseenMost {
		s.did("w1", 1).pass(0.25).pass(1.5)
	}
	if n := len(s.lanes["w1"].unseen); n > unseenMost {
		t.Errorf("it keeps %d", n)
	}
}
