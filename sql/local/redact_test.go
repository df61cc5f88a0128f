package local

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

func TestRedactRemovesPasswordsAndNothingElse(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"postgres://ann:secret@db:5432/app?sslmode=require":           "postgres://ann@db:5432/app?sslmode=require",
		"postgresql://ann:se%23cr%2Fet%40@db/app":                     "postgresql://ann@db/app",
		"postgres://ann@db/app":                                       "postgres://ann@db/app",
		"postgres://:secret@db/app":                                   "postgres://@db/app",
		"postgres://ann:p#s@db/app":                                   "postgres://ann@db/app",
		"postgres://db/app?user=ann&password=secret":                  "postgres://db/app?user=ann",
		"postgres://db/app?pass%77ord=secret&sslpassword=s2&user=ann": "postgres://db/app?user=ann",
		"postgres:///app?host=/run/a%20b&port=5432":                   "postgres:///app?host=/run/a%20b&port=5432",
		"postgres://ann:a@h1:1,h2:2/app":                              "postgres://ann@h1:1,h2:2/app",
		"postgres://":                                                 "postgres://",
		"postgres://ann:secret":                                       "postgres://REDACTED",
		"postgres://ann:secret/app":                                   "postgres://REDACTED",
		"postgres://ann:secret,h2:5432/app":                           "postgres://REDACTED",
		"postgres://[::1]:5432/app":                                   "postgres://[::1]:5432/app",
		"":                                                            "",
		"host=db password=secret dbname=app":                          "host=db dbname=app",
		`host=db password = 'se cr\'et' dbname=app`:                   "host=db dbname=app",
		`password=se\ cret user='a n n'`:                              "user='a n n'",
		"host=db PASSWORD=secret":                                     "host=db",
	} {
		if got := Redact(text); got != want {
			t.Errorf("Redact(%q) = %q, want %q", text, got, want)
		}
	}
}

// A password that nobody escaped breaks a URL in ways that no parser can undo.
// Wherever it is cut, no part of it may show.
func TestNoPartOfAnUnescapedPasswordShows(t *testing.T) {
	for _, password := range []string{
		"p#s/s:w%zz@h", "p/ss", "p?ss", "p@ss/w0rd", "p?a=ss@h", "12/ss", "12?ss", "12#ss", "p ss", "p'ss", `p\ss`, "%zz", "[ss", "p@ss?a=b", "ss&ss", "ss\nss",
	} {
		for _, text := range []string{
			"postgres://ann:" + password + "@db/app",
			"postgres://ann:" + password + "@db:5432/app?sslmode=require",
			"postgres://ann:" + password + "@db:bad/app",
			"postgres://db/app?password=" + password,
			"postgres//ann:" + password + "@db/app",
			"mysql://ann:" + password + "@db/app",
			"host=db password='" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(password) + "'",
			"host=db password='" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(password) + "' port=bad",
			"host=db password='" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(password),
		} {
			shown := Redact(text)
			if _, err := Resolve(text); err != nil {
				shown += " " + err.Error()
			}
			for _, part := range []string{"ss", "w%zz", "w0rd", "zz", ":12"} {
				part = strings.ToLower(part)
				// "password" and "sslmode" are words of ours.
				plain := strings.NewReplacer("password", "", "sslmode", "", "passfile", "").Replace(strings.ToLower(shown))
				plain = strings.ReplaceAll(plain, "address", "")
				if strings.Contains(password, part) && strings.Contains(plain, part) {
					t.Errorf("of %q the password's %q shows: %q", text, part, shown)
				}
			}
		}
	}
}

func TestRedactedConnectionStringsStillConnectToTheSameDatabase(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"postgres://ann:secret@db:5433/app?application_name=x%40y",
		"host=db port=5433 user=ann password='se cret' dbname=app application_name=x@y",
	} {
		want, err := pgx.ParseConfig(text)
		if err != nil {
			t.Fatal(err)
		}
		got, err := pgx.ParseConfig(Redact(text))
		if err != nil {
			t.Fatalf("%q became %q: %v", text, Redact(text), err)
		}
		if got.Host != want.Host || got.Port != want.Port || got.User != want.User || got.Database != want.Database ||
			got.RuntimeParams["application_name"] != want.RuntimeParams["application_name"] {
			t.Errorf("%q became %q, which means another database", text, Redact(text))
		}
		if got.Password != "" {
			t.Errorf("%q became %q, which holds a password", text, Redact(text))
		}
	}
}

// pgx takes what follows the first @ for the host, and would look it up and say so.
func TestRestOfATornPasswordIsNoHost(t *testing.T) {
	t.Parallel()
	for _, url := range []string{
		"postgres://ann:se@cretpw@127.0.0.1:1/db", "postgres://ann:a@b@h1:1,h2:2/app", "postgres://ann:a@h1,b@h2/app",
	} {
		err := check(url)
		if err == nil || strings.Contains(err.Error(), "cretpw") {
			t.Errorf("check(%q): %v", url, err)
		}
	}
}
