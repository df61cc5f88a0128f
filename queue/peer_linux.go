package queue

import (
	"errors"
	"fmt"
	"net"
	"os/user"
	"strconv"
	"syscall"
)

// requirePeer checks that the server behind a Unix socket runs as this user. Over TCP nobody
// can tell, and as with libpq nothing is checked.
func requirePeer(conn net.Conn, name string) error {
	socket, ok := conn.(*net.UnixConn)
	if !ok {
		return nil
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return err
	}
	var peer *syscall.Ucred
	if failed := raw.Control(func(fd uintptr) {
		peer, err = syscall.GetsockoptUcred(int(fd), syscall.SOL_SOCKET, syscall.SO_PEERCRED)
	}); errors.Join(failed, err) != nil {
		return fmt.Errorf("requirepeer: %w", errors.Join(failed, err))
	}
	id := strconv.Itoa(int(peer.Uid))
	is, err := user.LookupId(id)
	if err != nil {
		return fmt.Errorf("requirepeer is %q, but the server runs as the user with id %s, who has no name", name, id)
	}
	if is.Username != name {
		return fmt.Errorf("requirepeer is %q, but the server runs as %q", name, is.Username)
	}
	return nil
}
