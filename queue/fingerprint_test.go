package queue

import (
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"
)

// fingerprints asks the database, which makes them.
func fingerprints(t *testing.T, q *Queue, texts ...string) (prints []string) {
	t.Helper()
	for _, text := range texts {
		var print string
		ok(t, q.Pool().QueryRow(t.Context(), "select leasetop.fingerprint($1)", text).Scan(&print))
		prints = append(prints, print)
	}
	return prints
}

// Texts of one line are the same problem, and no two lines are.
var problems = [][]string{
	{`timeout after 30 s`, `timeout after 31 s`, `timeout after 1.5 s`, `timeout after 123456789012345 s`},
	{`user "ann" not found`, `user "bob o'hara" not found`, `user "" not found`},
	{`file 'a.txt' missing`, `file '/tmp/b' missing`},
	{`can't open 'a'`, `can't open 'b c'`},
	{`couldn't reach it, won't retry`},
	{`couldn't reach it, won't stop`},
	{`no row 4bf92f35-77b3-4da6-a3ce-929d0e0e4736`, `no row 00000000-0000-0000-0000-000000000000`},
	{`commit 4bf92f3577b34da6a3ce929d0e0e4736 gone`, `commit 0af7651916cd43dd8448eb211c80319c gone`, `commit ABCDEF0123456 gone`},
	{`nil at 0xc0001ab456`, `nil at 0x7f`, `nil at 0XDEADBEEF`},
	{
		`dial 10.0.0.1:5432 refused`, `dial 192.168.100.200:6379 refused`, `dial 10.0.0.1 refused`,
		`dial [2001:db8::1]:5432 refused`, `dial [fe80::a:b]:80 refused`,
	},
	{`mailbox ann@example.com full`, `mailbox b.c+d@mail-2.example.co.uk full`},
	{`SMTP 421 rate limited`},
	{`SMTP 450 rate limited`},
	{`HTTP 503 after 3 s`, `HTTP 503 after 12 s`},
	{`HTTP 429 after 3 s`},
	{`HTTP 5031 after 3 s`, `HTTP 7 after 3 s`, `HTTP 50 after 3 s`}, // no statuses
	{`got 503 after 3 s`, `got 429 after 3 s`},                       // of what, nobody knows
	{"Traceback (most recent call last):\n  File \"a.py\", line 3, in <module>\n    f()\nKeyError: 'id'", "\nTraceback (most recent call last):\r\n  File \"b.py\", line 77, in g\r\n    g(1)\r\nKeyError: 'name'\r\n", `KeyError: 'id'`},
	{"Traceback (most recent call last):\n  File \"a.py\", line 3, in <module>\nTimeoutError: after 30 s\n\n"},
	{"Traceback (most recent call last):\n  File \"a.py\"\nKeyError: 'id'\n\nDuring handling of the above exception, another exception occurred:\n\nTraceback (most recent call last):\n  File \"a.py\"\nValueError: no row 7"},
	{"goroutine 7 [running]:\nruntime/debug.Stack()\n\t/go/stack.go:26 +0x5e\nmain.send(0xc000012345)\n\t/app/main.go:12 +0x1d", "goroutine 81 [chan send]:\nmain.send(0xc000099999)\n\t/app/main.go:14 +0x1d"},
	{"goroutine 7 [running]:\nmain.render()\n\t/app/main.go:12 +0x1d"},
	{"panic: no mailer\n\ngoroutine 7 [running]:\nmain.main()", "panic: no mailer\n\ngoroutine 9 [running]:\nmain.render()"},
	{"java.lang.IllegalStateException: closed\n\tat a.B.c(B.java:3)", "java.lang.IllegalStateException: closed\n\tat d.E.f(E.java:99)\nCaused by: x"},
	{`host db-7.internal down`, `host db-12.internal down`},
	{`panic: index out of range [5] with length 3`, `panic: index out of range [10] with length 10`},
	{`the facade decayed`},
	{`the cafe decayed`}, // words, though each letter is hexadecimal
	{"first line\nand 7 more", "first line\nanother rest", "first line\r\nwindows", "\n  first line", "first line"},
	{`unterminated "quote`},
	{`unterminated 'quote`},
	{``, `  `, "\n\n"},
}

func TestFingerprintsOfTheSameProblemAreTheSame(t *testing.T) {
	t.Parallel()
	q := open(t)
	first := map[string]string{}
	for _, same := range problems {
		prints := fingerprints(t, q, same...)
		for i, print := range prints {
			if print != prints[0] {
				t.Errorf("%q is %q, but %q is %q", same[0], prints[0], same[i], print)
			}
		}
		if other, taken := first[prints[0]]; taken {
			t.Errorf("%q and %q are both %q", other, same[0], prints[0])
		}
		first[prints[0]] = same[0]
	}
}

