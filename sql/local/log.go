package local

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"unicode"
)

// logLimit is the size over which the log is emptied at the next start.
const logLimit = 10 << 20

// prepareLog makes the log, the runner's, and empties it when it is too long.
// The server appends, so this is safe while it runs.
func (p place) prepareLog() error {
	file, err := p.openLog(os.O_WRONLY | os.O_CREATE)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	if err := giveTo(file, p.runner); err != nil {
		return err
	}
	info, err := file.Stat()
	if err != nil || info.Size() <= logLimit {
		return err
	}
	return file.Truncate(0)
}

func (p place) openLog(flag int) (*os.File, error) {
	folder, err := p.open()
	if err != nil {
		return nil, err
	}
	defer func() { _ = folder.Close() }()
	return openOwned(folder, filepath.Base(p.log()), flag, 0o600)
}

// logTail returns the last lines of the log, fit for a terminal.
func (p place) logTail() string {
	file, err := p.openLog(os.O_RDONLY)
	if err != nil {
		return err.Error()
	}
	defer func() { _ = file.Close() }()
	const size = 4 << 10
	if info, err := file.Stat(); err == nil && info.Size() > size {
		_, _ = file.Seek(-size, io.SeekEnd)
	}
	text, _ := io.ReadAll(io.LimitReader(file, size))
	return lastLines(printable(string(text)))
}

// lastLines returns as much of a text as belongs into an error.
func lastLines(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-12):], "\n")
}

// printable drops what a terminal would obey: control, escape and direction
// characters other than newlines and tabs.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' {
			return r
		}
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == unicode.ReplacementChar {
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, ""))
}

// withCure adds to an error what to do about it, where we know.
func withCure(err error, p place) error {
	text := err.Error()
	switch {
	case errors.Is(err, syscall.ENOSPC) || strings.Contains(text, "No space left on device"):
		return fmt.Errorf("%w\nthe disk is full: free some space on it, or set LEASETOP_HOME to a folder on another disk", err)
	case errors.Is(err, os.ErrPermission) || strings.Contains(text, "Permission denied"):
		return fmt.Errorf("%w\n%s must be able to reach %s: set LEASETOP_HOME to a folder it can", err, p.runner.name, p.folder)
	case errors.Is(err, syscall.EROFS):
		return fmt.Errorf("%w\nset LEASETOP_HOME to a folder that can be written", err)
	}
	return err
}
