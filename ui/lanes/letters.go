package lanes

import (
	"cmp"
	"slices"
	"time"
)

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// letters gives each job its letter. A letter stands for one job in the whole window:
// it is given again when its job has left that. Where there are more jobs than letters,
// those that ended in the ordinary way do without theirs first.
type letters struct {
	owner [len(alphabet)]*job
	next  int
}

// spell gives letters to the jobs that are due one.
func (r *Recorder) spell(now time.Time) {
	brief := r.Brief
	if brief == 0 {
		brief = 700 * time.Millisecond
	}
	var due []*hold
	for _, h := range r.open {
		h.job.ill = h.job.ill || h.ill(now)
		h.job.story = h.job.story || h.job.ill
		if h.job.letter == 0 && (h.job.story || now.Sub(h.from) >= brief) {
			due = append(due, h)
		}
	}
	slices.SortFunc(due, func(a, b *hold) int { return cmp.Or(a.from.Compare(b.from), cmp.Compare(a.job.id, b.job.id)) })
	for _, h := range due {
		r.letters.give(h.job)
	}
}

// give gives a job the next letter that is free, or else that of a job which can do
// without.
func (s *letters) give(j *job) {
	at := -1
	for i := range alphabet {
		if k := (s.next + i) % len(alphabet); s.owner[k] == nil {
			at = k
			break
		}
	}
	if at < 0 {
		at = s.spare(j.story)
	}
	if at < 0 {
		return
	}
	if before := s.owner[at]; before != nil {
		before.letter = 0
	}
	s.owner[at], j.letter, s.next = j, at+1, (at+1)%len(alphabet)
}

// spare is the letter of the job that is missed least: the one that ended longest ago
// of those that ended as they should; for a story also the one that began last of those
// that go on as they should.
func (s *letters) spare(story bool) int {
	ended, going := -1, -1
	for i, j := range s.owner {
		switch last := j.last; {
		case j.story:
		case !last.to.IsZero():
			if ended < 0 || last.to.Before(s.owner[ended].last.to) {
				ended = i
			}
		case going < 0 || last.from.After(s.owner[going].last.from):
			going = i
		}
	}
	if ended < 0 && story {
		return going
	}
	return ended
}

// free takes the letter of a job that is gone.
func (s *letters) free(j *job) {
	if j.letter > 0 {
		s.owner[j.letter-1], j.letter = nil, 0
	}
}
