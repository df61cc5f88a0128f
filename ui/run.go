package ui

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/leasetop/leasetop/ui/editor"
	"github.com/leasetop/leasetop/ui/guard"
)

// framesPerSecond is how often the terminal may be written to. Data changes the
// screen less often; a key should show at once.
const framesPerSecond = 20

// lastWords is how long the terminal has to take the end of the program. One
// that has gone away, or was stopped with ctrl+s, takes nothing.
const lastWords = 1500 * time.Millisecond

// Run shows the dashboard until the user quits, ctx ends, or the process is told
// to stop (SIGTERM, SIGHUP, SIGINT). The terminal is put back as it was in every
// case, even when the process dies at once (see package guard, which is also why
// nothing printed meanwhile harms the picture). A panic in the dashboard or in any
// command of it is returned as an error, after its stack was written to standard
// error.
func Run(ctx context.Context, cfg Config) error {
	if err := cfg.check(); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, syscall.SIGINT)
	defer signal.Stop(interrupts)
	go func() {
		for {
			select {
			case <-interrupts:
				if !editor.Running() { // else it was typed there, and meant for it
					cancel()
				}
			case <-ctx.Done():
				return
			}
		}
	}()

	a := newApp(ctx, cfg)
	options := []tea.ProgramOption{tea.WithoutSignalHandler(), tea.WithFPS(framesPerSecond)}
	if cfg.In != nil {
		options = append(options, tea.WithInput(cfg.In))
	}
	if cfg.Out != nil {
		options = append(options, tea.WithOutput(cfg.Out))
	}
	var watch *guard.Guard
	if cfg.In == nil && cfg.Out == nil {
		var err error
		if watch, err = guard.Start(); err != nil {
			return fmt.Errorf("dashboard: %w", err)
		}
		options = append(options, tea.WithOutput(watch.Screen))
	}
	program := tea.NewProgram(a, options...)
	ended := make(chan error, 1)
	go func() {
		_, err := program.Run()
		ended <- err
	}()
	var err error
	over := true
	select {
	case err = <-ended:
	case <-ctx.Done():
		go program.Quit()
		select {
		case err = <-ended:
		case <-time.After(lastWords):
			over = false
		}
	}
	cancel() // commands that still wait give up
	a.plans.work.close(planFarewell)
	cleaned := a.plays.work.close(playFarewell)
	switch {
	case watch == nil:
	case over:
		watch.Stop()
	default:
		watch.Abandon()
	}
	draft := a.drafts.leave()
	if over {
		for _, line := range append(a.leftPlans(), draft...) {
			fmt.Fprintln(os.Stderr, "leasetop: "+line)
		}
		if !cleaned {
			fmt.Fprintln(os.Stderr, "leasetop: a scenario was still being cleaned up: what is left of it goes when the next is played here")
		}
	}
	var fault *panicError
	if errors.As(a.fault, &fault) {
		fmt.Fprintf(os.Stderr, "leasetop: %v\n\n%s\n", fault, strings.TrimSpace(string(fault.stack)))
		return fmt.Errorf("dashboard: %w", fault)
	}
	if err != nil {
		return fmt.Errorf("dashboard: %w", err)
	}
	return nil
}
