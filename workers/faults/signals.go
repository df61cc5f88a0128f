package faults

import (
	"fmt"
	"time"

	"github.com/leasetop/leasetop/workers"
)

// Kill crashes a worker of this process, as [workers.Pool.Kill] does; one in a process of
// its own gets a real SIGKILL.
func (c *Crew) Kill(name string) error {
	one := c.child(name)
	if one == nil {
		return c.Pool.Kill(name)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	held := "it held no job"
	for _, w := range one.Snapshot() {
		if n := len(w.Running); n > 0 {
			held = fmt.Sprintf("it held %s", counted(n, "job"))
		}
	}
	if err := one.Process.Kill(); err != nil {
		return err
	}
	one.ended = true
	c.tell(one, workers.Killed, fmt.Sprintf("SIGKILL to process %d: %s", one.Pid(), held))
	return nil
}

// Freeze makes a zombie of a worker, as [workers.Pool.Freeze] does. One in a process of
// its own is stopped where it is (SIGSTOP), handlers too, until [workers.LateBy] after its
// leases ran out: then it goes on (SIGCONT), and finds that it is late.
func (c *Crew) Freeze(name string) error {
	one := c.child(name)
	if one == nil {
		return c.Pool.Freeze(name)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, w := range one.Snapshot() {
		if w.State != workers.Idle && w.State != workers.Busy {
			return fmt.Errorf("freeze %s: it is %s", name, w.State)
		}
	}
	if err := one.Suspend(); err != nil {
		return err
	}
	// No lease of its can be renewed from here on, so none lasts longer than a whole one, but
	// where a slow network stretched it.
	late := c.LongestLease()
	for _, w := range one.Snapshot() {
		for _, r := range w.Running {
			late = max(late, time.Until(r.Expires).Round(100*time.Millisecond))
		}
	}
	late += workers.LateBy
	c.tell(one, workers.Froze, fmt.Sprintf("SIGSTOP to process %d, SIGCONT in %v", one.Pid(), late))
	one.thaws = time.AfterFunc(late, func() { c.thaw(one) })
	return nil
}

func (c *Crew) thaw(one *child) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if one.Resume() == nil {
		c.tell(one, workers.Thawed, fmt.Sprintf("SIGCONT to process %d: what it held is late", one.Pid()))
	}
}

// Drain has a worker finish what it runs and claim no more. One in a process of its own
// gets SIGTERM.
func (c *Crew) Drain(name string) error {
	if one := c.child(name); one != nil {
		return one.Process.Drain()
	}
	return c.Pool.Drain(name)
}

func (c *Crew) tell(one *child, what workers.What, text string) {
	c.news.add(workers.Event{At: time.Now(), Worker: one.Name(), What: what, Text: text})
}

func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
