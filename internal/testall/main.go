// Testall runs `go test` with the arguments it is given. It prints one line a package, and
// at the end each test that failed, with what it said.
package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
)

func main() {
	cmd := exec.Command("go", append([]string{"test", "-json"}, os.Args[1:]...)...)
	cmd.Stderr = os.Stderr
	events, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "run the tests:", err)
		os.Exit(1)
	}
	r := newReport(os.Stdout)
	reading := r.read(events)
	_, _ = io.Copy(io.Discard, events) // or go test would wait for us
	err = errors.Join(reading, cmd.Wait())
	r.end()
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

// read notes events until there are no more.
func (r *report) read(events io.Reader) error {
	lines := bufio.NewReader(events)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			r.note(line)
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read what go test says: %w", err)
		}
	}
}
