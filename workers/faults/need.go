package faults

import (
	"fmt"

	"github.com/leasetop/leasetop/workers"
)

// need is something that a fault cannot do without. It says why it is not there, and what
// to do; "" when it is.
type need func(t *Target) string

// missing says why a fault cannot be done; "" when it can.
func (f *Fault) missing(t *Target) string {
	for _, n := range f.needs {
		if why := n(t); why != "" {
			return why
		}
	}
	return ""
}

func needsCrew(t *Target) string {
	if t.Crew == nil {
		return "no workers run in this process: they do in the demonstration (make run)"
	}
	return ""
}

func needsHandlers(t *Target) string {
	if t.Jobs == nil || t.Poisoned == "" {
		return "it needs the demonstration's handlers (make run)"
	}
	return needsCrew(t)
}

func needsDependency(t *Target) string {
	if t.Dependency == nil {
		return "it needs the demonstration's handlers (make run)"
	}
	return needsCrew(t)
}

func needsCable(t *Target) string {
	if t.Cable == nil {
		return "no workers of this dashboard can be parted from the database: those of the demonstration can (make run)"
	}
	return needsCrew(t)
}

// needsWorker is for what is done to a worker, wherever it runs.
func needsWorker(t *Target) string {
	_, why := aimed(t)
	return why
}

// needsWorkerHere is for what is done to a worker of this process.
func needsWorkerHere(t *Target) string {
	w, why := aimed(t)
	if why == "" && w.Pid != 0 {
		why = fmt.Sprintf("%s is a process of its own: kill -9 is for it", w.Name)
	}
	return why
}

func needsProcess(t *Target) string {
	w, why := aimed(t)
	if why == "" && w.Pid == 0 {
		why = fmt.Sprintf("%s is no process of its own: n spawns one; then put the cursor on it", w.Name)
	}
	return why
}

// aimed is the worker that is meant, and why nothing can be done to it.
func aimed(t *Target) (workers.Snapshot, string) {
	if why := needsCrew(t); why != "" {
		return workers.Snapshot{}, why
	}
	for _, w := range t.Crew.Workers() {
		if w.Name != t.Worker {
			continue
		}
		switch w.State {
		case workers.Crashed, workers.Stopped, workers.Frozen:
			return w, fmt.Sprintf("%s is %s: put the cursor on one that works", w.Name, w.State)
		}
		return w, ""
	}
	return workers.Snapshot{}, "no worker under the cursor"
}

func needsServer(t *Target) string {
	if t.Server == nil {
		return "only the private server of make run is restarted"
	}
	return ""
}
