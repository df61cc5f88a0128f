package term

import (
	"context"
	"fmt"
	"image/color"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"go.uber.org/goleak"
	"golang.org/x/sys/unix"
)

// The test binary is also the program under test: a real bubbletea program in
// a process of its own.
func TestMain(m *testing.M) {
	if os.Getenv("TERM_TEST_PROGRAM") != "" {
		if _, err := tea.NewProgram(probe{}).Run(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	if signal.Ignored(syscall.SIGHUP) { // under nohup; a program that is started would be told to do so too
		signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	}
	goleak.VerifyTestMain(m)
}

type probe struct {
	width, height  int
	key, click     string
	dark, clusters string
}

func (p probe) Init() tea.Cmd { return tea.RequestBackgroundColor }

func (p probe) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		p.width, p.height = msg.Width, msg.Height
	case tea.KeyPressMsg:
		p.key = msg.String()
		if p.key == "q" {
			return p, tea.Quit
		}
	case tea.PasteMsg:
		p.key = "pasted " + msg.Content
	case tea.MouseClickMsg:
		p.click = fmt.Sprintf("%d,%d", msg.X, msg.Y)
	case tea.BackgroundColorMsg:
		p.dark = fmt.Sprint(msg.IsDark())
	case tea.ModeReportMsg:
		if msg.Mode == ansi.ModeUnicodeCore {
			p.clusters = fmt.Sprint(!msg.Value.IsNotRecognized())
		}
	}
	return p, nil
}

func (p probe) View() tea.View {
	v := tea.NewView(strings.Join([]string{
		fmt.Sprintf("size %d×%d", p.width, p.height),
		"key " + p.key, "click " + p.click, "dark " + p.dark, "clusters " + p.clusters,
		"\x1b[31mred\x1b[m é 你好│",
	}, "\n"))
	v.AltScreen, v.MouseMode, v.WindowTitle = true, tea.MouseModeCellMotion, "probe"
	return v
}

func open(t *testing.T, o Options) *Test {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	o.Args, o.Env = []string{self}, append(o.Env, "TERM_TEST_PROGRAM=1")
	return Open(t, o)
}

func sh(t *testing.T, script string, o Options) *Test {
	t.Helper()
	o.Args = []string{"sh", "-c", script}
	return Open(t, o)
}

func TestProgramIsDrivenThroughKeysAndSeenOnTheScreen(t *testing.T) {
	t.Parallel()
	tm := open(t, Options{Width: 60, Height: 12, Clusters: true})
	tm.Expect("size 60×12", "dark true", "clusters true", "red é 你好│")
	if !tm.Alt() || tm.Title() != "probe" {
		t.Errorf("alt %v, title %q", tm.Alt(), tm.Title())
	}
	for _, key := range []string{
		"j", "G", "?", "é", "enter", "esc", "tab", "shift+tab", "space", "backspace", "up", "down", "left", "right",
		"home", "end", "pgup", "pgdown", "insert", "delete", "ctrl+d", "ctrl+u", "alt+x", "f1", "f5", "f12",
	} {
		tm.Press(key)
		tm.Expect("key " + key)
	}
	if err := tm.Click(3, 2); err != nil {
		t.Error(err)
	}
	tm.Expect("click 3,2")
	if err := tm.Paste("two\nlines"); err != nil {
		t.Error(err)
	}
	tm.Expect("key pasted two")
	if err := tm.Resize(100, 30); err != nil {
		t.Error(err)
	}
	tm.Expect("size 100×30")
	f := tm.Frame()
	if f.Width != 100 || f.Height != 30 || len(f.Lines()) != 30 {
		t.Errorf("%d×%d", f.Width, f.Height)
	}
	x, y, ok := f.Find("red")
	if c := f.Cell(x, y); !ok || c.Style.Fg != ansi.Red {
		t.Errorf("%v at %d,%d", c, x, y)
	}
	if !strings.Contains(tm.ANSI(), "\x1b[31mred") || tm.Written() == 0 {
		t.Errorf("%d bytes, %q", tm.Written(), tm.ANSI())
	}
	tm.Press("q")
	if code := tm.Exit(); code != 0 {
		t.Errorf("exit status %d", code)
	}
	if tm.Alt() {
		t.Error("left in the alternate screen")
	}
}

