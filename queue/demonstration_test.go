package queue

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

// demonstrable sets the mark of the queue's database, for connections made from now on.
func demonstrable(t *testing.T, q *Queue, value string) {
	t.Helper()
	name := pgx.Identifier{q.ConnConfig().Database}.Sanitize()
	exec(t, q, "alter database "+name+" set leasetop.demonstration = '"+value+"'")
	q.Pool().Reset()
}

func TestOnlyMarkedDatabasesAreForDemonstrations(t *testing.T) {
	t.Parallel()
	q := open(t)
	for value, want := range map[string]bool{"on": true, "ON": true, "true": true, "1": true, "yes": true, "off": false, "": false, "no": false, "perhaps": false} {
		demonstrable(t, q, value)
		marked, why, err := q.Demonstration(t.Context())
		ok(t, err)
		if marked != want || (why == "") != want {
			t.Errorf("marked %q: %v, %q; want %v", value, marked, why, want)
		}
	}
}

// The cure that is told is one: run as it stands, it cures.
func TestCureOfAnUnmarkedDatabase(t *testing.T) {
	t.Parallel()
	q := open(t)
	demonstrable(t, q, "off")
	_, why, err := q.Demonstration(t.Context())
	ok(t, err)
	_, cure, _ := strings.Cut(why, ": run ")
	cure, _, _ = strings.Cut(cure, ", ")
	if !strings.HasPrefix(cure, "ALTER DATABASE ") {
		t.Fatalf("%q has no cure", why)
	}
	exec(t, q, cure)
	other := must[*Queue](t)(New(q.Pool(), "shop")) // the mark is the database's, whatever the schema
	if marked, why, err := q.Demonstration(t.Context()); err != nil || marked {
		t.Errorf("the session that asked before is marked: %v, %q", err, why)
	}
	q.Pool().Reset()
	if marked, why, err := other.Demonstration(t.Context()); err != nil || !marked {
		t.Errorf("from another schema: %v, %q", err, why)
	}
	if marked, why, err := q.Demonstration(t.Context()); err != nil || !marked {
		t.Errorf("after %s: %v, %q", cure, err, why)
	}
}

// No test has a server on another machine: this one is told that it is.
func TestMarkedDatabaseElsewhereIsNotForDemonstrations(t *testing.T) {
	t.Parallel()
	owner := open(t)
	demonstrable(t, owner, "on")
	stand(t, owner, "inet_server_addr() returns inet stable", "nullif(current_setting('test.address', true), '')::inet")
	for address, want := range map[string]bool{
		"": true, "127.0.0.1": true, "127.8.0.1": true, "::1": true,
		"203.0.113.9": false, "10.0.0.1": false, "2001:db8::9": false, "::": false, "0.0.0.0": false,
	} {
		url := owner.Pool().Config().ConnString() + "&test.address=" + address
		q := must[*Queue](t)(Open(t.Context(), url, Options{MaxConns: 1}))
		defer q.Close()
		near, why, err := q.Demonstration(t.Context())
		ok(t, err)
		if near != want || !want && !strings.Contains(why, " is at "+address+", ") {
			t.Errorf("at %q: %v, %q; want %v", address, near, why, want)
		}
	}
}

// Who connects cannot make somebody's database one for demonstrations.
func TestConnectionCannotMarkTheDatabase(t *testing.T) {
	t.Parallel()
	owner := open(t)
	demonstrable(t, owner, "off")
	for _, more := range []string{
		"options=-cleasetop.demonstration%3Don", "options=-c%20work_mem%3D1MB%20--LeaseTop.demonstration%3Don",
		`options=-c%20leasetop%5C.demo%5Cnstration%3Don`, "leasetop.demonstration=on", "LEASETOP.demonstration=on",
	} {
		q := must[*Queue](t)(Open(t.Context(), owner.Pool().Config().ConnString()+"&"+more, Options{MaxConns: 1}))
		defer q.Close()
		var set string
		ok(t, q.Pool().QueryRow(t.Context(), "show leasetop.demonstration").Scan(&set))
		marked, why, err := q.Demonstration(t.Context())
		ok(t, err)
		if set != "on" || marked || !strings.Contains(why, "ALTER DATABASE ") {
			t.Errorf("%s, in which it is %s: %v, %q", more, set, marked, why)
		}
	}
}

// It reads no table: a role without any right, on a database without the schema, is told.
func TestAnybodyMayAskForTheMark(t *testing.T) {
	t.Parallel()
	owner := open(t)
	exec(t, owner, "drop schema leasetop cascade")
	demonstrable(t, owner, "on")
	q := openAs(t, owner)
	if marked, why, err := q.Demonstration(t.Context()); err != nil || !marked {
		t.Errorf("%v, %q", err, why)
	}
}
