// Package e2e holds no code but tests: the real binary in a real pty, on a
// private server of its own, driven by keys and read from the screen as a
// person would.
package e2e
