// Package child runs jobs as child processes: [Handler] makes a handler of a
// program, in whatever language it is written.
//
// # What the program is given
//
// The program is started once for each job, without a shell: its arguments are
// those of [Handler], and nothing of a job is ever among them. The payload comes
// on standard input, byte for byte as the database has it; a program that does
// not read it does no harm. The environment is this process's own, secrets such as
// a password in DATABASE_URL included, and besides
//
//	LEASETOP_JOB_ID   the job's id
//	LEASETOP_QUEUE    its queue
//	LEASETOP_KIND     its kind, which may be empty
//	LEASETOP_ATTEMPT  1 at the first attempt
//
// # What it says by its end
//
//	exit 0            the job is completed
//	exit 65           poison: the job is dead (EX_DATAERR of sysexits.h). [Options.Poison]
//	                  adds other statuses
//	any other status  retried with backoff: after 2, 4, 8, 16, 32, then 64 minutes, unless
//	                  workers.WithBackoff says otherwise
//	a signal          the same: "killed by SIGSEGV"
//
// The end of what it wrote on standard error becomes the job's error, after the
// status: whole lines where possible, at most 1,600 bytes, and of several lines the
// one that tells most first: the last that is not indented.
//
// A program that cannot be started (it was removed, the machine has no processes,
// descriptors or memory left) is no fault of the job, which is given back: no attempt is
// used. So that a sick machine is not the one that claims fastest, the job is put off, for
// a second at first, then for as long as it has been going on, at most 30 seconds; and
// before that the slot rests as long with the job in hand, but at most 5 seconds, which
// is how long it may delay a drain. [Options.Unable] is told once.
//
// # When the job must stop
//
// Each child is the leader of a process group of its own, so that what it starts
// ends with it.
//
//	lease lost, trust ended, worker killed   SIGKILL to the whole group at once
//	drained, cancelled, timed out            SIGTERM to the group (and SIGCONT, should it be
//	                                         stopped), then SIGKILL when three quarters of
//	                                         workers.TimeToReturn have passed
//
// A child that was asked to end is never poison: completed if it exits 0 all the
// same, else released, cancelled or retried as the pool says.
//
// When the program itself has ended, whatever it left running in its group is
// killed before the job gets its outcome; a background process does not outlive
// its job. Only then is the program reaped: until that moment no other process or
// group can have its id, so no stranger is ever signalled.
//
// A process that leaves the group (setsid, as daemons do) is out of reach. Where this
// process is itself process 1, as in a container, it reaps what it killed of a group, but
// not such a daemon: let jobs that start some have an init (docker run --init).
//
// # When this process dies, or is stopped
//
// kill -9 leaves nobody to clean up. So with the first child a second process of
// the same binary is started, the guard, which knows the groups that live and kills
// them when it sees this process's end of a pipe close. A child that has just begun,
// whose group the guard does not know yet, it finds by its pipes. On Linux, that is,
// where besides the kernel kills the program itself (PR_SET_PDEATHSIG); elsewhere a
// child that is less than some milliseconds old may be missed.
//
// SIGSTOP, ctrl+z and debuggers stop this process and not its children. On Linux the
// guard knows by when each group must have ended (workers.TrustedFor), is told anew as
// the lease is renewed, and kills a group whose time has come: somebody else may do the
// job from then on. The job is tried again, should nobody have it. Elsewhere the child
// goes on until this process wakes. So it does anywhere for some moments when the whole
// machine, guard included, was stopped and wakes.
//
// A guard that is killed is replaced at once. Who kills both in one stroke leaves the
// children behind, but for the program itself on Linux. There killall and pkill, which
// go by the name, do not: the guard is called childguard. pkill -f does, by its arguments,
// and so does whatever goes by the binary; a service manager that kills the whole
// cgroup ends the children too.
package child
