package queue

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	leasesql "github.com/leasetop/leasetop/sql"
)

// unconnected is why there is no connection, in one line with the address once. pgx names
// every address and TLS mode that it tried.
type unconnected struct {
	at     string // the addresses
	reason string
	cure   string
	final  bool // trying again does not help
	cause  error
}

func (e *unconnected) Error() string {
	text := "connect to " + e.at + ": " + e.reason
	if e.cure != "" {
		text += ": " + e.cure
	}
	return text
}

func (e *unconnected) Is(target error) bool {
	return target == ErrNotConnected || e.final && target == ErrRefused
}
func (e *unconnected) Unwrap() error { return e.cause }

// notConnected explains that a connection could not be made; nil when err is about
// something else.
func notConnected(err error) *unconnected {
	connect := (*pgconn.ConnectError)(nil)
	if !errors.As(err, &connect) {
		return nil
	}
	e := &unconnected{at: addresses(connect.Config), cause: err}
	if pg := (*pgconn.PgError)(nil); errors.As(err, &pg) {
		e.reason = fmt.Sprintf("%s (SQLSTATE %s)", oneLine(pg.Message), pg.Code)
		e.cure, e.final = serverCure(pg, connect.Config)
		return e
	}
	var reasons []string
	for _, attempt := range attempts(connect) {
		if r := oneLine(attemptReason(attempt, connect.Config)); !slices.Contains(reasons, r) {
			reasons = append(reasons, r)
		}
	}
	e.reason, e.cure = strings.Join(reasons, "; "), networkCure(err, connect)
	return e
}

// addresses lists the hosts that a connection string names, each once.
func addresses(config *pgconn.Config) string {
	at := []string{address(config.Host, config.Port)}
	for _, f := range config.Fallbacks {
		if a := address(f.Host, f.Port); !slices.Contains(at, a) {
			at = append(at, a)
		}
	}
	return strings.Join(at, ", ")
}

func address(host string, port uint16) string {
	number := strconv.Itoa(int(port))
	if filepath.IsAbs(host) {
		return filepath.Join(host, ".s.PGSQL."+number)
	}
	return net.JoinHostPort(host, number)
}

// attempts are the errors of the single attempts.
func attempts(connect *pgconn.ConnectError) []error {
	inner := connect.Unwrap()
	if several, ok := inner.(interface{ Unwrap() []error }); ok {
		return several.Unwrap()
	}
	return []error{inner}
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// networkCure is the cure where no server has said anything.
func networkCure(err error, connect *pgconn.ConnectError) string {
	config := connect.Config
	wrongName, unknownCA, untrusted := x509.HostnameError{}, x509.UnknownAuthorityError{}, (*tls.CertificateVerificationError)(nil)
	noHost, peer := (*net.DNSError)(nil), (*wrongPeer)(nil)
	switch {
	case errors.Is(err, context.Canceled):
		return ""
	case errors.As(err, &untrusted), errors.As(err, &wrongName), errors.As(err, &unknownCA):
		return "check sslrootcert, and that the certificate is for this host"
	case errors.As(err, &noHost):
		return "check the host's name"
	case errors.As(err, &peer):
		return "check the folder of the socket and requirepeer"
	case unwanted(err) != "":
		return "name a server that is so, or another target_session_attrs"
	case slices.ContainsFunc(attempts(connect), func(err error) bool { return innermost(err) == noTLS }):
		return "switch TLS on at the server, or use another sslmode, as prefer"
	case config.ValidateConnect != nil:
		return "check that the server runs, that the address is right, and that the server is what target_session_attrs wants"
	}
	return "check that the server runs and that the address is right"
}

// serverCure is the cure for what a server, or a pooler before it, answers. It goes by the
// SQLSTATE and, where that stands for several things, by the function of PostgreSQL that
// reports it: neither is translated, as the message is. A pooler names no function.
func serverCure(pg *pgconn.PgError, config *pgconn.Config) (cure string, final bool) {
	role, database := leasesql.Quoted(config.User), leasesql.Quoted(config.Database)
	pooler := pg.Routine == ""
	switch pg.Code {
	case "53300": // too_many_connections
		switch {
		case pooler:
			return "the pooler has no room for another client: raise its max_client_conn, or use fewer connections, as by pool_max_conns=4 in the URL", false
		case pg.Routine == "InitializeSessionUserId":
			return "the role has as many sessions as it may: end some, or raise ALTER ROLE " + role + " CONNECTION LIMIT", false
		case pg.Routine == "CheckMyDatabase":
			return "the database has as many sessions as it may: end some, or raise ALTER DATABASE " + database + " CONNECTION LIMIT", false
		}
		return "end some sessions, use fewer connections, as by pool_max_conns=4 in the URL, or raise max_connections", false
	case "55000": // object_not_in_prerequisite_state
		if pg.Routine == "CheckMyDatabase" {
			return "ALTER DATABASE " + database + " ALLOW_CONNECTIONS true lets sessions in; or name another database", true
		}
		return "name another database", true
	case "42501": // insufficient_privilege
		if pg.Routine == "CheckMyDatabase" {
			return "run GRANT CONNECT ON DATABASE " + database + " TO " + role, true
		}
		return "the role " + role + " lacks that right", true
	case "28P01": // invalid_password
		switch {
		case config.Password == "":
			return "no password was given: name one in PGPASSWORD or in a password file, which only its owner may read", true
		case strings.TrimSpace(config.Password) != config.Password:
			return "check the user and the password, which begins or ends with a blank", true
		}
		return "check the user and the password", true
	case "28000": // invalid_authorization_specification
		switch pg.Routine {
		case "InitializeSessionUserId":
			return "check the user's name, and that the role may log in: ALTER ROLE " + role + " LOGIN", true
		case "ClientAuthentication":
			return "pg_hba.conf must have a rule for this user, database, address and sslmode", true
		}
		return "check the user, the password and pg_hba.conf", true
	case "3D000": // invalid_catalog_name
		return "check the database's name, or run CREATE DATABASE " + database, true
	case "57P03", "57P01", "57P02": // cannot_connect_now, admin_shutdown, crash_shutdown
		return "the server takes no sessions just now: try again in a moment", false
	case "42704", "22023": // undefined_object, invalid_parameter_value
		return "check the parameters of the connection string", false
	case "08P01": // protocol_violation
		if pooler {
			return "a pooler refuses the connection: check its databases, its users, its limits and its ignore_startup_parameters", false
		}
		return "check the parameters of the connection string", false
	}
	if pooler {
		return "a pooler refuses the connection: check it, and that the server behind it runs", false
	}
	return "the server's log says more", false
}