func TestFingerprintsShowWhatWasMasked(t *testing.T) {
	t.Parallel()
	q := open(t)
	for text, want := range map[string]string{
		`user "ann" not found in 3 ms`:                `user ‹text› not found in ‹n› ms`,
		`dial 10.0.0.1:5432: refused`:                 `dial ‹host›: refused`,
		`mailbox ann@example.com: 550`:                `mailbox ‹address›: ‹n›`,
		`SMTP 421 rate limited 10.0.0.1:25`:           `SMTP 421 rate limited ‹host›`,
		`HTTP/1.1 503 from 7`:                         `HTTP/1.1 503 from ‹n›`,
		`HTTP Error 404: Not Found`:                   `HTTP Error 404: Not Found`,
		`Request failed with status code 429, 3 left`: `Request failed with status code 429, ‹n› left`,
		`status_code=500 status: 201`:                 `status_code=500 status: 201`,
		`status 503.5 code 23505 code 42`:             `status ‹n› code ‹n› code ‹n›`,
		`status  HTTP 503`:                            `status  HTTP 503`,
		`Traceback (most recent call last):`:          `Traceback`,
		"Traceback (most recent call last):\n  File \"a.py\"\nOSError: [Errno 5] x\n":                           `OSError: [Errno ‹n›] x`,
		"Traceback (most recent call last):\n" + strings.Repeat("  File \"a.py\"\n", 500) + "OSError: far down": `OSError: far down`,
		"goroutine 1 [running]:\npanic({0x1, 0x2})\n\t/go/panic.go:7\nmain.main()":                              `main.main()`,
		"goroutine 1 [running]:\n":                             `goroutine ‹n› [running]:`,
		`job 4bf92f35-77b3-4da6-a3ce-929d0e0e4736 at 0xc00012`: `job ‹id› at ‹id›`,
		`couldn't`: `couldn't`,
		`worker lost 3 times: the lease ran out without a heartbeat`:  `worker lost ‹n› times: the lease ran out without a heartbeat`,
		`2026-11-29T18:00:00.123Z ERROR: duplicate key value (23505)`: `‹n›-‹n›-‹n›T‹n›:‹n›:‹n›Z ERROR: duplicate key value (‹n›)`,
	} {
		if got := fingerprints(t, q, text)[0]; got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
	var none *string
	ok(t, q.Pool().QueryRow(t.Context(), "select leasetop.fingerprint(null)").Scan(&none))
	if none != nil {
		t.Errorf("no error is %q", *none)
	}
}

// Any text may come. The print is bounded, and its making too: it is made inside
// every write of an error. A pattern that backtracks would run into the timeout.
func TestFingerprintsOfHostileTextsAreBounded(t *testing.T) {
	t.Parallel()
	q := openWith(t, 4, "statement_timeout = 10000")
	hostile := map[string]string{}
	for _, piece := range []string{
		"a", "1", "0", ".", "-", "@", "a@", "a@a", "a@a.", "a.a", "@a.a", "'", `"`, "'\"", "1.", "1.1.1.", "1.1.1.1", "0x", "0x0", "ab12", "f0", "-0000", "a-", "::", "a:", ":1",
		"é", "😀", "‹n›", "\u202e", " ", "(", "[", "\\", "{}", "%s", "\x1b[31m", "\n", "\r\n", "1e9", "+", "_", "a0000000-0000-0000-0000-", "don't ", "x='",
		"HTTP ", "HTTP 503", "code=", "smtp 1", "http/1.1.", "status: ", "\na", "\n a", "a\n",
	} {
		hostile[piece] = strings.Repeat(piece, 1<<20/len(piece))
	}
	for seed := range 20 {
		random := rand.New(rand.NewPCG(uint64(seed), 7))
		var b strings.Builder
		for b.Len() < 8000 {
			b.WriteByte("a1.-@'\":xf0 %+_\n"[random.IntN(16)])
		}
		hostile[b.String()[:20]] = b.String()
	}
	for _, piece := range []string{"\n", "\n ", "\na", " \n", "HTTP 1", "runtime\n", "panic(\n", "\nruntime", "x"} {
		for _, trace := range []string{"Traceback (most recent call last):\n", "goroutine 1 [running]:\n"} {
			hostile[trace+piece] = trace + strings.Repeat(piece, 1<<20/len(piece))
		}
	}
	for piece, text := range hostile {
		print := fingerprints(t, q, text)[0]
		if n := utf8.RuneCountInString(print); n > 300 {
			t.Errorf("%q…: a print of %d characters", piece, n)
		}
	}
}

func TestFingerprintFollowsTheLastError(t *testing.T) {
	t.Parallel()
	q := open(t)
	id := buried(t, q, NewJob{})
	exec(t, q, "update leasetop.jobs set last_error = 'HTTP 503 from \"a\"' where id = $1", id)
	if got := get(t, q, id).Fingerprint; got != "HTTP 503 from ‹text›" {
		t.Errorf("%q", got)
	}
}
