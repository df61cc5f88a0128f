package local

import (
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// The tests of what differs for a user who is not root, run by one whose home
// is empty.
func TestOrdinaryUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("the other tests already run as an ordinary user")
	}
	if testing.Short() {
		t.Skip("runs many tests once more")
	}
	t.Parallel()
	nobody, err := user.Lookup("nobody")
	if err != nil {
		t.Skip("there is no user nobody")
	}
	uid, _ := strconv.ParseUint(nobody.Uid, 10, 32)
	gid, _ := strconv.ParseUint(nobody.Gid, 10, 32)

	home := reachableFolder(t)
	binary := filepath.Join(home, "local.test") // the one that runs is out of nobody's reach
	// Not written by this process: what other tests start at that moment would hold it
	// open, and a file that is open to be written is not executed.
	if out, err := exec.Command("cp", os.Args[0], binary).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if err := os.Chown(home, int(uid), int(gid)); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), binary, "-test.v", "-test.run",
		"^Test(SecondAttaches|StandbyFollows|ServerIsSetUp|FreshWipes|ParentKilled|TwoParents|Stale|ServerKilled|LongPath|Folder|SocketFolder|StateFolder|URLServes)")
	cmd.Dir = home
	cmd.Env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "TMPDIR=" + home}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("as nobody: %v\n%s", err, out)
	}
	for _, name := range []string{"SecondAttachesAndLastStops", "StandbyFollowsAndTakesOverWithAllThatWasAcknowledged"} {
		if !strings.Contains(string(out), "--- PASS: Test"+name) && !strings.Contains(string(out), "SKIP: Test"+name) {
			t.Errorf("Test%s did not run as nobody:\n%s", name, out)
		}
	}
}
