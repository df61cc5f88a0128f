package child

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

const (
	// lineKept is how much of a line is passed on.
	lineKept = 4 << 10
	// tailKept is how much of the end of standard error becomes the job's error: with
	// what stands before it, it fits the 2,000 characters of the history.
	tailKept = 1600
)

// output is one stream of a child, read to its end whether or not anybody wants it:
// a child must not be held up by a full pipe.
type output struct {
	pipe *os.File
	over chan struct{}
}

// follow reads a stream. Its lines go to say, and all of it to also, if that is not nil.
func follow(pipe *os.File, also *tail, say func(string)) *output {
	o := &output{pipe: pipe, over: make(chan struct{})}
	go func() {
		defer close(o.over)
		l := &lines{say: say}
		var to io.Writer = l
		if also != nil {
			to = io.MultiWriter(also, l)
		}
		_, _ = io.Copy(to, pipe) // its end is the end of all who hold the pipe, or the deadline
		l.end()
		_ = pipe.Close()
	}()
	return o
}

// end waits for the end of the stream, at most until the deadline. Then the pipe
// is given up, which whoever still writes to it will notice.
func (o *output) end(deadline time.Time) {
	_ = o.pipe.SetReadDeadline(deadline)
	timer := time.NewTimer(time.Until(deadline))
	defer timer.Stop()
	select {
	case <-o.over:
	case <-timer.C: // nobody takes the lines just now; those read are kept for whoever does
	}
}

// lines cuts a stream into lines.
type lines struct {
	say    func(string)
	line   []byte // begun, at most lineKept of it
	beyond int    // bytes of it that are not kept
}

func (l *lines) Write(p []byte) (int, error) {
	n := len(p)
	for {
		line, rest, ended := bytes.Cut(p, []byte("\n"))
		fits := min(len(line), lineKept-len(l.line))
		l.line, l.beyond = append(l.line, line[:fits]...), l.beyond+len(line)-fits
		if !ended {
			return n, nil
		}
		l.flush()
		p = rest
	}
}

func (l *lines) flush() {
	line := string(bytes.TrimSuffix(l.line, []byte("\r")))
	if l.beyond > 0 {
		line += fmt.Sprintf("… (%d bytes more)", l.beyond)
	}
	l.line, l.beyond = l.line[:0], 0
	l.say(line)
}

// end passes on a last line that has no end of its own.
func (l *lines) end() {
	if len(l.line) > 0 {
		l.flush()
	}
}

// tail keeps the end of a stream.
type tail struct {
	mu   sync.Mutex
	kept []byte
	cut  bool // something came before it
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept = append(t.kept, p...)
	if over := len(t.kept) - tailKept; over > 0 {
		t.kept = append(t.kept[:0], t.kept[over:]...)
		t.cut = true
	}
	return len(p), nil
}

// String is the tail as text that PostgreSQL takes: whole lines if there is one,
// what is no UTF-8, and NUL, replaced.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	text := t.kept
	if t.cut {
		if _, whole, ok := bytes.Cut(text, []byte("\n")); ok && len(bytes.TrimSpace(whole)) > 0 {
			text = whole
		}
		for len(text) > 0 && !utf8.RuneStart(text[0]) {
			text = text[1:]
		}
	}
	said := strings.ReplaceAll(strings.ToValidUTF8(string(text), "\uFFFD"), "\x00", "\uFFFD")
	said = strings.Trim(strings.ReplaceAll(said, "\r\n", "\n"), "\n\r")
	if t.cut && said != "" {
		said = "… " + said
	}
	return said
}
