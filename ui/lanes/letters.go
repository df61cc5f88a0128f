package lanes

import (
	"cmp"
	"slices"
	"time"
)

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// letters gives each job its letter. A letter stands for one job in the whole window:
// it is given again when its job has left that. Where there are more jobs than letters,
// those do without that are over: first the ordinary ones. A job that comes back keeps its
// own, and so does one that is held.
type letters struct {
	owner [len(alphabet)]*job
	next  int
}

// crowd is how many jobs that want a letter at once are so many that it goes only to those
// that take longer, and to those that somebody lost: else each letter would be another
// job's every few seconds.
const crowd = 10

// want counts the jobs that want a letter, or did a moment ago.
func (r *Recorder) want(now time.Time, brief time.Duration) int {
	n := len(r.open)
	for _, h := range slices.Backward(r.past) {
		if now.Sub(h.to) > lately {
			break
		}
		if h.to.Sub(h.from) >= brief {
			n++
		}
	}
	return n
}

// few tells whether jobs that are held, or were a moment ago, however briefly, are no crowd.
func (r *Recorder) few(now time.Time) bool {
	n := len(r.open)
	for _, h := range slices.Backward(r.past) {
		if n >= crowd || now.Sub(h.to) > lately {
			break
		}
		n++
	}
	return n < crowd
}

// lately is how long ago a moment is at most.
const lately = 2 * time.Second

// spell gives letters to the jobs that are due one.
func (r *Recorder) spell(now time.Time) {
	brief := r.Brief
	if brief == 0 {
		brief = 700 * time.Millisecond
	}
	times := max(r.want(now, brief)/crowd, 1)
	brief *= time.Duration(times)
	lasts := r.Waits && r.few(now)                                      // what goes on does
	tale := func(j *job) bool { return j.ill || j.story && times == 1 } // has a letter however short it is
	var due []*hold
	for _, h := range r.open {
		h.job.ill = h.job.ill || h.ill(now)
		h.job.story = h.job.story || h.job.ill
		if h.job.letter == 0 && (tale(h.job) || h.lasts(now) >= brief || lasts && h.runs()) {
			due = append(due, h)
		}
	}
	for _, h := range r.fresh { // those that are over already
		if h.job.letter == 0 && tale(h.job) && r.open[h.job.id] != h {
			due = append(due, h)
		}
	}
	slices.SortFunc(due, func(a, b *hold) int { return cmp.Or(a.from.Compare(b.from), cmp.Compare(a.job.id, b.job.id)) })
	for _, h := range due {
		if h.job.letter == 0 {
			r.letters.give(h.job, now, r.span)
		}
	}
	for _, h := range r.fresh {
		h.letter = h.job.letter
	}
	for _, h := range r.open {
		h.letter = h.job.letter
	}
	r.fresh = nil
}

// lettered is the letter that a hold is drawn with; 0 is none. What was over before its job
// had one stays without: the past is not drawn anew.
func (h *hold) lettered() int {
	if h.letter != h.job.letter {
		return 0
	}
	return h.letter
}

// give gives a job the next letter that is free, or else that of a job which can do
// without.
func (s *letters) give(j *job, now time.Time, span time.Duration) {
	at := -1
	for i := range alphabet {
		if k := (s.next + i) % len(alphabet); s.owner[k] == nil {
			at = k
			break
		}
	}
	if at < 0 {
		at = s.spare(j, now, span)
	}
	if at < 0 {
		return
	}
	if before := s.owner[at]; before != nil {
		before.letter = 0
	}
	s.owner[at], j.letter, s.next = j, at+1, (at+1)%len(alphabet)
}

// mayReturn is how long a job that was lost, or failed, is expected back.
const mayReturn = time.Minute

// spare is the letter of the job that is missed least: of those that are over, the one
// whose end is longest ago, without a story if there are such; for a story also the one
// that began last of those without that go on. What is in sight loses its letter only to a
// job whose holder is not well.
func (s *letters) spare(due *job, now time.Time, span time.Duration) int {
	const (
		ended = iota
		told
		going
		no
	)
	at, best := -1, no
	for i, j := range s.owner {
		rank, last := ended, j.last
		switch {
		case last.to.IsZero() && (j.story || !due.story):
			continue
		case !due.ill && (last.to.IsZero() || now.Sub(last.to) < span):
			continue // it would vanish from what is in sight
		case last.to.IsZero():
			rank = going
		case (j.back || last.lost) && last.run.Dead.IsZero() && now.Sub(last.to) < mayReturn:
			continue
		case j.story:
			rank = told
		}
		switch {
		case rank > best:
			continue
		case rank == best && rank == going && !last.from.After(s.owner[at].last.from):
			continue
		case rank == best && rank != going && !last.to.Before(s.owner[at].last.to):
			continue
		}
		at, best = i, rank
	}
	return at
}

// free takes the letter of a job that is gone.
func (s *letters) free(j *job) {
	if j.letter > 0 {
		s.owner[j.letter-1], j.letter = nil, 0
	}
}