func TestLightTerminalSaysSo(t *testing.T) {
	t.Parallel()
	tm := open(t, Options{Light: true})
	tm.Expect("dark false", "clusters false")
}

func TestSilentTerminalAnswersNothing(t *testing.T) {
	t.Parallel()
	tm := open(t, Options{Silent: true})
	tm.Expect("size 80×24")
	tm.Press("j") // the answers would have come before the key
	tm.Expect("key j")
	if s := tm.Screen(); strings.Contains(s, "dark true") || strings.Contains(s, "dark false") || strings.Contains(s, "clusters f") {
		t.Errorf("answered:\n%s", s)
	}
}

func TestExitStatusAndSignals(t *testing.T) {
	t.Parallel()
	if code := sh(t, "exit 3", Options{}).Exit(); code != 3 {
		t.Errorf("exit status %d, want 3", code)
	}
	tm := sh(t, "trap 'echo caught; exit 5' TERM; echo ready; while :; do read x; done", Options{})
	tm.Expect("ready")
	if err := tm.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	_ = tm.Send("\n")
	tm.Expect("caught")
	if code := tm.Exit(); code != 5 {
		t.Errorf("exit status %d, want 5", code)
	}
	tm = sh(t, "echo ready; read x", Options{})
	tm.Expect("ready")
	if err := tm.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if code := tm.Exit(); code != 128+9 {
		t.Errorf("exit status %d, want 137", code)
	}
}

func TestHangupReachesTheProgram(t *testing.T) {
	t.Parallel()
	tm := sh(t, "echo ready; while :; do read x || sleep 1; done", Options{})
	tm.Expect("ready")
	if err := tm.Hangup(); err != nil {
		t.Fatal(err)
	}
	if code := tm.Exit(); code != 128+1 {
		t.Errorf("exit status %d, want 129", code)
	}
}

func TestEnvironmentIsClean(t *testing.T) {
	t.Setenv("NO_COLOR", "1")
	t.Setenv("PGHOST", "production")
	tm := sh(t, `echo "[$NO_COLOR$PGHOST] $TERM $COLORTERM $TZ $LC_ALL $X"; tput cols 2>/dev/null; stty size`, Options{
		Width: 70, Height: 9, Env: []string{"X=extra"},
	})
	tm.Expect("[] xterm-256color truecolor UTC C.UTF-8 extra", "9 70")
}

func TestOutputBeforeTheEndIsSeen(t *testing.T) {
	t.Parallel()
	tm := sh(t, "seq 1 3000; printf last", Options{})
	tm.Exit()
	if !strings.HasSuffix(tm.Screen(), "3000\nlast") {
		t.Errorf("screen ends\n%s", tm.Screen())
	}
	if n := tm.Written(); n != 16897 { // 10,893 digits, 3,000 × CR LF, "last"
		t.Errorf("%d bytes", n)
	}
}

func TestCharactersCutByTheKernelStayWhole(t *testing.T) {
	t.Parallel()
	// The kernel hands over at most 4,095 bytes at once, wherever they end.
	file := filepath.Join(t.TempDir(), "text")
	text := strings.Repeat(strings.Repeat("e\u0301👩🏾‍💻|", 20)+"\n", 40) + "end"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	// A program that a busy machine holds up in the middle of a character is taken for
	// done now and then; without any holding back each try would show a cut.
	cut := ""
	for range 5 {
		tm := Open(t, Options{Args: []string{"cat", file}, Width: 90, Height: 50})
		tm.Expect("end")
		if cut = firstCut(tm.Frame()); cut == "" {
			return
		}
	}
	t.Fatal(cut)
}

// firstCut is where the first character stands that is not whole; "" when all are.
func firstCut(f *Frame) string {
	for i := range 800 {
		x, y := i%20*4, i/20
		if a, b, c := f.Cell(x, y).Content, f.Cell(x+1, y).Content, f.Cell(x+3, y).Content; a != "e\u0301" || b != "👩🏾‍💻" || c != "|" {
			return fmt.Sprintf("cut at column %d of line %d: %q %q %q", x, y, a, b, c)
		}
	}
	return ""
}

