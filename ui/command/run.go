// Package command is the command line of leasetop: its grammar, its flags and its
// exit status. What the one-shot commands do is in ui/cli; the dashboard is ui, or
// ui/plain where there is no terminal.
package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"charm.land/fang/v2"
	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/term"

	"github.com/leasetop/leasetop/ui/cli"
	"github.com/leasetop/leasetop/ui/safe"
	"github.com/leasetop/leasetop/workers/faults"
)

const (
	exitFailed = 1
	exitUsage  = 2
)

// sameSignal is how long after a signal another one counts as the same.
const sameSignal = 500 * time.Millisecond

// lastWord is how long the last message may take to be printed.
const lastWord = 2 * time.Second

// Main does what the command line says and returns the exit status: 0 done,
// 1 failed, 2 called in a wrong way (nothing was done), 3 a redrive plan stopped by itself,
// 4 somebody paused, cancelled or interrupted it; that of check is its verdict.
func Main(version string) int {
	faults.ChildMain() // this may be a worker process
	// The first signal asks for an orderly end, a second forces it. What follows at
	// once is the same signal: make and timeout pass on what their group got already.
	ctx, stop := signal.NotifyContext(context.Background(), asked()...)
	defer stop()
	context.AfterFunc(ctx, func() { time.AfterFunc(sameSignal, stop) })
	// Caught, so that a closed pipe is an error of Write like others and the
	// program ends in order; not ignored, which the server's processes would inherit.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)

	var failure error
	root := newRoot(&failure)
	// fang prints what is wrong with the call itself; what a command returns is
	// printed here, for on a terminal fang asks it for its colours first, and one
	// that does not answer would hold up the message.
	err := fang.Execute(ctx, root, fang.WithVersion(version),
		fang.WithErrorHandler(func(_ io.Writer, _ fang.Styles, err error) { report(ctx, err) }))
	if verdict := cli.Verdict(0); errors.As(errors.Join(err, failure), &verdict) {
		return int(verdict)
	}
	if err != nil { // of the grammar: no command ran
		return exitUsage
	}
	report(ctx, failure)
	end := cli.PlanEnd{}
	switch {
	case failure == nil, brokenPipe(failure):
		return 0
	case errors.As(failure, &end):
		return end.Status
	case errors.Is(failure, cli.ErrUsage):
		return exitUsage
	}
	return exitFailed
}

// asked are the signals that ask for an end. A program that was started to outlive
// its terminal, as by nohup, does not heed the terminal's end.
func asked() []os.Signal {
	ask := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) || term.IsTerminal(os.Stdin.Fd()) {
		ask = append(ask, syscall.SIGHUP)
	}
	return ask
}

// report says on standard error what went wrong: in colour on a terminal, plain
// elsewhere, harmless in either case whatever the error quotes.
func report(ctx context.Context, err error) {
	if verdict := cli.Verdict(0); err == nil || brokenPipe(err) || errors.As(err, &verdict) {
		return // a verdict was printed
	}
	text := strings.ReplaceAll(safe.Block(strings.TrimSpace(err.Error())), "\n", "\n  ")
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		text = "interrupted: " + text
	}
	w := colorprofile.NewWriter(os.Stderr, os.Environ())
	name := lipgloss.NewStyle().Bold(true).Foreground(lipgloss.Red).Render("leasetop:")
	said := make(chan struct{})
	go func() {
		defer close(said)
		fmt.Fprintln(w, name, text)
	}()
	select {
	case <-said:
	case <-time.After(lastWord): // a terminal that was stopped with ctrl+s, or a reader that reads no more
	}
}

// brokenPipe tells whether somebody who read our output has had enough, as head has.
func brokenPipe(err error) bool { return errors.Is(err, syscall.EPIPE) }
