package command

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A file that never comes to its end, as a pipe that nobody writes to, holds up no command
// that is asked to end: the payload, and what a connection string names.
func TestCommandsDoNotWaitForAFileWhenAskedToEnd(t *testing.T) {
	t.Parallel()
	named := "--database-url=postgres://ann@localhost/app?passfile=PIPE"
	for _, line := range []string{
		"enqueue --queue q --payload @PIPE",
		"edit 2 --payload @PIPE",
		"depth " + named, "url " + named, "jobs " + named, "migrate status " + named, "cancel 1 " + named,
		"events --follow " + named, "work --queue q --exec true " + named, "work --queue q " + named, "check --max-dead 1 " + named, "--plain " + named,
		"depth --database-url=postgres://?servicefile=PIPE&service=x",
		"depth --database-url=postgres://localhost/app?sslmode=verify-ca&sslrootcert=PIPE",
	} {
		t.Run(strings.Trim(strings.Fields(line)[0], "-"), func(t *testing.T) {
			t.Parallel()
			pipe := filepath.Join(t.TempDir(), "pipe")
			if err := syscall.Mkfifo(pipe, 0o600); err != nil {
				t.Fatal(err)
			}
			ctx, end := context.WithCancel(t.Context())
			opened := make(chan *os.File, 1)
			go func() {
				file, _ := os.OpenFile(pipe, os.O_WRONLY, 0) // until the command reads it
				opened <- file
				end()
			}()
			var failure error
			root := newRoot(&failure)
			root.SetArgs(strings.Fields(strings.ReplaceAll(line, "PIPE", pipe)))
			err := errors.Join(root.ExecuteContext(ctx), failure)
			select {
			case file := <-opened:
				file.Close()
			default:
				t.Errorf("it did not read the file: %v", err)
				reader, _ := os.OpenFile(pipe, os.O_RDONLY|syscall.O_NONBLOCK, 0) // lets the writer go
				(<-opened).Close()
				reader.Close()
			}
			if !strings.HasPrefix(line, "check") && !errors.Is(err, context.Canceled) {
				t.Errorf("%v", err)
			}
		})
	}
}

// Nor do they wait for such a file for ever: a pipe that nobody writes to is given up after --timeout.
func TestCommandsGiveUpAFileThatIsNotRead(t *testing.T) {
	t.Parallel()
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	var failure error
	root := newRoot(&failure)
	root.SetArgs([]string{"depth", "--timeout=50ms", "--database-url=postgres://ann@localhost/app?passfile=" + pipe})
	err := errors.Join(root.ExecuteContext(t.Context()), failure)
	if err == nil || !strings.Contains(err.Error(), "was not read within 50ms: check the password file") {
		t.Errorf("%v", err)
	}
	writer, err := os.OpenFile(pipe, os.O_RDWR, 0) // lets the reader go
	if err != nil {
		t.Fatal(err)
	}
	writer.Close()
}
