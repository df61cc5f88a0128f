package child

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// endWithParent has the kernel kill the child when the thread that starts it ends.
func endWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGKILL }

// awaitExit waits until a child of ours has ended, and does not reap it.
func awaitExit(pid int) error {
	for {
		err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if err != unix.EINTR {
			return err
		}
	}
}
