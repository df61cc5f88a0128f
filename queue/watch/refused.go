package watch

import "strconv"

// refused judges the jobs that the server refuses to change: each stands still for ever, and
// nothing else shows it.
func (j judge) refused() (list []Finding) {
	for i := range j.Health.Refused {
		r := &j.Health.Refused[i]
		f := Finding{
			Grade: Caution, About: "job " + strconv.FormatInt(r.JobID, 10) + " in " + r.Queue,
			Figure: "the server refuses to " + r.Act + " it, for " + inWords(max(j.now.Sub(r.First), 0)),
			Why:    r.Reason,
			Cure:   "change the row, or the constraint, trigger or policy that refuses it; it is tried again within five minutes, and when the row is changed",
		}
		if r.Detail != "" {
			f.Why += " (" + r.Detail + ")"
		}
		list = append(list, f)
	}
	return list
}
