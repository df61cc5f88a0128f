package child

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/leasetop/leasetop/queue"
)

// DataError is the exit status that says that no retry will help: EX_DATAERR of sysexits.h.
const DataError = 65

// verdict is what the end of a child means for its job. asked is why it was asked
// to end, if it was: how it ends then is no fault of the job. A signal that somebody else
// sent says nothing about the job either.
func verdict(state *os.ProcessState, asked error, said string, poison []int) error {
	if state.Success() {
		return nil
	}
	how := ending(state)
	if said != "" {
		how += ": " + headed(said)
	}
	status := state.ExitCode() // -1 after a signal
	switch {
	case asked != nil:
		return fmt.Errorf("%w: %s", asked, how)
	case status == DataError, status > 0 && slices.Contains(poison, status):
		return queue.Permanent(errors.New(how))
	}
	return errors.New(how)
}

// headKept bounds the line that is put first; longer ones are not told apart anyway.
const headKept = 300

// headed puts the line that tells most before text of several lines: dead letters
// are listed and grouped by the first line of their errors, and that of a stack trace
// says nothing. It is the last line that is not indented, as in the traces of Python,
// Java and Node.js, and as the last word of a program that logs as it goes.
func headed(said string) string {
	lines := strings.Split(said, "\n")
	if len(lines) == 1 {
		return said
	}
	head := ""
	for _, line := range lines {
		if line != "" && line[0] != ' ' && line[0] != '\t' && !strings.HasPrefix(line, "Node.js v") { // Node signs its traces
			head = line
		}
	}
	if head == "" || head == lines[0] {
		return said
	}
	if len(head) > headKept {
		head = strings.ToValidUTF8(head[:headKept], "") + "…"
	}
	return head + "\n\n" + said
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
