package queue

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"os"
	"syscall"

	"github.com/jackc/pgx/v5/pgconn"
)

// wanted is what each target_session_attrs wants, by the error with which the driver leaves a
// server that is otherwise.
var wanted = []struct {
	err    error
	reason string
}{
	{pgconn.ErrReadOnlyConnection, "the server takes no writes, and target_session_attrs wants one that does"},
	{pgconn.ErrReadWriteConnection, "the server takes writes, and target_session_attrs wants one that is read-only"},
	{pgconn.ErrStandbyConnection, "the server is a standby, and target_session_attrs wants the primary"},
	{pgconn.ErrPrimaryConnection, "the server is the primary, and target_session_attrs wants a standby"},
}

// noTLS and noBinding are whole errors of the driver that have no type of their own.
const (
	noTLS     = "server refused TLS connection"
	noBinding = "channel binding required but server did not authenticate using channel binding"
)

// attemptReason says in our own words, and without the address, why an attempt failed. It goes
// by the kind of the error: the driver's words name its own functions.
func attemptReason(err error, config *pgconn.Config) string {
	unknown, op, peer := (*net.DNSError)(nil), (*net.OpError)(nil), (*wrongPeer)(nil)
	untrusted, wrongName, unknownCA := (*tls.CertificateVerificationError)(nil), x509.HostnameError{}, x509.UnknownAuthorityError{}
	plain, alert := tls.RecordHeaderError{}, tls.AlertError(0)
	switch {
	case errors.As(err, &unknown) && unknown.IsNotFound:
		return "there is no such host"
	case errors.As(err, &unknown):
		return "the host's name cannot be looked up"
	case errors.As(err, &peer):
		return peer.Error()
	case errors.As(err, &plain):
		return "the server answers in another way than by TLS"
	case errors.As(err, &untrusted):
		return untrusted.Error()
	case errors.As(err, &wrongName):
		return wrongName.Error()
	case errors.As(err, &unknownCA):
		return unknownCA.Error()
	case errors.As(err, &alert):
		return alert.Error()
	case errors.Is(err, context.Canceled):
		return context.Canceled.Error()
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded), pgconn.Timeout(err):
		return "no answer in time"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return "the connection was closed before the server let us in"
	case errors.As(err, &op):
		return op.Err.Error()
	}
	if reason := unwanted(err); reason != "" {
		return reason
	}
	detail := innermost(err)
	switch detail {
	case noTLS:
		return "the server takes no TLS, and sslmode wants it"
	case noBinding:
		return "the server binds no channel, and channel_binding=require wants it"
	case "":
	default:
		detail = " (" + detail + ")"
	}
	switch {
	case config.RequireAuth != "":
		return "the server asks for a login that require_auth does not allow, or does not speak PostgreSQL's protocol"
	case config.SSLCertMode == "require":
		return "the server asks for no certificate as sslcertmode=require wants it, or does not speak PostgreSQL's protocol"
	}
	return "the answer is not one of PostgreSQL's protocol, or of a login that is supported here" + detail
}

// unwanted says what kind of server target_session_attrs leaves; "" where that is not it.
func unwanted(err error) string {
	for _, w := range wanted {
		if errors.Is(err, w.err) {
			return w.reason
		}
	}
	return ""
}

// innermost is the text of the error at which the chain ends; "" where the driver wrapped
// nothing.
func innermost(err error) string {
	for {
		inner, wraps := err.(interface{ Unwrap() error })
		switch {
		case !wraps:
			return err.Error()
		case inner.Unwrap() == nil:
			return ""
		}
		err = inner.Unwrap()
	}
}

// wrongPeer says that the server runs as another user than requirepeer names.
type wrongPeer struct{ error }
