package faults

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/sql/local/testdb"
	"github.com/leasetop/leasetop/workers"
)

// target is a crew with all that can be broken of it but its server.
func target(t testing.TB) (Target, *Damage) {
	t.Helper()
	q, _ := open(t)
	cable, outside := NewCable(), NewDependency(1)
	own, end, err := cable.Open(t.Context(), q, 4, "leasetop workers of a test "+t.Name()[max(0, len(t.Name())-20):])
	if err != nil {
		t.Fatal(err)
	}
	var c *Crew
	h := workers.NewHandlers()
	Poison(h, func(job *queue.Job) { KillWorker(c.Pool, job) })
	if c, err = NewCrew(own, h, "poisoned", workers.Options{Lease: time.Second, Grace: time.Second}); err != nil {
		t.Fatal(err)
	}
	if err := c.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if _, err := c.Spawn([]string{"q"}, 1); err != nil {
			t.Fatal(err)
		}
	}
	target := Target{
		Queue: q, Crew: c, Cable: cable, Dependency: outside, Poisoned: "q",
		Jobs: func(n int) []queue.NewJob { return slices.Repeat([]queue.NewJob{{Queue: "elsewhere"}}, n) },
	}
	d := NewDamage(target)
	t.Cleanup(func() {
		if err := d.Close(t.Context()); err != nil && t.Context().Err() == nil {
			t.Error(err)
		}
		cable.Heal()
		_ = c.Stop(t.Context())
		end()
	})
	return target, d
}

func why(t testing.TB, d *Damage, fault, worker string) string {
	t.Helper()
	for _, c := range d.Choices(t.Context(), worker) {
		if c.Name == fault {
			return c.Why
		}
	}
	t.Fatalf("there is no fault %q", fault)
	return ""
}

// begin does a fault, which is broken then.
func begin(t testing.TB, d *Damage, fault string) {
	t.Helper()
	if _, err := d.Start(t.Context(), fault, ""); err != nil {
		t.Fatal(err)
	}
	if all := d.Broken(); len(all) == 0 || all[len(all)-1].Name != fault || all[len(all)-1].Since.IsZero() {
		t.Fatalf("%s was done, and %+v is broken", fault, all)
	}
}

func heal(t testing.TB, d *Damage) {
	t.Helper()
	if _, err := d.Heal(t.Context()); err != nil {
		t.Fatal(err)
	}
	if all := d.Broken(); len(all) != 0 {
		t.Fatalf("after healing %+v is broken", all)
	}
}

func TestEveryFaultOfTheCatalogueSaysWhatItIs(t *testing.T) {
	t.Parallel()
	names := map[string]bool{}
	for _, f := range All() {
		if f.Name == "" || names[f.Name] || f.Title == "" || f.start == nil {
			t.Errorf("%+v", f)
		}
		names[f.Name] = true
		if n := len([]rune(f.What)); n < 60 || n > 200 {
			t.Errorf("%s is told in %d characters", f.Name, n)
		}
	}
	if len(names) < 19 {
		t.Errorf("there are %d", len(names))
	}
}

func TestFaultsAreRefusedWithTheReason(t *testing.T) {
	t.Parallel()
	_, d := target(t)
	for fault, reason := range map[string]string{
		"crash": "no worker under the cursor", "kill-9": "no worker under the cursor", "restart": "only the private server", "partition": "",
		"naive": "", "index": "",
	} {
		if got := why(t, d, fault, ""); !strings.Contains(got, reason) || (reason == "") != (got == "") {
			t.Errorf("%s: %q", fault, got)
		}
	}
	if got := why(t, d, "kill-9", "w1"); !strings.Contains(got, "w1 is no process of its own") {
		t.Errorf("kill -9 of w1: %q", got)
	}
	begin(t, d, "slow-network")
	if got := why(t, d, "partition", ""); got != "slow network comes first: H heals it" {
		t.Errorf("a partition of a slow network: %q", got)
	}
	if _, err := d.Start(t.Context(), "slow-network", ""); err == nil {
		t.Error("it was done twice")
	}
	if _, err := d.Start(t.Context(), "nonsense", ""); err == nil {
		t.Error("nonsense was done")
	}
}

