package watch

import "fmt"

// dead judges the dead rows of the table.
func (j judge) dead() []Finding {
	r := j.Health.Rows
	f := Finding{About: "dead rows"}
	switch {
	case r.Standby:
		f.Grade, f.Figure = Hidden, "counted on the primary only"
		return []Finding{f}
	case r.Uncounted:
		f.Grade, f.Figure = Danger, "not counted"
		f.Why, f.Cure = "without counts autovacuum never comes, and every claim walks past what died", "ALTER SYSTEM SET track_counts = on, then SELECT pg_reload_conf()"
		return []Finding{f}
	}
	last, newest := "never vacuumed", r.Autovacuumed
	if !newest.IsZero() {
		last = "autovacuum " + inWords(j.now.Sub(newest)) + " ago"
	}
	if r.Vacuumed.After(newest) {
		newest = r.Vacuumed
		last = "vacuum " + inWords(j.now.Sub(newest)) + " ago"
	}
	f.Figure = fmt.Sprintf("%s beside %s live, %s", rounded(r.Dead), rounded(r.Live), last)
	f.Grade = grade(r.Dead, deadMany*max(r.VacuumFrom, 1), deadTooMany*max(r.VacuumFrom, 1))
	if !r.Overdue.IsZero() && j.now.Sub(r.Overdue) >= vacuumLate {
		f.Grade = max(f.Grade, Caution)
	}
	if f.Grade > Fine {
		f.Why = "every claim walks past the dead rows at the head of its queue; autovacuum should come at " + rounded(r.VacuumFrom)
		f.Cure = "end old transactions, which keep vacuum from removing anything; then VACUUM " + j.table("jobs")
	}
	return []Finding{f}
}

// vacuum judges whether dead rows are removed at all.
func (j judge) vacuum() []Finding {
	f := Finding{About: "autovacuum", Figure: "on"}
	switch r := j.Health.Rows; {
	case r.ServerOff:
		f.Cure = "ALTER SYSTEM SET autovacuum = on, then SELECT pg_reload_conf()"
		f.Figure = "off on this server"
	case r.TableOff:
		f.Cure = "ALTER TABLE " + j.table("jobs") + " SET (autovacuum_enabled = on)"
		f.Figure = "off for the jobs table"
	default:
		return []Finding{f}
	}
	f.Grade, f.Why = Caution, "nobody removes dead rows: claims grow slower by the hour, and the table larger"
	return []Finding{f}
}

// age judges how far the table is from the end of transaction ids.
func (j judge) age() []Finding {
	r := j.Health.Rows
	f := Finding{
		About: "age of the oldest row", Figure: rounded(r.Age) + " transactions; vacuum comes at " + rounded(r.FreezeFrom),
		Grade: grade(r.Age, min(ageMuch*r.FreezeFrom, ageTooMuch), ageTooMuch),
	}
	if f.Grade > Fine {
		f.Why = "the vacuum that comes at that age did not succeed; at two billion the server takes no more writes"
		f.Cure = "end old transactions and slots, then VACUUM (FREEZE) " + j.table("jobs")
	}
	return []Finding{f}
}

func (j judge) table(name string) string { return j.Server.Schema + "." + name }
