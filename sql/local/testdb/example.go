package testdb

import (
	"context"
	"time"

	"github.com/leasetop/leasetop/sql/local"
)

// example is the database of the example that runs.
var example struct {
	server *local.Server
	name   string // "" before the first
}

// Example gives an example a migrated database of its own, as [New] does a test. An
// example has no *testing.T, so its failure is a panic, which names it. Nor is it
// seen to end; but examples run one after another, so each one's database is dropped
// when the next asks for its own, and the last by [Run].
func Example() string {
	if err := lastExample(); err != nil {
		panic("testdb: " + err.Error())
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	shared.Lock()
	server, err := take()
	shared.Unlock()
	name := uniqueName("test")
	if err == nil {
		err = migrated(ctx, server, name)
	}
	if err != nil {
		panic("testdb: " + err.Error())
	}
	example.server, example.name = server, name
	return server.URL(name)
}

// lastExample drops the database of the example that ran last.
func lastExample() error {
	if example.name == "" {
		return nil
	}
	ctx, cancel := afterwards()
	defer cancel()
	name := example.name
	example.name = ""
	return drop(ctx, example.server, name)
}
