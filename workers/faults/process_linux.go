package faults

import (
	"os"
	"syscall"
)

// endWithParent has the kernel kill the process when the thread that starts it ends,
// also while it is suspended and could not see the end of its standard input.
func endWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGKILL }

// callItself gives this process a name, beside that of its arguments.
func callItself(name string) { _ = os.WriteFile("/proc/self/comm", []byte(name), 0) }
