package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/leasetop/leasetop/sql/local/testdb"
	"github.com/leasetop/leasetop/ui/term"
)

// editors is a dashboard whose editor does what the test says, and which notes how the
// terminal is set when it has ended.
type editors struct {
	*session
	folder string
}

func startEditing(t *testing.T, width, height int) *editors {
	t.Helper()
	folder := t.TempDir()
	e := &editors{&session{t: t, home: testdb.Home(t)}, folder}
	e.write("editor", "#!/bin/sh\n. "+folder+"/does\n")
	e.Test = term.Open(t, term.Options{
		Args:  []string{"/bin/sh", "-c", binary + "; stty -a > " + folder + "/stty"},
		Env:   []string{"LEASETOP_HOME=" + e.home, "VISUAL=" + folder + "/editor", "TMPDIR=" + folder},
		Width: width, Height: height,
	})
	if err := e.Wait("jobs completing", 3*term.Patience, func(f *term.Frame) bool { return strings.Contains(f.Text(), "completed by") }); err != nil {
		t.Fatal(err)
	}
	return e
}

func (e *editors) write(name, text string) {
	e.t.Helper()
	if err := os.WriteFile(filepath.Join(e.folder, name), []byte(text), 0o700); err != nil {
		e.t.Fatal(err)
	}
}

// edits says what the editor does next time to the file "$1", and calls it.
func (e *editors) edits(script string) {
	e.t.Helper()
	e.write("does", script)
	e.answer("e")
}

// answer presses one key: one that acts without asking stands alone, and a dialog does
// not listen at first, see session.confirm.
func (s *session) answer(key string) {
	s.t.Helper()
	time.Sleep(400 * time.Millisecond)
	s.Press(key)
}

// decides presses a button of the review, as soon as it shows its key: then it listens.
func (e *editors) decides(key, button string) {
	e.t.Helper()
	e.Expect(" " + key + "  " + button)
	e.Press(key)
}

// drafts are the texts that are left in the folder of temporary files.
func (e *editors) drafts() (texts []string) {
	e.t.Helper()
	found, _ := filepath.Glob(filepath.Join(e.folder, "leasetop-edit-*", "*"))
	for _, path := range found {
		text, err := os.ReadFile(path)
		if err != nil {
			e.t.Fatal(err)
		}
		texts = append(texts, string(text))
	}
	return texts
}

// A dead letter's payload is mended in the editor and the job redriven, over a real
// terminal and database: a mistake is sent back, secrets stay hidden, the original and
// who did what are kept, and an editor that dies in the middle of its picture harms nothing.
func TestPayloadIsMendedInTheEditor(t *testing.T) {
	t.Parallel()
	s := startEditing(t, 80, 24)
	id := query[int64](s.session, `insert into leasetop.jobs (queue, kind, status, payload, last_error)
		values ('nobody takes these', 'send', 'dead', '{"to": "ann@exmaple.com", "n": 1970670598291982290, "api_key": "s3cret"}', 'no such host') returning id`)
	payload := func() string {
		return query[string](s.session, `select payload::text from leasetop.jobs where id = $1`, id)
	}
	s.Press("3")
	s.find(`DEAD LETTERS`)
	s.Press("tab")
	s.find(fmt.Sprintf(`▸ *\d+s +%d `, id))
	s.Press("enter")
	s.Expect(fmt.Sprintf("JOB %d", id), "1 secret masked")
	s.Press("tab")
	s.Expect("▸ PAYLOAD", `"api_key": ••••••`)

	s.edits(`stty raw -echo; printf '\033[?1049h\033[?1000h\033[?2004lin the middle of its picture'; kill -9 $$`)
	s.Expect("signal: killed: nothing was changed", `"api_key": ••••••`)

	s.edits(`sed -i 's/exmaple/example/; s/\("n": [0-9]*\)/\1 oops/' "$1"`)
	s.Expect("This is no JSON: line", "oops")
	s.write("does", `sed -i 's/ oops//' "$1"`)
	s.decides("e", "go on editing")
	s.Expect("ann@exmaple.com", "ann@example.com", "1 line of the payload changed", "save and redrive")
	if before := payload(); !strings.Contains(before, "exmaple") {
		t.Fatalf("it was written before anybody said so: %s", before)
	}
	s.decides("r", "save and redrive")
	s.find(`status +pending`)
	s.find(`waits +no live worker takes`)
	s.Expect("edited once")
	if got := payload(); got != `{"n": 1970670598291982290, "to": "ann@example.com", "api_key": "s3cret"}` {
		t.Errorf("the payload is %s", got)
	}
	if left := s.drafts(); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
	log := query[string](s.session, `select string_agg(concat_ws(' ', what, nullif(reason, ''), done), '; ' order by id) from leasetop.operator_log where ids = array[$1::bigint]`, id)
	if want := "reveal to edit the payload 1; reveal to edit the payload 1; edit and redrive 1"; log != want {
		t.Errorf("the operator log says %q, want %q", log, want)
	}
	s.Press("o")
	s.Expect("PAYLOAD as it was", "ann@exmaple.com", `"api_key": ••••••`)

	// Somebody else changes it while it is edited: nothing is overwritten, the text is kept.
	s.edits(`sed -i 's/example/elsewhere/' "$1"`)
	s.Expect("ann@elsewhere.com")
	s.exec(`update leasetop.jobs set payload = '{"to": "bob"}' where id = $1`, id)
	s.decides("s", "save")
	s.Expect("NOT WRITTEN")
	if left := s.drafts(); len(left) != 1 || !strings.Contains(left[0], "elsewhere") || payload() != `{"to": "bob"}` {
		t.Errorf("kept %q, the payload is %s", left, payload())
	}
	s.answer("enter")
	s.Gone("NOT WRITTEN")
	s.Press("L")
	s.find(`edit +0 +1`)
	s.Press("q")
	if code := s.Exit(); code != 0 || s.Alt() {
		t.Errorf("exit status %d, alternate screen %t", code, s.Alt())
	}
	stty, err := os.ReadFile(filepath.Join(s.folder, "stty"))
	if err != nil || !regexp.MustCompile(`\sicanon\b`).Match(stty) || !regexp.MustCompile(`\secho\b`).Match(stty) {
		t.Errorf("the terminal is left as %s, %v", stty, err)
	}
}
