package watch

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// sound is a State in which all is well.
func sound() *State {
	ok := Link{OK: true, Since: noon.Add(-time.Hour), Heard: noon}
	s := &State{WAL: ok, Notify: ok, Polling: ok, Clock: Clock{Known: true}, Server: Server{Schema: "leasetop", User: "app"}}
	s.Health = Checkup{
		Read: noon, At: noon, Drift: Drift{Checked: noon.Add(-time.Minute), Jobs: 1204},
		Rows:  Rows{Live: 900, Dead: 20, VacuumFrom: 5000, Autovacuumed: noon.Add(-time.Hour), Age: 1000, FreezeFrom: 200_000_000},
		Slots: []Slot{{Name: "leasetop_feed_1", Own: true, Feed: true, Active: true, Held: 3 << 20, Status: "reserved"}},
		Parts: []Part{{Kind: "index", Table: "jobs", Name: "jobs_ready", State: PartFine}},
	}
	return s
}

func TestNothingIsFoundWhereAllIsWell(t *testing.T) {
	t.Parallel()
	for _, f := range sound().Findings(noon) {
		if f.Grade != Fine || f.Figure == "" || f.About == "" || f.Cure != "" || f.Why != "" {
			t.Errorf("%+v", f)
		}
	}
}

// From when on each figure is worth a look, and from when it does harm.
func TestFiguresAreJudged(t *testing.T) {
	t.Parallel()
	own := func(held int64) func(*State) { return func(s *State) { s.Health.Slots[0].Held = held } }
	slot := func(other Slot) func(*State) {
		return func(s *State) { s.Health.Slots = append(s.Health.Slots, other) }
	}
	open := func(one Transaction, age time.Duration) func(*State) {
		return func(s *State) {
			one.Began = noon.Add(-age)
			s.Health.Open = []Transaction{one}
		}
	}
	dead := func(n int64) func(*State) { return func(s *State) { s.Health.Rows.Dead = n } }
	full := func(part float64) func(*State) { return func(s *State) { s.Health.Notifications = part } }
	age := func(n int64) func(*State) { return func(s *State) { s.Health.Rows.Age = n } }
	writer := Transaction{PID: 7, User: "ann", Database: "shop", Here: true, State: "active", Writes: true}
	reader := Transaction{PID: 7, User: "ann", Database: "shop", Here: true, State: "active", Looks: true}
	elsewhere := Transaction{PID: 7, User: "ann", Database: "crm", State: "active", Writes: true, Looks: true}
	for _, c := range []struct {
		name    string
		prepare func(*State)
		grade   Grade
		about   string
		figure  string
	}{
		{"stream down", func(s *State) { s.WAL = Link{Since: noon.Add(-time.Minute), Reason: "why"} }, Caution, "WAL stream", "down for 1m"},
		{"stream not asked for", func(s *State) { s.WAL = Link{Since: noon, Reason: switchedOff} }, Hidden, "WAL stream", "switched off"},
		{"stream attaching", func(s *State) { s.WAL = Link{Attaching: true, Since: noon.Add(-3 * time.Second), Reason: "how far"} }, Hidden, "WAL stream", "in the making for 3s"},
		{"poll down", func(s *State) { s.Polling = Link{Since: noon.Add(-time.Minute), Reason: "why"} }, Danger, "poll", "down for 1m"},
		{"stream in time", func(s *State) { s.WAL.Lag = 940 * time.Millisecond }, Fine, "WAL stream", "under 1s behind"},
		{"stream late", func(s *State) { s.WAL.Lag = 3 * time.Second }, Caution, "WAL stream", "3s behind"},
		{"never compared", func(s *State) { s.Health.Drift = Drift{} }, Hidden, "counts", "not compared yet"},
		{"no drift", func(*State) {}, Fine, "counts", "0 figures off, 1,204 jobs compared, 1m ago"},
		{"drift", func(s *State) { s.Health.Drift.Off = 3 }, Caution, "counts", "3 figures off, 1,204 jobs compared, 1m ago"},
		{"compared in vain", func(s *State) { s.Health.Drift.Reason = "no slot" }, Hidden, "counts", "0 figures off, 1,204 jobs compared, 1m ago"},
		{"clocks apart", func(s *State) { s.Clock.Skew = 120 * time.Millisecond }, Fine, "clocks", "the database is 120ms ahead of here"},
		{"clocks far apart", func(s *State) { s.Clock.Skew = -5 * time.Second }, Caution, "clocks", "the database is 5s behind here"},
		{"clock not read", func(s *State) { s.Clock = Clock{} }, Hidden, "clocks", "not known yet"},
		{"WAL held", own(255 << 20), Fine, "WAL held for this feed", "255 MB"},
		{"much WAL held", own(256 << 20), Caution, "WAL held for this feed", "256 MB"},
		{"too much WAL held", own(4 << 30), Danger, "WAL held for this feed", "4.0 GB"},
		{"a slot soon lost", func(s *State) { s.Health.Slots[0].Status = "unreserved" }, Danger, "WAL held for this feed", "3 MB"},
		{"another dashboard's", slot(Slot{Name: "leasetop_feed_2", Feed: true, Active: true, Held: 300 << 20}), Caution, "replication slot leasetop_feed_2", "300 MB"},
		{"a replica's", slot(Slot{Name: "replica", Active: true, Held: 300 << 20}), Fine, "WAL held for others", "300 MB at most, by 1 slot"},
		{"nobody's", slot(Slot{Name: "left", Held: 300 << 20}), Caution, "replication slot left", "300 MB"},
		{"lost", slot(Slot{Name: "left", Status: "lost"}), Fine, "WAL held for others", "under 1 MB at most, by 1 slot"},
		{"writing", open(writer, 299*time.Second), Fine, "open transactions", `the oldest for 4m59s, process 7 (user ann, database shop), active`},
		{"writing for long", open(writer, 5*time.Minute), Caution, "open transaction", "open for 5m"},
		{"reading for too long", open(reader, time.Hour), Danger, "open transaction", "open for 1h"},
		{"writing elsewhere for long", open(elsewhere, 5*time.Minute), Caution, "transaction elsewhere", "open for 5m"},
		{"holding nothing", open(Transaction{PID: 7, Here: true, State: "idle in transaction"}, time.Hour), Fine, "open transactions", "none older than 10s"},
		{"reading elsewhere", open(Transaction{PID: 7, Looks: true}, time.Hour), Fine, "open transactions", "none older than 10s"},
		{"prepared", open(Transaction{Name: "x", State: "prepared", Writes: true, Looks: true}, time.Hour), Danger, "prepared transaction", "open for 1h"},
		{"sessions not seen", func(s *State) { s.Health.Hidden = 3 }, Hidden, "transactions of others", "3 sessions not seen"},
		{"a short wait for the table", func(s *State) {
			s.Health.Waiting = Waiting{Sessions: 2, Since: noon.Add(-time.Second), Behind: writer}
		}, Fine, "wait for the table", "2 sessions, for 1s"},
		{"a wait for the table", func(s *State) {
			s.Health.Waiting = Waiting{Sessions: 1, Since: noon.Add(-10 * time.Second), Behind: Transaction{}}
		}, Danger, "wait for the table", "1 session, for 10s"},
		{"notifications", full(0.099), Fine, "notification queue", "10 % full"},
		{"many notifications", full(0.1), Caution, "notification queue", "10 % full"},
		{"too many notifications", full(0.5), Danger, "notification queue", "50 % full"},
		{"dead rows", dead(499_999), Fine, "dead rows", "499k beside 900 live, autovacuum 1h ago"},
		{"many dead rows", dead(500_000), Caution, "dead rows", "500k beside 900 live, autovacuum 1h ago"},
		{"too many dead rows", dead(5_000_000), Danger, "dead rows", "5.0M beside 900 live, autovacuum 1h ago"},
		{"vacuum overdue", func(s *State) { s.Health.Rows.Dead, s.Health.Rows.Overdue = 6000, noon.Add(-10*time.Minute) }, Caution, "dead rows", "6,000 beside 900 live, autovacuum 1h ago"},
		{"vacuum soon", func(s *State) { s.Health.Rows.Dead, s.Health.Rows.Overdue = 6000, noon.Add(-9*time.Minute) }, Fine, "dead rows", "6,000 beside 900 live, autovacuum 1h ago"},
		{"vacuum by hand", func(s *State) { s.Health.Rows.Vacuumed = noon.Add(-time.Minute) }, Fine, "dead rows", "20 beside 900 live, vacuum 1m ago"},
		{"never vacuumed", func(s *State) { s.Health.Rows.Autovacuumed = time.Time{} }, Fine, "dead rows", "20 beside 900 live, never vacuumed"},
		{"rows not counted", func(s *State) { s.Health.Rows.Uncounted = true }, Danger, "dead rows", "not counted"},
		{"no autovacuum", func(s *State) { s.Health.Rows.ServerOff = true }, Caution, "autovacuum", "off on this server"},
		{"frozen in time", age(399_000_000), Fine, "age of the oldest row", "399M transactions; vacuum comes at 200M"},
		{"frozen late", age(400_000_000), Caution, "age of the oldest row", "400M transactions; vacuum comes at 200M"},
		{"nearly at the end", age(1_600_000_000), Danger, "age of the oldest row", "1,600M transactions; vacuum comes at 200M"},
		{"index in the making", func(s *State) { s.Health.Parts[0].State = PartBuilding }, Caution, "index jobs_ready", "building"},
		{"before the first checkup", func(s *State) { s.Health = Checkup{} }, Hidden, "the rest", "not known yet"},
		{"checkup of a while ago", func(s *State) { s.Health.At, s.Health.Reason = noon.Add(-time.Minute), "why" }, Hidden, "checkup", "none since 1m ago"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := sound()
			c.prepare(s)
			all := s.Findings(noon)
			i := slices.IndexFunc(all, func(f Finding) bool { return strings.HasPrefix(f.About, c.about) })
			if i < 0 {
				t.Fatalf("nothing about %s in %+v", c.about, all)
			}
			f := all[i]
			if f.Grade != c.grade || f.Figure != c.figure {
				t.Errorf("%s: %q, want %s: %q", f.Grade, f.Figure, c.grade, c.figure)
			}
			if f.Grade > Hidden && (f.Why == "" || f.Cure == "" && f.Source == Unknown) {
				t.Errorf("what to make of it? %+v", f)
			}
		})
	}
}

