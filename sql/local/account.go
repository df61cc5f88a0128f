package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// account is the operating-system user that runs the server.
type account struct {
	uid, gid uint32
	name     string
}

// self reports whether the account is the one this process runs as.
func (a account) self() bool { return int(a.uid) == os.Geteuid() }

// serverAccount picks the account for the server in folder: ourselves, or,
// since PostgreSQL refuses to run as root, the owner of what is already there,
// else postgres, else nobody.
func serverAccount(folder string) (account, error) {
	if os.Geteuid() != 0 {
		return accountOf(uint32(os.Geteuid()), uint32(os.Getegid())), nil
	}
	for _, path := range []string{filepath.Join(folder, "data"), folder, filepath.Dir(folder)} {
		if uid, gid, err := ownerOf(path); err == nil && uid != 0 {
			return accountOf(uid, gid), nil
		}
	}
	for _, name := range []string{"postgres", "_postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, uidErr := strconv.ParseUint(u.Uid, 10, 32)
		gid, gidErr := strconv.ParseUint(u.Gid, 10, 32)
		if uidErr == nil && gidErr == nil {
			return account{uid: uint32(uid), gid: uint32(gid), name: name}, nil
		}
	}
	return account{}, errors.New("PostgreSQL does not run as root, and there is neither a user postgres nor nobody to run it as: start leasetop as an ordinary user")
}

func accountOf(uid, gid uint32) account {
	name := "uid " + strconv.FormatUint(uint64(uid), 10)
	if u, err := user.LookupId(strconv.FormatUint(uint64(uid), 10)); err == nil {
		name = u.Username
	}
	return account{uid: uid, gid: gid, name: name}
}

// ownerOf returns the owner of path itself, not of what a symbolic link there
// points to.
func ownerOf(path string) (uid, gid uint32, err error) {
	info, err := os.Lstat(path)
	if err != nil {
		return 0, 0, err
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, 0, fmt.Errorf("the owner of %s cannot be told on this system", path)
	}
	return st.Uid, st.Gid, nil
}

// run runs a program as the account, in the folder dir, in a session of its
// own so that a terminal's signals do not reach it. It returns what the
// program wrote; an error carries that text, too.
func (a account) run(ctx context.Context, dir, program string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir = dir
	cmd.Env = serverEnv()
	cmd.WaitDelay = 5 * time.Second
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if !a.self() {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: a.uid, Gid: a.gid}
	}
	out, err := cmd.CombinedOutput()
	text := strings.TrimSpace(printable(string(out)))
	if ctx.Err() != nil {
		return text, ctx.Err()
	}
	if err != nil && text != "" {
		return text, fmt.Errorf("%s: %w: %s", filepath.Base(program), err, lastLines(text))
	}
	if err != nil {
		return text, fmt.Errorf("%s: %w", filepath.Base(program), err)
	}
	return text, nil
}

// serverEnv is the environment of the server and its tools. Nothing of the
// user's goes in but what programs need to load: PGPORT, PGDATA, PGOPTIONS, TZ
// or a locale would change the server behind our back.
func serverEnv() []string {
	env := []string{"LC_ALL=C"}
	for _, name := range []string{"PATH", "HOME", "TMPDIR", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH"} {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	return env
}