func TestNobodysWorkersAndNobodysDatabaseAreBrokenByADashboardThatOnlyWatches(t *testing.T) {
	t.Parallel()
	url := testdb.New(t)
	q := openThrough(t, url, nil)
	run(t, q, "ALTER DATABASE "+configOf(t, url).Database+" SET leasetop.demonstration = off")
	q = openThrough(t, url, nil)
	d := NewDamage(Target{Queue: q})
	for _, c := range d.Choices(t.Context(), "") {
		if c.Why == "" {
			t.Errorf("%s can be done", c.Name)
		}
		if c.Database && !strings.Contains(c.Why, "is not marked for demonstrations") {
			t.Errorf("%s: %q", c.Name, c.Why)
		}
	}
	if _, err := d.Start(t.Context(), "index", ""); err == nil {
		t.Error("the index of somebody's database was dropped")
	}
	if err := d.Look(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestFaultsOfTheNetworkAreHealed(t *testing.T) {
	t.Parallel()
	target, d := target(t)
	for fault, state := range map[string]string{"partition": "stalled", "cut": "cut", "slow-network": "late by 200ms"} {
		begin(t, d, fault)
		if got := target.Cable.String(); got != state {
			t.Errorf("after %s the cable is %s", fault, got)
		}
		heal(t, d)
		if got := target.Cable.String(); got != "flowing" {
			t.Errorf("healed of %s the cable is %s", fault, got)
		}
	}
	if healed, err := d.Heal(t.Context()); err != nil || len(healed) != 0 {
		t.Errorf("there was nothing to heal, but %v, %v", healed, err)
	}
}

func TestFaultsOfTheDependencyAreHealed(t *testing.T) {
	t.Parallel()
	target, d := target(t)
	begin(t, d, "failing-dependency")
	failed := 0
	for range 50 {
		if errors.Is(target.Dependency.Call(t.Context()), ErrDependency) {
			failed++
		}
	}
	if text := d.Broken()[0].Text; failed < 25 || failed > 49 || !strings.HasSuffix(text, "of 50 calls failed") {
		t.Errorf("%d calls failed: %q", failed, text)
	}
	heal(t, d)
	if err := target.Dependency.Call(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestFaultsThatAreOverAtOnceLeaveNothingBroken(t *testing.T) {
	t.Parallel()
	target, d := target(t)
	until(t, target.Queue, "SELECT count(*) > 0 FROM pg_stat_activity WHERE datname = current_database() AND application_name = $1",
		workers.ListenerName(target.Crew.AppNames()[0]))
	for _, one := range []struct{ fault, worker, did string }{
		{"listen", "", "ended 1 of the sessions"},
		{"burst", "", "enqueued 1000 jobs"},
		{"poison-permanent", "", "enqueued poison: job "},
		{"poison-panic", "", "enqueued poison: job "},
		{"freeze", "w1", "froze w1"},
		{"crash", "w2", "killed w2"},
	} {
		if one.fault == "freeze" { // or it would be in the middle of a poison
			until(t, target.Queue, "SELECT count(*) = 2 FROM leasetop.jobs WHERE queue = 'q' AND status = 'dead' AND attempts = 1")
		}
		did, err := d.Start(t.Context(), one.fault, one.worker)
		if err != nil || !strings.Contains(did, one.did) {
			t.Errorf("%s: %q, %v", one.fault, did, err)
		}
		if all := d.Broken(); len(all) != 0 {
			t.Errorf("after %s %+v is broken", one.fault, all)
		}
	}
}

func TestPoisonTakesTwoWorkersDownAndNoThird(t *testing.T) {
	t.Parallel()
	target, d := target(t)
	if _, err := d.Start(t.Context(), "poison-killer", ""); err != nil {
		t.Fatal(err)
	}
	until(t, target.Queue, "SELECT count(*) = 1 FROM leasetop.jobs WHERE queue = 'q' AND status = 'dead' AND attempts = 2")
	crashed := 0
	for _, w := range target.Crew.Workers() {
		if w.State == workers.Crashed {
			crashed++
		}
	}
	if crashed != 2 {
		t.Errorf("%d workers crashed", crashed)
	}
}

// Built last, the index would wait for the transaction that nobody ended.
func TestIndexAndLongTransactionAreHealedTogether(t *testing.T) {
	t.Parallel()
	target, d := target(t)
	before := value[string](t, target.Queue, readyIndex)
	begin(t, d, "long-transaction")
	begin(t, d, "index")
	if now := value[string](t, target.Queue, readyIndex); now != "" {
		t.Fatalf("the index is there: %s", now)
	}
	heal(t, d)
	if now := value[string](t, target.Queue, readyIndex); now != before {
		t.Errorf("the index is %q, was %q", now, before)
	}
}

func TestWhatAKilledProgramLeftBrokenIsFoundAndHealed(t *testing.T) {
	t.Parallel()
	target, d := target(t)
	before := value[string](t, target.Queue, readyIndex)
	if err := d.Look(t.Context()); err != nil || len(d.Broken()) != 0 {
		t.Fatalf("nothing is broken, but %+v, %v", d.Broken(), err)
	}
	if err := DropReadyIndex(t.Context(), target.Queue); err != nil {
		t.Fatal(err)
	}
	run(t, target.Queue, "INSERT INTO leasetop.jobs (queue) VALUES ($1), ('leasetop'), ('q2')", strangeQueue("naive"))
	if err := d.Look(t.Context()); err != nil {
		t.Fatal(err)
	}
	if all := d.Broken(); len(all) != 1 || all[0].Name != "index" || all[0].Text == "" {
		t.Errorf("it found %+v", all)
	}
	if got := why(t, d, "index", ""); got != "it is broken already" {
		t.Errorf("it can be broken again: %q", got)
	}
	if n := value[int](t, target.Queue, "SELECT count(*) FROM leasetop.jobs"); n != 2 {
		t.Errorf("%d jobs are left, not the two of others", n)
	}
	heal(t, d)
	if now := value[string](t, target.Queue, readyIndex); now != before {
		t.Errorf("the index is %q, was %q", now, before)
	}
}

func TestStrangersWorkOnAQueueOfTheirOwnThatGoesWithThem(t *testing.T) {
	t.Parallel()
	target, d := target(t)
	enqueue(t, target.Queue, queue.NewJob{RunAt: queue.At(time.Now().Add(time.Hour))})
	for _, fault := range []string{"naive", "blocking", "storm"} {
		begin(t, d, fault)
		worker := "leasetop " + fault + " worker"
		if fault == "storm" {
			worker = "leasetop polling storm"
		} else {
			until(t, target.Queue, "SELECT count(*) > 20 FROM leasetop.jobs WHERE starts_with(queue, 'leasetop-fault-') AND status = 'completed'")
		}
		until(t, target.Queue, "SELECT count(*) > 0 FROM pg_stat_activity WHERE datname = current_database() AND application_name = $1", worker)
		text := d.Broken()[0].Text
		switch fault {
		case "naive":
			for deadline := time.Now().Add(patience); strings.Contains(text, ", 0 done twice"); text = d.Broken()[0].Text {
				if time.Now().After(deadline) {
					t.Fatalf("naive workers never did a job twice: %q", text)
				}
				time.Sleep(10 * time.Millisecond)
			}
		case "blocking":
			if !strings.Contains(text, ", 0 done twice") {
				t.Errorf("blocking workers: %q", text)
			}
		}
		heal(t, d)
		until(t, target.Queue, "SELECT count(*) = 0 FROM pg_stat_activity WHERE datname = current_database() AND application_name = $1", worker)
		if n := value[int](t, target.Queue, "SELECT count(*) FROM leasetop.jobs"); n != 1 {
			t.Errorf("after %s there are %d jobs", fault, n)
		}
	}
}

func TestEndHealsAllAndLetsNothingMoreBeBroken(t *testing.T) {
	t.Parallel()
	target, d := target(t)
	begin(t, d, "partition")
	begin(t, d, "slow-dependency")
	begin(t, d, "long-transaction")
	if err := d.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if all := d.Broken(); len(all) != 0 || target.Cable.String() != "flowing" {
		t.Errorf("%+v is broken, the cable is %s", all, target.Cable)
	}
	until(t, target.Queue, "SELECT count(*) = 0 FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'leasetop long transaction'")
	if _, err := d.Start(t.Context(), "partition", ""); err == nil {
		t.Error("something was broken after the end")
	}
}
