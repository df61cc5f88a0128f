package queue

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgproto3"
)

// turnsAway is a server that answers every client with an error, and its address.
func turnsAway(t *testing.T, with pgproto3.ErrorResponse) string {
	t.Helper()
	with.Severity, with.SeverityUnlocalized = "致命的", "FATAL"
	return answersWith(t, wire(t, &with))
}

// Each way of not being let in has its own cure, whatever language the server speaks.
func TestEachRefusalOfAConnectionHasItsCure(t *testing.T) {
	t.Parallel()
	const words = "接続は\n拒否されました"
	for _, c := range []struct {
		code, routine, cure string
		final               bool
	}{
		{"53300", "InitProcess", "end some sessions, use fewer connections, as by pool_max_conns=4 in the URL, or raise max_connections", false},
		{"53300", "InitializeSessionUserId", "the role has as many sessions as it may: end some, or raise ALTER ROLE ann CONNECTION LIMIT", false},
		{"53300", "CheckMyDatabase", "the database has as many sessions as it may: end some, or raise ALTER DATABASE app CONNECTION LIMIT", false},
		{"53300", "", "the pooler has no room for another client: raise its max_client_conn, or use fewer connections, as by pool_max_conns=4 in the URL", false},
		{"55000", "CheckMyDatabase", "ALTER DATABASE app ALLOW_CONNECTIONS true lets sessions in; or name another database", true},
		{"55000", "InitPostgres", "name another database", true},
		{"42501", "CheckMyDatabase", "run GRANT CONNECT ON DATABASE app TO ann", true},
		{"28P01", "auth_failed", "check the user and the password", true},
		{"28000", "", "check the user, the password and pg_hba.conf", true},
		{"28000", "ClientAuthentication", "pg_hba.conf must have a rule for this user, database, address and sslmode", true},
		{"28000", "InitializeSessionUserId", "check the user's name, and that the role may log in: ALTER ROLE ann LOGIN", true},
		{"3D000", "InitPostgres", "check the database's name, or run CREATE DATABASE app", true},
		{"57P03", "ProcessStartupPacket", "the server takes no sessions just now: try again in a moment", false},
		{"08P01", "", "a pooler refuses the connection: check its databases, its users, its limits and its ignore_startup_parameters", false},
		{"08P01", "ProcessStartupPacket", "check the parameters of the connection string", false},
		{"42704", "find_option", "check the parameters of the connection string", false},
		{"58000", "", "a pooler refuses the connection: check it, and that the server behind it runs", false},
		{"XX000", "InitPostgres", "the server's log says more", false},
	} {
		at := turnsAway(t, pgproto3.ErrorResponse{Code: c.code, Message: words, Routine: c.routine})
		q := must[*Queue](t)(Open(t.Context(), "postgres://ann:geheim@"+at+"/app?sslmode=disable", Options{}))
		want := fmt.Sprintf("ping: connect to %s: 接続は 拒否されました (SQLSTATE %s): %s", at, c.code, c.cure)
		if err := q.Ping(t.Context()); err == nil || err.Error() != want || !errors.Is(err, ErrNotConnected) || errors.Is(err, ErrRefused) != c.final {
			t.Errorf("%v\nwant %s, final: %v", err, want, c.final)
		}
		q.Close()
	}
}

// The functions of PostgreSQL that the cures go by are those of the server.
func TestServersRefusalsAreToldApart(t *testing.T) {
	t.Parallel()
	owner := open(t)
	database := owner.ConnConfig().Database
	role := fmt.Sprintf("test_refused_%08x", rand.Uint32())
	admin := must[*Queue](t)(Open(t.Context(), strings.Replace(owner.Pool().Config().ConnString(), database, "postgres", 1), Options{MaxConns: 1}))
	t.Cleanup(admin.Close)
	exec(t, owner, "create role "+role+" login")
	t.Cleanup(func() { owner.Pool().Exec(context.Background(), "drop role "+role) })
	url := strings.Replace(owner.Pool().Config().ConnString(), "postgres@", role+"@", 1)
	for _, c := range []struct{ before, after, cure string }{
		{"alter role %[2]s connection limit 0", "alter role %[2]s connection limit -1", "raise ALTER ROLE " + role + " CONNECTION LIMIT"},
		{"alter database %[1]s connection limit 0", "alter database %[1]s connection limit -1", "raise ALTER DATABASE " + database + " CONNECTION LIMIT"},
		{"alter database %[1]s allow_connections false", "alter database %[1]s allow_connections true", "ALTER DATABASE " + database + " ALLOW_CONNECTIONS true"},
		{"revoke connect on database %[1]s from public", "grant connect on database %[1]s to public", "run GRANT CONNECT ON DATABASE " + database + " TO " + role},
		{"alter role %[2]s nologin", "alter role %[2]s login", "ALTER ROLE " + role + " LOGIN"},
	} {
		exec(t, admin, fmt.Sprintf(c.before+" /* %[1]s %[2]s */", database, role))
		q := must[*Queue](t)(Open(t.Context(), url, Options{}))
		for operation, act := range map[string]func(context.Context) error{"ping": q.Ping, "migrate": q.Migrate} {
			err := act(t.Context())
			if err == nil || !strings.Contains(err.Error(), c.cure) || strings.Contains(err.Error(), "\n") || strings.Count(err.Error(), "connect to ") != 1 {
				t.Errorf("%s: %s: %v\nwant %s", c.before, operation, err, c.cure)
			}
		}
		q.Close()
		exec(t, admin, fmt.Sprintf(c.after+" /* %[1]s %[2]s */", database, role))
	}
}

// Nobody answers: one line, the address once, however many ways were tried.
func TestAnAddressWhereNobodyAnswersIsNamedOnce(t *testing.T) {
	t.Parallel()
	const check = "check that the server runs and that the address is right"
	for url, want := range map[string]string{
		"postgres://ann:geheim@127.0.0.1:1/app":                          "ping: connect to 127.0.0.1:1: connect: connection refused: " + check,
		"postgres://ann:geheim@127.0.0.1:1,127.0.0.1:2/app":              "ping: connect to 127.0.0.1:1, 127.0.0.1:2: connect: connection refused: " + check,
		"host=/nowhere user=ann password=geheim":                         "ping: connect to /nowhere/.s.PGSQL.5432: connect: no such file or directory: " + check,
		"postgres://ann:geheim@nobody.invalid/app":                       "ping: connect to nobody.invalid:5432: there is no such host: check the host's name",
		"postgres://ann@127.0.0.1:1/app?target_session_attrs=read-write": "ping: connect to 127.0.0.1:1: connect: connection refused: check that the server runs, that the address is right, and that the server is what target_session_attrs wants",
	} {
		q := must[*Queue](t)(Open(t.Context(), url, Options{}))
		if err := q.Ping(t.Context()); err == nil || err.Error() != want || !errors.Is(err, ErrNotConnected) {
			t.Errorf("%s: %v\nwant %s", url, err, want)
		}
		q.Close()
	}
}