func TestWorstFindingsComeFirst(t *testing.T) {
	t.Parallel()
	s := sound()
	s.Health.Notifications, s.Health.Hidden, s.Polling.OK = 0.2, 1, false
	var grades []Grade
	for _, f := range s.Findings(noon) {
		grades = append(grades, f.Grade)
	}
	if grades[0] != Danger || grades[1] != Caution || grades[2] != Hidden || !slices.IsSortedFunc(grades, func(a, b Grade) int { return int(b - a) }) {
		t.Errorf("%v", grades)
	}
}

// A full notification queue names whoever most likely fills it, or how to learn that.
func TestWhoFillsTheNotificationQueue(t *testing.T) {
	t.Parallel()
	s := sound()
	s.Health.Notifications = 0.2
	s.Health.Open = []Transaction{
		{Name: "prepared ones listen to nothing", Began: noon.Add(-time.Hour), Writes: true},
		{PID: 11, Name: "bot", User: "ann", Database: "shop", State: "idle in transaction", Began: noon.Add(-time.Minute)},
	}
	why := func() Finding {
		all := s.Findings(noon)
		return all[slices.IndexFunc(all, func(f Finding) bool { return f.About == "notification queue" })]
	}
	if f := why(); !strings.HasSuffix(f.Why, `the oldest, open for 1m: process 11 ("bot", user ann, database shop), idle in transaction`) || !strings.Contains(f.Cure, "pg_terminate_backend(11)") {
		t.Errorf("%+v", f)
	}
	s.Health.Open, s.Health.Hidden = nil, 2
	if f := why(); !strings.HasSuffix(f.Cure, "GRANT pg_read_all_stats TO app") {
		t.Errorf("%+v", f)
	}
	s.Health.Hidden = 0
	if f := why(); !strings.Contains(f.Cure, "pg_stat_activity") {
		t.Errorf("%+v", f)
	}
}

