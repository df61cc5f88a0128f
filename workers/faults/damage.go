package faults

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// Damage is what is broken now, by the faults of the catalogue. It is safe for concurrent
// use.
//
// Several programs may break one database: each knows and heals what it broke itself.
type Damage struct {
	target Target

	mu      sync.Mutex
	active  []*Active
	known   bool   // whether the database is for demonstrations
	notOurs string // why it is not; "" when it is
	closed  bool
	begun   sync.WaitGroup // faults that are being done

	healing sync.Mutex // one at a time
}

// Choice is a fault of the catalogue as it could be done now.
type Choice struct {
	Fault
	Why string // it cannot; "" when it can
}

// Broken is one thing that is broken now.
type Broken struct {
	Name, Title string
	Since       time.Time // local clock
	Text        string    // how it stands; may be ""
	Healing     bool      // somebody is at it
}

// NewDamage breaks nothing yet. Of the target, Worker is not used.
func NewDamage(t Target) *Damage { return &Damage{target: t} }

// Choices are all faults there are. worker is the one that is chosen; "" is none. It may
// ask the database whether it is for demonstrations, once.
func (d *Damage) Choices(ctx context.Context, worker string) []Choice {
	why := d.refusal(ctx)
	t := d.target
	t.Worker = worker
	d.mu.Lock()
	defer d.mu.Unlock()
	all := All()
	choices := make([]Choice, len(all))
	for i, f := range all {
		choices[i] = Choice{f, d.refused(&f, &t, why)}
	}
	return choices
}

