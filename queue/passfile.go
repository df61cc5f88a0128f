package queue

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/jackc/pgpassfile"
	"github.com/jackc/pgx/v5"

	"github.com/leasetop/leasetop/sql/connstring"
)

// keepBlanks gives a password from the password file back the blanks at its end. libpq takes
// a line as it stands; the driver trims it.
func keepBlanks(config *pgx.ConnConfig, url string) {
	file := os.Getenv("PGPASSFILE")
	for _, p := range connstring.Parameters(url) {
		switch p.Name {
		case "passfile":
			file = p.Value
		case "password", "service":
			return // a service has its own, and may name another file
		}
	}
	if os.Getenv("PGPASSWORD") != "" || os.Getenv("PGSERVICE") != "" {
		return
	}
	if home, err := os.UserHomeDir(); file == "" && err == nil {
		file = filepath.Join(home, ".pgpass")
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return
	}
	if inURL(url) {
		return
	}
	host := config.Host
	if filepath.IsAbs(host) {
		host = "localhost"
	}
	port := strconv.Itoa(int(config.Port))
	for line := range strings.SplitSeq(string(text), "\n") {
		line = strings.TrimRight(line, "\r")
		file, err := pgpassfile.ParsePassfile(strings.NewReader(line))
		if err != nil || len(file.Entries) != 1 {
			continue
		}
		password := file.Entries[0].Password
		file.Entries[0].Password = "found"
		if file.FindPassword(host, port, config.Database, config.User) == "" {
			continue
		}
		if password == config.Password { // else it is one of the URL
			config.Password += line[len(strings.TrimRight(line, " \t")):]
		}
		return
	}
}

// inURL reports whether a URL has a password before its host.
func inURL(text string) bool {
	_, rest, isURL := strings.Cut(text, "://")
	end := strings.IndexAny(rest, "@/?")
	return isURL && end >= 0 && rest[end] == '@' && strings.Contains(rest[:end], ":")
}
