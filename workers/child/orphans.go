package child

import "syscall"

// reapOrphans reaps the killed rest of a group whose leader has been reaped. Usually
// there is none: processes whose parent has ended are init's. They are ours when this
// process is itself process 1, as in a container, or a subreaper, and then they would stay
// zombies for as long as it lives. Only what is in the group is waited for, so no other
// child of this process has its end taken from whoever waits for it.
func reapOrphans(group int) {
	for {
		if _, err := syscall.Wait4(-group, nil, 0, nil); err != nil && err != syscall.EINTR {
			return // ECHILD: no more
		}
	}
}
