package local

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"syscall"
)

// place is where a server lives and who runs it.
type place struct {
	folder string  // <Dir>/<Name>, without symbolic links
	owner  account // owns the folder and the locks
	runner account // runs the server, owns data and socket
	socket string  // the socket's folder
}

func (p place) data() string { return filepath.Join(p.folder, "data") }
func (p place) conf() string { return filepath.Join(p.folder, "server.conf") }
func (p place) log() string  { return filepath.Join(p.folder, "server.log") }

var nameForm = regexp.MustCompile(`^[a-z0-9][a-z0-9_.-]{0,62}$`)

// findPlace makes the folder of the server name under dir, or under the user's
// state folder if dir is empty.
func findPlace(dir, name string) (place, error) {
	if !nameForm.MatchString(name) {
		return place{}, fmt.Errorf("server name %q: use up to 63 lower-case letters, digits, dots, dashes and underscores", name)
	}
	base, err := baseFolder(dir)
	if err != nil {
		return place{}, err
	}
	p := place{folder: filepath.Join(base, name)}
	if p.runner, err = serverAccount(p.folder); err != nil {
		return place{}, err
	}
	p.owner = accountOf(uint32(os.Geteuid()), uint32(os.Getegid()))
	if uid, gid, err := ownerOf(base); err == nil && p.owner.uid == 0 {
		p.owner = accountOf(uid, gid)
	}
	mode := os.FileMode(0o700)
	if p.owner.uid != p.runner.uid {
		mode = 0o755 // the runner has to get through; data and socket are 0700
	}
	if err := makeFolder(p.folder, mode, p.owner); err != nil {
		return place{}, err
	}
	p.socket, err = socketFolder(p.folder, p.runner)
	return p, err
}

// baseFolder returns the folder that holds the servers, made and without
// symbolic links.
func baseFolder(dir string) (string, error) {
	if dir == "" {
		dir = os.Getenv("LEASETOP_HOME")
	}
	if dir != "" {
		return makeBase(dir)
	}
	return firstUsable(stateFolder(), fallbackFolder())
}

// CacheFolder returns the folder for what can be made again at any time, such
// as a downloaded PostgreSQL and the servers of tests. It makes the folder.
func CacheFolder() (string, error) {
	return firstUsable(cacheFolder(), filepath.Join(fallbackFolder(), "cache"))
}

// ScratchFolder returns the folder for the servers of tests: in memory where
// that is roomy, else in the cache. Every test makes and drops hundreds of
// files, and ext4 passes over the inodes of files deleted in the last seconds
// one by one: to copy a database took 42 ms in memory and up to 1.4 s on disk.
// It does not depend on LEASETOP_HOME, which tests set.
func ScratchFolder() (string, error) {
	const memory, roomy = "/dev/shm", 4 << 30 // containers have 64 MB there
	var fs syscall.Statfs_t
	if err := syscall.Statfs(memory, &fs); err == nil && uint64(fs.Blocks)*uint64(fs.Bsize) >= roomy {
		dir := filepath.Join(memory, filepath.Base(fallbackFolder()))
		if err := makeOwnFolder(dir); err == nil {
			return dir, nil
		}
	}
	cache, err := CacheFolder()
	return filepath.Join(cache, "test"), err
}

func firstUsable(dirs ...string) (base string, err error) {
	for _, dir := range dirs {
		if dir == "" {
			continue
		}
		if base, err = makeBase(dir); err == nil {
			return base, nil
		}
	}
	return "", fmt.Errorf("%w; set LEASETOP_HOME to a folder of yours", err)
}

// cacheFolder is in the user's cache, for root where the server's account can
// get to.
func cacheFolder() string {
	if os.Geteuid() == 0 {
		return "/var/cache/leasetop"
	}
	if dir, err := os.UserCacheDir(); err == nil {
		return filepath.Join(dir, "leasetop")
	}
	return ""
}

// stateFolder is where a user's lasting data belongs (XDG base directories);
// for root it is a folder that the server's account can get to, which /root is
// not.
func stateFolder() string {
	if os.Geteuid() == 0 {
		return "/var/lib/leasetop"
	}
	if dir := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "leasetop")
	}
	if home, err := os.UserHomeDir(); err == nil && filepath.IsAbs(home) {
		return filepath.Join(home, ".local", "state", "leasetop")
	}
	return ""
}