// Dead rows are overdue from when this feed saw too many, until a vacuum.
func TestOverdueBeginsAnewWithEachVacuum(t *testing.T) {
	t.Parallel()
	at := func(minute int, dead int64, vacuumed int) *Checkup {
		c := &Checkup{At: noon.Add(time.Duration(minute) * time.Minute)}
		c.Rows = Rows{Dead: dead, VacuumFrom: 5000, Autovacuumed: noon.Add(time.Duration(vacuumed) * time.Minute)}
		return c
	}
	var before Rows
	for i, c := range []struct {
		seen *Checkup
		want time.Time
	}{
		{at(0, 10, -9), time.Time{}},
		{at(1, 5000, -9), noon.Add(time.Minute)},
		{at(2, 7000, -9), noon.Add(time.Minute)},
		{at(3, 7000, 3), noon.Add(3 * time.Minute)}, // it came, and could remove nothing
		{at(4, 7000, 3), noon.Add(3 * time.Minute)},
		{at(5, 4999, 5), time.Time{}},
	} {
		before.Overdue = overdue(before, c.seen)
		if !before.Overdue.Equal(c.want) {
			t.Errorf("%d: overdue since %v, want %v", i, before.Overdue, c.want)
		}
		before.Autovacuumed = c.seen.Rows.Autovacuumed
	}
}
