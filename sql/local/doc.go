// Package local runs a private PostgreSQL server, so that `make run` and the
// tests need no set-up.
//
// A server is a folder, <Dir>/<Name>:
//
//	data/        the data directory, 0700, owned by the account that runs the server
//	run/         the unix socket, 0700; there is no TCP port and no password
//	server.conf  our settings, written anew at each start, included by postgresql.conf
//	server.log   the server's log
//	start.lock   held exclusively by whoever starts, stops or restarts the server
//	users.lock   held shared by everybody who uses the server
//
// # Who stops it
//
// [Start] attaches to the server if it runs and starts it if it does not.
// [Server.Stop] detaches; whoever finds that nobody else holds users.lock
// stops the server. Both locks are flocks, so the kernel gives them back when
// a process dies in whatever way: a killed leasetop leaves a running server
// behind, which the next one finds, uses and stops, and it leaves nothing that
// blocks anybody. The server has a session of its own (setsid), so Ctrl-C and
// a closed terminal never reach it.
//
// # Whose process is that
//
// A postmaster.pid may name a process that has nothing to do with us: process
// ids are reused after a crash or a reboot. So no process is ever signalled
// because a file names it. A running server is recognised by what it answers
// on our socket (SHOW data_directory), and a process as our postmaster by its
// working directory, which PostgreSQL sets to the data directory.
//
// # As root
//
// PostgreSQL refuses to run as root. Then the server runs as the owner of
// what is already there, else as postgres, else as nobody.
package local
