package editor

import (
	"context"
	"io"
	"os"
	"os/exec"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/charmbracelet/x/term"
	"github.com/leasetop/leasetop/ui/guard"
)

// An editor that is to end with the program is asked to, which has it save what it
// keeps for a crash, and then made to.
const (
	terminate = syscall.SIGTERM
	patience  = 500 * time.Millisecond
)

// running counts the editors that have the terminal.
var running atomic.Int32

// Running tells whether an editor has the terminal: an interrupt typed there is the
// editor's, not this program's.
func Running() bool { return running.Load() > 0 }

// Session is one call of the editor on a draft. It runs where Bubble Tea has stepped
// aside from the terminal.
type Session struct {
	ctx    context.Context
	editor Editor
	draft  *Draft
	in     io.Reader
	out    io.Writer
}

// NewSession prepares a call of the editor.
func NewSession(ctx context.Context, e Editor, d *Draft) *Session {
	return &Session{ctx: ctx, editor: e, draft: d}
}

// SetStdin takes the terminal to read from.
func (s *Session) SetStdin(r io.Reader) { s.in = r }

// SetStdout takes the terminal to draw on.
func (s *Session) SetStdout(w io.Writer) { s.out = w }

// SetStderr does nothing: what the editor complains of belongs on the terminal, and
// standard error of this program may be kept away from it (see package guard).
func (s *Session) SetStderr(io.Writer) {}

// Run runs the editor to its end, and leaves the terminal as it was before, also when
// the editor crashed in the middle of its picture.
func (s *Session) Run() error {
	running.Add(1)
	defer running.Add(-1)
	if f, ok := s.in.(term.File); ok && term.IsTerminal(f.Fd()) {
		if state, err := term.GetState(f.Fd()); err == nil {
			defer func() { _ = term.Restore(f.Fd(), state) }()
		}
	}
	if f, ok := s.out.(*os.File); ok && term.IsTerminal(f.Fd()) {
		defer guard.Reset(f)
	}
	return s.command().Run()
}

func (s *Session) command() *exec.Cmd {
	cmd := s.editor.command(s.ctx, s.draft.Path)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = s.in, s.out, s.out
	cmd.ExtraFiles = []*os.File{s.draft.lock} // the draft is the editor's too, which may outlive this program
	return cmd
}
