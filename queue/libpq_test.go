package queue

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/jackc/pgx/v5/pgxpool"
)

// libpq's parameters, as its documentation lists them, with a value of each.
var libpqParameters = map[string]string{
	"host": "localhost", "hostaddr": "127.0.0.1", "port": "5432", "dbname": "app", "user": "ann", "password": "geheim",
	"passfile": "/nowhere/.pgpass", "require_auth": "!none", "channel_binding": "prefer", "connect_timeout": "10",
	"client_encoding": "auto", "options": "-cwork_mem=4MB", "application_name": "shop", "fallback_application_name": "psql",
	"keepalives": "1", "keepalives_idle": "60", "keepalives_interval": "10", "keepalives_count": "3", "tcp_user_timeout": "5000",
	"gssencmode": "prefer", "sslmode": "prefer", "sslnegotiation": "postgres", "sslcompression": "0", "sslcertmode": "allow",
	"sslkeylogfile": "/tmp/keys", "sslsni": "1", "requirepeer": "postgres", "ssl_min_protocol_version": "TLSv1.2",
	"ssl_max_protocol_version": "TLSv1.3", "min_protocol_version": "3.0", "max_protocol_version": "3.0", "krbsrvname": "postgres",
	"gsslib": "gssapi", "gssdelegation": "0", "target_session_attrs": "any", "load_balance_hosts": "random",
}

// settings are the parameters that the server takes itself.
var settings = []string{"client_encoding", "options", "application_name"}

// A parameter of libpq is no setting of the server: it works here, or it is left out.
func TestLibpqsParametersDoNotReachTheServer(t *testing.T) {
	t.Parallel()
	var pairs, query []string
	for name, value := range libpqParameters {
		for form, text := range map[string]string{"pairs": name + "='" + value + "'", "URL": "postgres://localhost/app?" + name + "=" + url.QueryEscape(value)} {
			config, err := parse(t.Context(), text)
			if err != nil {
				t.Errorf("%s in a %s: %v", name, form, err)
				continue
			}
			for sent := range config.ConnConfig.RuntimeParams {
				if sent != name && sent != "application_name" || sent == name && !slices.Contains(settings, name) {
					t.Errorf("%s in a %s: the server gets %s", name, form, sent)
				}
			}
		}
		pairs, query = append(pairs, name+"='"+value+"'"), append(query, name+"="+url.QueryEscape(value))
	}
	for _, text := range []string{strings.Join(pairs, " "), "postgres://?" + strings.Join(query, "&")} {
		config := must[*pgxpool.Config](t)(parse(t.Context(), text))
		if got := config.ConnConfig.RuntimeParams; len(got) != len(settings) || got["application_name"] != "shop" {
			t.Errorf("the server gets %v", got)
		}
	}
}

// What cannot be done is named; and so is what the server does not know.
func TestParametersThatCannotBeHeededAreNamed(t *testing.T) {
	t.Parallel()
	for parameter, want := range map[string]string{
		"sslcrl=/crl":                        "the connection string has sslcrl, which is not supported here: leave it out",
		"replication=database":               "the connection string has replication, which is not supported here: leave it out",
		"gssencmode=require":                 "the connection string has gssencmode=require, and encryption by GSSAPI is not supported here: use sslmode",
		"ssl_min_protocol_version=SSLv3":     `ssl_min_protocol_version is "SSLv3": use TLSv1.2 or TLSv1.3`,
		"hostaddr=example.com":               `hostaddr has "example.com", which is no IP address: use host for a name`,
		"hostaddr=10.0.0.1,10.0.0.2 host=db": "hostaddr has 2 addresses, and there are 1 hosts: name one for each",
	} {
		if _, err := Open(t.Context(), "user=ann password=geheim host=localhost "+parameter, Options{}); err == nil || err.Error() != "open queue: "+want {
			t.Errorf("%s: %v\nwant %s", parameter, err, want)
		}
	}
	q := open(t)
	other := must[*Queue](t)(Open(t.Context(), q.Pool().Config().ConnString()+"&no_such_thing=1", Options{}))
	defer other.Close()
	if err := other.Ping(t.Context()); err == nil || !strings.Contains(err.Error(), `"no_such_thing"`) || !strings.Contains(err.Error(), "check the parameters of the connection string") {
		t.Errorf("unknown to the server: %v", err)
	}
}