func TestHalfDrawnFramesAreNotSeen(t *testing.T) {
	t.Parallel()
	tm := sh(t, `printf 'old'; read x; printf '\033[?2026h\r'; printf 'new'; read x; printf '!\033[?2026l'; read x`, Options{})
	tm.Expect("old")
	_ = tm.Send("\n\n")
	var seen []string
	tm.Until("new frame", func(f *Frame) bool {
		seen = append(seen, f.Line(0))
		return strings.Contains(f.Text(), "!")
	})
	for _, s := range seen[:len(seen)-1] {
		if strings.Contains(s, "new") {
			t.Errorf("half-drawn frame seen: %q", seen)
		}
	}
}

func TestEveryChangeIsSeenWhileWatched(t *testing.T) {
	t.Parallel()
	tm := open(t, Options{})
	tm.Expect("key")
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	seen, over := make(chan string), make(chan struct{})
	go func() {
		defer close(over)
		tm.Watch(ctx, func(f *Frame) {
			select {
			case seen <- f.Line(1):
			case <-ctx.Done():
			}
		})
	}()
	for _, key := range []string{"", "a", "b"} {
		if key != "" {
			tm.Press(key)
		}
		for line := ""; line != strings.TrimSpace("key "+key); {
			select {
			case line = <-seen:
			case <-time.After(Patience):
				t.Fatalf("did not see %q after %q", key, line)
			}
		}
	}
	stop()
	<-over
}

func TestWatchEndsWithTheProgram(t *testing.T) {
	t.Parallel()
	for range 8 { // the last output and the end are both there to be chosen from
		tm := Open(t, Options{Args: []string{"sh", "-c", "echo first; read line; echo last"}})
		tm.Expect("first")
		var seen []string
		tm.Watch(t.Context(), func(f *Frame) {
			if seen = append(seen, f.Text()); len(seen) == 1 {
				tm.Press("enter")
				tm.Exit()
			}
		})
		if last := seen[len(seen)-1]; !strings.HasSuffix(last, "last") {
			t.Errorf("saw %q at the end", last)
		}
	}
}

func TestWaitForSaysWhatItSaw(t *testing.T) {
	t.Parallel()
	tm := sh(t, "echo hello; read x", Options{})
	tm.Expect("hello")
	err := tm.WaitFor("goodbye", 10*time.Millisecond)
	if err == nil || !strings.Contains(err.Error(), "goodbye") || !strings.Contains(err.Error(), "hello") {
		t.Errorf("got %v", err)
	}
	_ = tm.Send("\n")
	err = tm.WaitFor("goodbye", Patience) // ends with the program, not with patience
	if err == nil || !strings.Contains(err.Error(), "ended") {
		t.Errorf("got %v", err)
	}
}

func TestCloseKillsWhatIsLeft(t *testing.T) {
	t.Parallel()
	// The program and its child hold a pipe open; it ends with the last of them.
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := unix.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = os.ReadFile(pipe)
	}()
	tm, err := Start(Options{Args: []string{"sh", "-c", `exec 3>"$0"; trap "" HUP TERM INT; sleep 600 & echo ready; wait`, pipe}})
	if err != nil {
		t.Fatal(err)
	}
	if err := tm.WaitFor("ready", Patience); err != nil {
		t.Fatal(err)
	}
	select {
	case <-ended:
		t.Fatal("ended before it was closed")
	default:
	}
	tm.Close()
	tm.Close()
	select {
	case <-ended:
	case <-time.After(Patience):
		t.Error("a child survived")
	}
}

func TestStartNamesWhatIsWrong(t *testing.T) {
	t.Parallel()
	if _, err := Start(Options{}); err == nil {
		t.Error("started nothing")
	}
	if _, err := Start(Options{Args: []string{"/no/such/program"}}); err == nil || !strings.Contains(err.Error(), "/no/such/program") {
		t.Errorf("got %v", err)
	}
	if _, err := Key("hyper+x"); err == nil || !strings.Contains(err.Error(), "hyper+x") {
		t.Errorf("got %v", err)
	}
}

func TestScreenKnowsItsColours(t *testing.T) {
	t.Parallel()
	tm := sh(t, "echo x; read x", Options{Light: true})
	tm.Expect("x")
	_, white := Light()
	if bg := tm.Frame().Background; bg != color.Color(white) {
		t.Errorf("background %v", bg)
	}
}
