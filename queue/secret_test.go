package queue

import (
	"regexp"
	"strings"
	"testing"
)

// CASES "Secrets": p#s/s:w%zz@h, in whatever connection string that cannot be read, is
// in no error of the library; nor is it in that of a server that does not answer.
func TestErrorsHoldNoPassword(t *testing.T) {
	t.Parallel()
	leak := regexp.MustCompile(`p#s|s/s|s:w|w%zz|zz@h|(?i)p%23s|s%2fs|s%3aw|w%25zz|zz%40h`)
	for _, url := range []string{
		"postgres://ann:p#s/s:w%zz@h@localhost:1/db",
		"postgres://ann:p%23s/s:w%zz@h@localhost:1/db",
		"postgresql://ann:p#s/s:w%zz@h@localhost/db?sslmode=bogus",
		"postgres://ann:p#s/s:w%zz@h",
		"postgres://ann:p#s",
		"postgres://p#s/s:w%zz@h",
		"postgres://ann:w%zz@h/db?host=/tmp",
		"postgres://ann:p%23s%2Fs%3Aw%25zz%40h@h:x/db",
		"postgres://ann:p%23s%2Fs%3Aw%25zz%40h@h:1/db?pool_max_conns=x",
		"postgres://ann:p%23s%2Fs%3Aw%25zz%40h@127.0.0.1:1/db?sslmode=disable",
		"postgres://ann@h/db?password=p%23s%2Fs%3Aw%25zz%40h&sslmode=bogus",
		"postgres://ann@h/db?password=p#s/s:w%zz@h&sslmode=bogus",
		"host=/x user=ann password='p#s/s:w%zz@h",
		"host=/x user=ann password=p#s/s:w%zz@h sslrootcert=/nowhere sslmode=verify-full",
		"user=ann  password = p#s/s:w%zz@h port=x",
		"p#s/s:w%zz@h",
	} {
		q, err := Open(t.Context(), url, Options{})
		if err == nil {
			defer q.Close()
			err = q.Ping(t.Context())
			if err == nil {
				t.Errorf("%s reached a server", url)
				continue
			}
			if migrateErr := q.Migrate(t.Context()); migrateErr == nil || leak.MatchString(migrateErr.Error()) {
				t.Errorf("%s: migrate: %v", url, migrateErr)
			}
		}
		if found := leak.FindString(err.Error()); found != "" {
			t.Errorf("%s: %q in: %v", url, found, err)
		}
	}
}

// Where there can be no password, what is wrong is told.
func TestUnreadableConnectionStringsAreExplained(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]string{
		"host=/x port=none":                 "invalid port",
		"postgres://localhost/db?sslmode=x": `sslmode is "x": use disable`,
		"host=/x nonsense":                  "invalid keyword/value",
	} {
		if _, err := Open(t.Context(), url, Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", url, err, want)
		}
	}
	// A password may hold an @ when it is escaped, and a user's name too.
	config, err := parse(t.Context(), "postgres://a%40b:c%40d@h/db")
	if err != nil || config.ConnConfig.Password != "c@d" || config.ConnConfig.Host != "h" {
		t.Errorf("%v", err)
	}
}