// fallbackFolder serves users whose home cannot be written, such as nobody.
func fallbackFolder() string {
	return "/tmp/leasetop-" + strconv.Itoa(os.Geteuid())
}

func makeBase(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	if dir == fallbackFolder() || filepath.Dir(dir) == fallbackFolder() {
		if err := makeOwnFolder(fallbackFolder()); err != nil {
			return "", err
		}
	}
	if err := makeFolders(dir); err != nil {
		return "", fmt.Errorf("folder for the server's data: %w", err)
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return "", fmt.Errorf("folder for the server's data: %w", err)
	}
	if err := syscall.Access(dir, 2 /* W_OK */); err != nil {
		return "", fmt.Errorf("folder for the server's data: %s cannot be written: %w", dir, err)
	}
	return dir, nil
}

// makeFolders makes a folder and those above it that are missing, each with our
// mode whatever the umask: under root's 077 the server's account could not pass.
func makeFolders(dir string) error {
	var missing []string
	for d := dir; ; d = filepath.Dir(d) {
		if _, err := os.Stat(d); !errors.Is(err, fs.ErrNotExist) {
			break
		}
		missing = append(missing, d)
	}
	if err := os.MkdirAll(dir, ownMode()); err != nil {
		return err
	}
	for _, d := range missing {
		if err := os.Chmod(d, ownMode()); err != nil {
			return err
		}
	}
	return nil
}

// ownMode is the mode of our own folders. Root's must let the server's account
// through; below them, data and socket are 0700.
func ownMode() os.FileMode {
	if os.Geteuid() == 0 {
		return 0o755
	}
	return 0o700
}

func makeOwnFolder(path string) error {
	return makeFolder(path, ownMode(), accountOf(uint32(os.Geteuid()), uint32(os.Getegid())))
}

// makeFolder makes the folder, or checks that what is there is a folder which
// owner owns and nobody else can write: under /tmp anybody could have put it
// there first.
func makeFolder(path string, mode os.FileMode, owner account) error {
	err := os.Mkdir(path, mode)
	if err == nil && !owner.self() {
		err = os.Lchown(path, int(owner.uid), int(owner.gid))
	}
	if err == nil {
		return os.Chmod(path, mode) // whatever the umask
	}
	if !errors.Is(err, os.ErrExist) {
		return err
	}
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return fmt.Errorf("%s is not a folder: remove it, or set LEASETOP_HOME to another place", path)
	}
	uid, _, err := ownerOf(path)
	if err != nil {
		return err
	}
	if uid == 0 && os.Geteuid() == 0 && !owner.self() {
		return os.Lchown(path, int(owner.uid), int(owner.gid)) // made by us, killed before the chown
	}
	if uid != owner.uid {
		return fmt.Errorf("%s belongs to %s, not to %s: run as that user, or set LEASETOP_HOME to another place",
			path, accountOf(uid, 0).name, owner.name)
	}
	if perm := info.Mode().Perm(); perm&0o022 != 0 || perm&^mode != 0 {
		return os.Chmod(path, mode)
	}
	return nil
}

// port is part of the socket's name only; nothing listens on TCP.
const port = "5432"

// socketFolder returns the folder for the socket: run/ beside the data, or, if
// that would be longer than a socket's name may be, a short one under /tmp
// named after it. It is made 0700 and checked to be the runner's.
func socketFolder(folder string, runner account) (string, error) {
	dir := filepath.Join(folder, "run")
	if len(dir)+len("/.s.PGSQL."+port) > longestSocket() {
		sum := sha256.Sum256([]byte(folder))
		dir = fmt.Sprintf("/tmp/leasetop-%d-%s", runner.uid, hex.EncodeToString(sum[:6]))
	}
	if err := makeFolder(dir, 0o700, runner); err != nil {
		return "", fmt.Errorf("folder for the server's socket: %w", err)
	}
	return dir, nil
}

// longestSocket is the size of sun_path less its closing NUL: unix(7).
func longestSocket() int {
	if runtime.GOOS == "linux" {
		return 107
	}
	return 103
}