// refusal says why this database itself must not be broken; "" when it may.
func (d *Damage) refusal(ctx context.Context) string {
	d.mu.Lock()
	known, why := d.known, d.notOurs
	d.mu.Unlock()
	if known {
		return why
	}
	ok, why, err := d.target.Queue.Demonstration(ctx)
	if err != nil {
		return "cannot see whether this database is for demonstrations: " + err.Error()
	}
	if ok {
		why = ""
		pooled, err := Pooled(ctx, d.target.Queue)
		if err != nil {
			return "cannot see whether a pooler stands before this database: " + err.Error()
		}
		if pooled {
			why = "a pooler stands before this database, and what is broken here needs a session of its own: connect to the server itself"
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.known, d.notOurs = true, why
	return why
}

// refused says why a fault cannot be done now. The lock is held.
func (d *Damage) refused(f *Fault, t *Target, notOurs string) string {
	if why := f.missing(t); why != "" {
		return why
	}
	if f.Database && notOurs != "" {
		return notOurs
	}
	for _, a := range d.active {
		switch {
		case a.fault.Name == f.Name && a.fault.part != "":
			return "it is broken already"
		case f.part != "" && a.fault.part == f.part:
			return a.fault.Title + " comes first: H heals it"
		}
	}
	return ""
}

// Start does a fault and returns in words what it did. The error says why it cannot be done.
func (d *Damage) Start(ctx context.Context, name, worker string) (did string, err error) {
	all := All()
	i := slices.IndexFunc(all, func(f Fault) bool { return f.Name == name })
	if i < 0 {
		return "", fmt.Errorf("there is no fault %q", name)
	}
	f, why := all[i], ""
	if all[i].Database {
		why = d.refusal(ctx)
	}
	t := d.target
	t.Worker = worker
	d.mu.Lock()
	if d.closed {
		d.mu.Unlock()
		return "", fmt.Errorf("%s: all is being healed", f.Title)
	}
	if why := d.refused(&f, &t, why); why != "" {
		d.mu.Unlock()
		return "", fmt.Errorf("%s: %s", f.Title, why)
	}
	// Entered before it is done: it may take a while, and nobody may do it twice.
	begun := &Active{fault: f, since: time.Now()}
	d.active = append(d.active, begun)
	d.begun.Add(1)
	defer d.begun.Done()
	d.mu.Unlock()

	made, err := f.start(ctx, t)
	d.mu.Lock()
	defer d.mu.Unlock()
	if err != nil || made.heal == nil {
		d.drop(begun)
	}
	if err != nil {
		return "", fmt.Errorf("%s: %w", f.Title, err)
	}
	begun.did, begun.heal, begun.progress = made.did, made.heal, made.progress
	return made.did, nil
}

// drop forgets what is not broken any more. The lock is held.
func (d *Damage) drop(one *Active) {
	d.active = slices.DeleteFunc(d.active, func(a *Active) bool { return a == one })
}

// Broken is what is broken now, the oldest first. It does not wait.
func (d *Damage) Broken() []Broken {
	d.mu.Lock()
	active := slices.Clone(d.active)
	all := make([]Broken, len(active))
	for i, a := range active {
		all[i] = Broken{Name: a.fault.Name, Title: a.fault.Title, Since: a.since, Healing: a.heals}
		if a.progress != nil {
			all[i].Text = a.progress()
		}
	}
	d.mu.Unlock()
	return all
}

// Heal heals all that is broken, at once: one may wait for another, as the building of an
// index waits for a long transaction. What could not be healed stays broken, and can be
// tried again.
func (d *Damage) Heal(ctx context.Context) (healed []string, err error) {
	d.healing.Lock()
	defer d.healing.Unlock()
	d.mu.Lock()
	var broken []*Active
	for _, a := range d.active {
		if a.heal != nil {
			a.heals = true
			broken = append(broken, a)
		}
	}
	d.mu.Unlock()
	failed := make([]error, len(broken))
	var all sync.WaitGroup
	for i, a := range broken {
		heal := a.heal
		all.Go(func() {
			failed[i] = heal(ctx)
			d.mu.Lock()
			defer d.mu.Unlock()
			a.heals = false
			if failed[i] == nil {
				d.drop(a)
			} else {
				failed[i] = fmt.Errorf("heal %s: %w", a.fault.Title, failed[i])
			}
		})
	}
	all.Wait()
	for i, a := range broken {
		if failed[i] == nil {
			healed = append(healed, a.fault.Title)
		}
	}
	return healed, errors.Join(failed...)
}

// Look finds what a program that was killed left broken on a database for demonstrations:
// the missing index is broken from now on, to be healed; jobs of workers that are gone are
// removed. What another program broke that lives is that one's.
func (d *Damage) Look(ctx context.Context) error {
	if d.refusal(ctx) != "" {
		return nil
	}
	if err := sweep(ctx, d.target.Queue); err != nil {
		return err
	}
	left, err := d.orphan(ctx)
	if err != nil {
		return fmt.Errorf("look for the ready index: %w", err)
	}
	if left != nil {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.active = append(d.active, left)
	}
	return nil
}

// orphan is the missing index, from now on ours; nil when it is there, or somebody's.
func (d *Damage) orphan(ctx context.Context) (*Active, error) {
	q := d.target.Queue
	_, whole, err := readyIndexState(ctx, q.Pool(), q)
	if err != nil || whole {
		return nil, err
	}
	held, err := takeHold(ctx, q, theIndex)
	switch {
	case errors.Is(err, errHeld):
		return nil, nil
	case err != nil:
		return nil, err
	}
	// It may have been healed just before.
	if _, whole, err = readyIndexState(ctx, q.Pool(), q); err != nil || whole {
		held.letGo()
		return nil, err
	}
	left := missingIndex(q, held)
	all := All()
	left.fault = all[slices.IndexFunc(all, func(f Fault) bool { return f.Name == theIndex })]
	left.since = time.Now()
	return left, nil
}

// Close lets nothing more be broken and heals what is, as far as ctx lasts. The error
// names what stays broken.
func (d *Damage) Close(ctx context.Context) error {
	d.mu.Lock()
	d.closed = true
	d.mu.Unlock()
	done := make(chan struct{})
	go func() {
		d.begun.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-ctx.Done():
	}
	_, err := d.Heal(ctx)
	var left []string
	for _, b := range d.Broken() {
		left = append(left, b.Title)
	}
	if err == nil && len(left) > 0 {
		err = fmt.Errorf("not healed: %s", strings.Join(left, ", "))
	}
	return err
}
