package watch

import "fmt"

// waiting judges the wait for the table itself.
func (j judge) waiting() []Finding {
	w := j.Health.Waiting
	if w.Sessions == 0 || w.Since.IsZero() {
		return nil
	}
	long := j.now.Sub(w.Since)
	f := Finding{
		Grade: grade(long, waitLong, waitTooLong), About: "wait for the table", Figure: manyOf(w.Sessions, "session") + ", for " + inWords(long),
	}
	if f.Grade == Fine {
		return []Finding{f}
	}
	f.Why = "one wants the table alone, as DROP INDEX and ALTER TABLE do, and all that come later, claims too, wait behind it; it waits for "
	if w.Behind.PID == 0 {
		f.Why += "a prepared transaction"
		f.Cure = "COMMIT PREPARED or ROLLBACK PREPARED the one of pg_prepared_xacts, or end whoever wants the table"
		return []Finding{f}
	}
	f.Why += w.Behind.who()
	f.Cure = w.Behind.end()
	return []Finding{f}
}

// open judges the open transactions, each that is old by itself.
func (j judge) open() (list []Finding) {
	var oldest *Transaction
	for i := range j.Health.Open {
		t := &j.Health.Open[i]
		if t.holds() == "" {
			continue
		}
		if oldest == nil {
			oldest = t
		}
		age := j.now.Sub(t.Began)
		if g := grade(age, openLong, openTooLong); g > Fine {
			list = append(list, Finding{
				Grade: g, About: t.kind(), Figure: "open for " + inWords(age),
				Why: t.who() + ": " + t.holds(), Cure: t.end(),
			})
		}
	}
	if len(list) == 0 {
		f := Finding{About: "open transactions", Figure: "none older than " + inWords(openMoment)}
		if oldest != nil && j.now.Sub(oldest.Began) > openMoment {
			f.Figure = "the oldest for " + inWords(j.now.Sub(oldest.Began)) + ", " + oldest.who()
		}
		list = append(list, f)
	}
	if n := j.Health.Hidden; n > 0 {
		list = append(list, Finding{
			Grade: Hidden, About: "transactions of others", Figure: manyOf(n, "session") + " not seen",
			Why:  "whatever is held up by them goes unexplained",
			Cure: "GRANT pg_read_all_stats TO " + identifier(j.Server.User),
		})
	}
	return list
}

// holds is what an open transaction holds up; "" nothing.
func (t *Transaction) holds() string {
	switch {
	case t.Here && t.Writes:
		return "what died since it began cannot be vacuumed, and new streams wait for its end"
	case t.Here && t.Looks:
		return "what died since it began cannot be vacuumed"
	case t.Writes:
		return "the write-ahead log since it began is kept for the stream, and new streams wait for its end"
	}
	return ""
}

func (t *Transaction) kind() string {
	switch {
	case t.PID == 0:
		return "prepared transaction"
	case t.Here:
		return "open transaction"
	}
	return "transaction elsewhere"
}

// who names a transaction so that it can be found.
func (t *Transaction) who() string {
	if t.PID == 0 {
		return fmt.Sprintf("%q of user %s in database %s", t.Name, t.User, t.Database)
	}
	name := ""
	if t.Name != "" {
		name = fmt.Sprintf("%q, ", t.Name)
	}
	return fmt.Sprintf("process %d (%suser %s, database %s), %s", t.PID, name, t.User, t.Database, t.State)
}

// end is how to end it.
func (t *Transaction) end() string {
	if t.PID == 0 {
		return fmt.Sprintf("in database %s: COMMIT PREPARED %[2]s, or ROLLBACK PREPARED %[2]s", t.Database, literal(t.Name))
	}
	return fmt.Sprintf("end it there, or SELECT pg_terminate_backend(%d)", t.PID)
}

// held judges how much of the write-ahead log slots hold: ours, those of other
// dashboards, and any that nobody reads.
func (j judge) held() (list []Finding) {
	others, most, told := 0, int64(0), false
	for _, s := range j.Health.Slots {
		f := Finding{Figure: size(s.Held), Grade: grade(s.Held, heldMuch, heldTooMuch)}
		if s.Status == "unreserved" {
			f.Grade = Danger
		}
		switch {
		case s.Own && s.Active:
			f.About = "WAL held for this feed"
			f.Why, f.Cure = "the server keeps it until the stream has read it and the write transactions in it have ended", "end the oldest of those; a feed that lags: close it"
			if f.Grade == Fine {
				f.Why, f.Cure = "", ""
			}
			list = append(list, f)
			continue
		case s.Own: // of a connection lost just now: it goes with that
			continue
		}
		others, most = others+1, max(most, s.Held)
		switch {
		case f.Grade == Fine:
			continue
		case s.Feed:
			f.Why = fmt.Sprintf("another leasetop, of process %d on the server, lags or waits for a write transaction: its WAL fills the disk", s.PID)
			f.Cure = "close that dashboard"
		case s.Active: // a replica, or a stream of somebody else's, and its business
			continue
		default:
			f.Why = "nobody reads it, and its WAL fills the disk until somebody does"
			f.Cure = "start its reader or, if nobody needs it, SELECT pg_drop_replication_slot(" + literal(s.Name) + ")"
		}
		f.About = "replication slot " + s.Name
		list, told = append(list, f), true
	}
	if others > 0 && !told {
		list = append(list, Finding{About: "WAL held for others", Figure: size(most) + " at most, by " + manyOf(others, "slot")})
	}
	return list
}

// notifications judges the queue through which all signals of the server go. Nobody
// can ask which sessions listen; but what keeps it full is one that listens and is in
// a transaction since before the oldest signal in it: most likely the oldest there is.
func (j judge) notifications() []Finding {
	usage := j.Health.Notifications
	f := Finding{About: "notification queue", Figure: percent(usage) + " full", Grade: grade(usage, notificationsMany, notificationsTooMany)}
	if f.Grade == Fine {
		return []Finding{f}
	}
	f.Why = "a session that listens is in a transaction and hears nothing; from 90 % on no signals are sent, and a full queue fails every commit that sends one"
	var suspect *Transaction
	for i := range j.Health.Open {
		if t := &j.Health.Open[i]; t.PID != 0 && (suspect == nil || t.Began.Before(suspect.Began)) {
			suspect = t
		}
	}
	switch {
	case suspect != nil && j.now.Sub(suspect.Began) > openMoment:
		f.Why += "; most likely it is the oldest, open for " + inWords(j.now.Sub(suspect.Began)) + ": " + suspect.who()
		f.Cure = suspect.end()
	case j.Health.Hidden > 0:
		f.Cure = "it is a session that this role may not see: GRANT pg_read_all_stats TO " + identifier(j.Server.User)
	default:
		f.Cure = "end the oldest transaction whose session listens (pg_stat_activity)"
	}
	return []Finding{f}
}