// hostaddr is where to connect; the host's name stays the one that is spoken of.
func TestHostaddrIsWhereToConnect(t *testing.T) {
	t.Parallel()
	at := turnsAway(t, pgproto3.ErrorResponse{Code: "57P03", Message: "later"})
	address, port, _ := strings.Cut(at, ":")
	for url, named := range map[string]string{
		"host=db.invalid hostaddr=" + address + " sslmode=disable port=" + port:                       "db.invalid:" + port,
		"hostaddr=" + address + " sslmode=disable port=" + port:                                       at,
		"postgres://ann:geheim@:" + port + "/app?sslmode=disable&hostaddr=" + address:                 at,
		"postgres://ann:geheim@db.invalid:" + port + "/app?sslmode=disable&hostaddr=" + address:       "db.invalid:" + port,
		"postgres://ann@a.invalid,b.invalid:" + port + "/app?sslmode=disable&hostaddr=10.0.0.1.1,::1": "",
	} {
		q, err := Open(t.Context(), url, Options{})
		if named == "" {
			if err == nil {
				t.Errorf("%s is taken", url)
			}
			continue
		}
		ok(t, err)
		if err := q.Ping(t.Context()); err == nil || !strings.Contains(err.Error(), "connect to "+named+": later (SQLSTATE 57P03)") {
			t.Errorf("%s: %v", url, err)
		}
		q.Close()
	}
}

// What libpq would do, so is done: the name for who has none, the versions of TLS, the user
// whom the server has to be.
func TestLibpqsParametersWork(t *testing.T) {
	t.Parallel()
	q := open(t)
	url := q.Pool().Config().ConnString()
	named := must[*Queue](t)(Open(t.Context(), url+"&fallback_application_name=shop&keepalives=1&sslcompression=0", Options{}))
	defer named.Close()
	var name string
	ok(t, named.Pool().QueryRow(t.Context(), "show application_name").Scan(&name))
	if name != "shop" {
		t.Errorf("application_name %q", name)
	}
	config := must[*pgxpool.Config](t)(parse(t.Context(), "postgres://h/db?sslmode=require&ssl_min_protocol_version=TLSv1.3"))
	if got := config.ConnConfig.TLSConfig.MinVersion; got != tls.VersionTLS13 {
		t.Errorf("TLS %x", got)
	}
	var folder string
	ok(t, q.Pool().QueryRow(t.Context(), "show data_directory").Scan(&folder))
	owner := must[os.FileInfo](t)(os.Stat(folder)).Sys().(*syscall.Stat_t).Uid
	runs := must[*user.User](t)(user.LookupId(fmt.Sprint(owner))).Username
	for peer, want := range map[string]string{runs: "", "nobody-else": fmt.Sprintf(`requirepeer is "nobody-else", but the server runs as %q`, runs)} {
		other := must[*Queue](t)(Open(t.Context(), url+"&requirepeer="+peer, Options{}))
		switch err := other.Ping(t.Context()); {
		case want == "":
			ok(t, err)
		case err == nil || !strings.Contains(err.Error(), want):
			t.Errorf("%v\nwant %s", err, want)
		}
		other.Close()
	}
}

// A blank where nobody sees one is no part of a URL; in a password it is told that there is
// one.
func TestBlanksAroundWhatConnects(t *testing.T) {
	t.Parallel()
	q := open(t)
	other := must[*Queue](t)(Open(t.Context(), " "+q.Pool().Config().ConnString()+"\r\n", Options{}))
	defer other.Close()
	ok(t, other.Ping(t.Context()))

	folder := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(folder, name)
		ok(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	passwords := file("pgpass", "h:5432:app:ann:geheim\n")
	service := file("services", " [shop] \n host = h\n\tdbname = app\n user = ann\n password = geheim\n")
	for _, url := range []string{"postgres://ann@h/app?passfile=" + passwords, "service=shop servicefile=" + service} {
		config := must[*pgxpool.Config](t)(parse(t.Context(), url))
		if c := config.ConnConfig; c.Host != "h" || c.Database != "app" || c.User != "ann" || c.Password != "geheim" {
			t.Errorf("%s: %s@%s/%s", url, c.User, c.Host, c.Database)
		}
	}
	for password, want := range map[string]string{"geheim ": "which begins or ends with a blank", "geheim": "check the user and the password", "": "no password was given"} {
		config := &pgconn.Config{User: "ann", Password: password}
		if cure, final := serverCure(&pgconn.PgError{Code: "28P01"}, config); !final || !strings.Contains(cure, want) || strings.Contains(cure, "geheim") {
			t.Errorf("%q: %s", password, cure)
		}
	}
}

// A file that never comes to its end holds up nobody who gave up.
func TestOpenDoesNotWaitForAFile(t *testing.T) {
	t.Parallel()
	for name, url := range map[string]string{
		"passwords": "postgres://h/db?passfile=", "services": "service=x servicefile=", "certificates": "postgres://h/db?sslmode=verify-ca&sslrootcert=",
	} {
		pipe := filepath.Join(t.TempDir(), name)
		ok(t, syscall.Mkfifo(pipe, 0o600))
		ctx, giveUp := context.WithCancel(t.Context())
		opened := make(chan *os.File, 1)
		go func() {
			file, err := os.OpenFile(pipe, os.O_WRONLY, 0) // until somebody reads it
			if err != nil {
				t.Error(err)
			}
			giveUp()
			opened <- file
		}()
		if _, err := Open(ctx, url+pipe, Options{}); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
		(<-opened).Close()
	}
}
