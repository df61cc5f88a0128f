package workers

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/leasetop/leasetop/queue"
)

// Spawn adds a worker, before Start or at any time after it, that claims from these
// queues, strictly in this order, and runs up to slots handlers at once. It returns its
// name: w1, w2 and so on, passing over those taken. Queues that no handler could serve
// are refused; after a stop the error wraps [ErrStopped].
func (p *Pool) Spawn(queues []string, slots int) (name string, err error) {
	if err := p.checkSpawn(queues, slots); err != nil {
		return "", fmt.Errorf("spawn a worker: %w", err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	name = p.nextName()
	if err := p.spawn(name, queues, slots); err != nil {
		return "", fmt.Errorf("spawn a worker: %w", err)
	}
	return name, nil
}

// SpawnAs is Spawn with a name of the caller's, for programs that show the workers of
// several pools together. It has 1 to 32 letters, digits, and any of - _ . and must not
// be that of another worker of this pool, until that one is removed.
func (p *Pool) SpawnAs(name string, queues []string, slots int) error {
	err := checkName(name)
	if err == nil {
		err = p.checkSpawn(queues, slots)
	}
	if err != nil {
		return fmt.Errorf("spawn worker %.40q: %w", name, err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.spawn(name, queues, slots); err != nil {
		return fmt.Errorf("spawn worker %q: %w", name, err)
	}
	return nil
}

// spawn must be called with the lock held.
func (p *Pool) spawn(name string, queues []string, slots int) error {
	if p.stopping {
		return ErrStopped
	}
	if _, err := p.find(name); err == nil {
		return errors.New("another worker has that name: drain or kill it, and remove it, first")
	}
	w := newWorker(p, name, slices.Clone(queues), slots)
	p.workers = append(p.workers, w)
	p.named[name] = w
	p.emit(Event{Worker: w.name, What: Spawned, Text: counted(slots, "slot") + " on " + strings.Join(queues, ", ")})
	if p.base != nil {
		w.life.start(p.base, w.loop)
	}
	return nil
}

// nextName must be called with the lock held.
func (p *Pool) nextName() string {
	for {
		p.spawned++
		name := "w" + strconv.Itoa(p.spawned)
		if _, err := p.find(name); err != nil {
			return name
		}
	}
}

// mostOfAName is in characters: names stand in narrow columns.
const mostOfAName = 32

func checkName(name string) error {
	allowed := func(c rune) bool {
		return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.ContainsRune("-_.", c)
	}
	switch wrong := strings.IndexFunc(name, func(c rune) bool { return !allowed(c) }); {
	case name == "":
		return errors.New("it needs a name")
	case wrong >= 0:
		return errors.New(`its name may have letters, digits, and any of "-_."`)
	case len(name) > mostOfAName:
		return fmt.Errorf("its name has %d characters: use %d or fewer", len(name), mostOfAName)
	}
	return nil
}

func (p *Pool) checkSpawn(queues []string, slots int) error {
	if len(queues) == 0 {
		return errors.New("no queues: name at least one")
	}
	if slots < 1 {
		return fmt.Errorf("%d slots: use 1 or more", slots)
	}
	for i, name := range queues {
		if err := queue.CheckName("queue", name); err != nil {
			return err
		}
		switch {
		case slices.Contains(queues[:i], name):
			return fmt.Errorf("queue %q is named twice", name)
		case !p.handlers.serves(name):
			return fmt.Errorf("no handler could serve queue %q: register one for it or for its kinds", name)
		}
	}
	return nil
}
