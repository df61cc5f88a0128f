package child

import (
	"errors"
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/leasetop/leasetop/queue"
)

// temporary is the exit status that asks for a retry: EX_TEMPFAIL of sysexits.h.
const temporary = 75

// verdict is what the end of a child means for its job. asked is why it was asked
// to end, if it was: how it ends then is no fault of the job.
func verdict(state *os.ProcessState, asked error, said string) error {
	if state.Success() {
		return nil
	}
	how := ending(state)
	if said != "" {
		how += ": " + said
	}
	switch {
	case asked != nil:
		return fmt.Errorf("%w: %s", asked, how)
	case state.ExitCode() == temporary:
		return errors.New(how)
	}
	return queue.Permanent(errors.New(how))
}

// ending says how a process ended.
func ending(state *os.ProcessState) string {
	status, ok := state.Sys().(syscall.WaitStatus)
	if !ok || !status.Signaled() {
		return fmt.Sprintf("exit status %d", state.ExitCode())
	}
	name := unix.SignalName(status.Signal())
	if name == "" { // a real-time signal
		name = fmt.Sprintf("signal %d", int(status.Signal()))
	}
	if status.CoreDump() {
		name += " (core dumped)"
	}
	return "killed by " + name
}
