package local

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
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

// open opens the server's folder.
func (p place) open() (*os.Root, error) { return openFolder(p.folder, p.owner) }

// openData opens the data directory.
func (p place) openData() (*os.Root, error) { return openFolder(p.data(), p.runner) }

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
	var missing []string // the outermost first
	for d := dir; ; d = filepath.Dir(d) {
		info, err := os.Stat(d)
		if err == nil && !info.IsDir() {
			err = fmt.Errorf("%s is not a folder", d)
		}
		if err == nil {
			break
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		missing = append([]string{d}, missing...)
	}
	for _, d := range missing {
		if err := makeOwnFolder(d); err != nil {
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
// there first. All is checked and changed on the folder that was opened.
func makeFolder(path string, mode os.FileMode, owner account) error {
	parent, err := os.OpenRoot(filepath.Dir(path) + "/.")
	if err != nil {
		return err
	}
	defer func() { _ = parent.Close() }()
	name := filepath.Base(path)
	err = parent.Mkdir(name, mode)
	made := err == nil
	if err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	folder, err := parent.OpenFile(name, os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
	there, statErr := parent.Lstat(name)
	if statErr != nil {
		return errors.Join(statErr, err)
	}
	if err == nil {
		defer func() { _ = folder.Close() }()
	}
	if !there.IsDir() {
		return fmt.Errorf("%s is not a folder: remove it, or set LEASETOP_HOME to another place", path)
	}
	if err != nil {
		return err
	}
	info, err := folder.Stat()
	if err != nil {
		return err
	}
	uid := uidOf(info)
	if uid == 0 && os.Geteuid() == 0 && !owner.self() && os.SameFile(info, there) {
		if err := handOver(parent, folder, owner); err != nil {
			return err
		}
		uid = owner.uid
	}
	if uid != owner.uid {
		return fmt.Errorf("%s belongs to %s, not to %s: run as that user, or set LEASETOP_HOME to another place",
			path, accountOf(uid, 0).name, owner.name)
	}
	if perm := info.Mode().Perm(); made || perm&0o022 != 0 || perm&^mode != 0 {
		return folder.Chmod(mode) // whatever the umask
	}
	return nil
}

// handOver gives a folder that root made, just now or before it was killed, to
// its owner. A folder of root's that holds anything is not given away, nor one
// in a folder of a third user's, who could have moved it there.
func handOver(parent *os.Root, folder *os.File, owner account) error {
	in, err := parent.Stat(".")
	if err != nil {
		return err
	}
	names, err := folder.Readdirnames(1)
	if uid := uidOf(in); len(names) > 0 || !errors.Is(err, io.EOF) || uid != 0 && uid != owner.uid {
		return fmt.Errorf("%s belongs to root, not to %s: remove it, or set LEASETOP_HOME to another place", folder.Name(), owner.name)
	}
	return folder.Chown(int(owner.uid), int(owner.gid))
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
