package child

import (
	"errors"
	"fmt"
	"os"
	"strings"
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
		how += ": " + headed(said)
	}
	switch {
	case asked != nil:
		return fmt.Errorf("%w: %s", asked, how)
	case state.ExitCode() == temporary, toldToEnd(state):
		return errors.New(how)
	}
	return queue.Permanent(errors.New(how))
}

// toldToEnd tells whether somebody else ended the child in the way that programs are
// asked to end: a service manager that stops the whole service at once, an operator.
// That says nothing about the job.
func toldToEnd(state *os.ProcessState) bool {
	status, ok := state.Sys().(syscall.WaitStatus)
	if !ok || !status.Signaled() {
		return false
	}
	switch status.Signal() {
	case syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP:
		return true
	}
	return false
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
