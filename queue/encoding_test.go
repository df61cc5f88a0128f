package queue

import (
	"testing"

	"github.com/leasetop/leasetop/sql/local/testdb"
)

// A role may default to another client encoding, under which text would be
// stored as something else than was meant, without an error.
func TestTextIsUTF8WhateverTheRoleDefaultsTo(t *testing.T) {
	t.Parallel()
	url := testdb.New(t)
	q, err := Open(t.Context(), url, Options{})
	if err != nil {
		t.Fatal(err)
	}
	exec(t, q, `do $$ begin execute format('alter database %I set client_encoding = ''LATIN1''', current_database()); end $$`)
	q.Close()
	if q, err = Open(t.Context(), url, Options{}); err != nil {
		t.Fatal(err)
	}
	defer q.Close()
	id := enqueue(t, q, NewJob{Queue: "emails", Payload: []byte(`{"n": "Grüße €"}`)})
	if got := string(get(t, q, id).Payload); got != `{"n": "Grüße €"}` {
		t.Errorf("read back %s", got)
	}
	var stored string
	if err := q.pool.QueryRow(t.Context(), "select encode(convert_to(payload->>'n', 'UTF8'), 'hex') from leasetop.jobs where id = $1", id).Scan(&stored); err != nil {
		t.Fatal(err)
	}
	if want := "4772c3bcc39f6520e282ac"; stored != want {
		t.Errorf("stored %s, want %s", stored, want)
	}
}
