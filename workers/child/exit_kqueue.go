//go:build darwin || dragonfly || freebsd || netbsd || openbsd

package child

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// endWithParent does nothing here: only the guard ends children whose parent died.
func endWithParent(*syscall.SysProcAttr) {}

// awaitExit waits until a child of ours has ended, and does not reap it. waitid
// with WNOWAIT would do, but macOS has it return for children that are only stopped.
func awaitExit(pid int) error {
	queue, err := unix.Kqueue()
	if err != nil {
		return err
	}
	defer unix.Close(queue)
	unix.CloseOnExec(queue)
	want, got := make([]unix.Kevent_t, 1), make([]unix.Kevent_t, 1)
	unix.SetKevent(&want[0], pid, unix.EVFILT_PROC, unix.EV_ADD|unix.EV_ONESHOT)
	want[0].Fflags = unix.NOTE_EXIT
	for {
		n, err := unix.Kevent(queue, want, got, nil)
		switch {
		case err == unix.EINTR:
		case err == unix.ESRCH: // it has ended already, and is ours to reap
			return nil
		case err != nil:
			return err
		case n > 0 && got[0].Flags&unix.EV_ERROR != 0 && unix.Errno(got[0].Data) != unix.ESRCH:
			return unix.Errno(got[0].Data)
		case n > 0:
			return nil
		}
	}
}
