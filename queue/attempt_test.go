package queue

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/jackc/pgx/v5/pgxpool"
)

// answersWith is a server that sends these bytes to every client, and its address.
func answersWith(t *testing.T, with string) string {
	t.Helper()
	listener := must[net.Listener](t)(net.Listen("tcp", "127.0.0.1:0"))
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			_, _ = conn.Read(make([]byte, 1000))
			_, _ = conn.Write([]byte(with))
			_, _ = conn.Read(make([]byte, 1000)) // closing with something unread would reset it
			conn.Close()
		}
	}()
	return listener.Addr().String()
}

func wire(t *testing.T, messages ...pgproto3.BackendMessage) string {
	t.Helper()
	var text []byte
	for _, m := range messages {
		text = must[[]byte](t)(m.Encode(text))
	}
	return string(text)
}

// The driver's own words do not reach a reader, who gets one line with the address once.
func TestNoWordsOfTheDriverReachAReader(t *testing.T) {
	t.Parallel()
	ready := wire(t, &pgproto3.AuthenticationOk{}, &pgproto3.ReadyForQuery{TxStatus: 'I'})
	readOnly := ready[:9] + wire(t, &pgproto3.ParameterStatus{Name: "in_hot_standby", Value: "on"}, &pgproto3.ParameterStatus{Name: "default_transaction_read_only", Value: "on"}) + ready[9:]
	const protocol = "the answer is not one of PostgreSQL's protocol, or of a login that is supported here"
	for _, c := range []struct{ answer, parameters, want string }{
		{"N", "sslmode=require", "the server takes no TLS, and sslmode wants it: switch TLS on at the server, or use another sslmode, as prefer"},
		{wire(t, &pgproto3.DataRow{}), "sslmode=disable", protocol + ": check that"},
		{"HTTP/1.1 400 Bad Request\r\n\r\n", "sslmode=disable", protocol},
		{"R\x00\x00\x00\x01", "sslmode=disable", protocol},
		{ready[9:], "sslmode=disable", protocol},
		{ready, "sslmode=disable&require_auth=scram-sha-256", "the server asks for a login that require_auth does not allow"},
		{ready, "sslmode=disable&channel_binding=require", "the server binds no channel, and channel_binding=require wants it"},
		{readOnly, "sslmode=disable&target_session_attrs=primary", "target_session_attrs wants"},
	} {
		at := answersWith(t, c.answer)
		q := must[*Queue](t)(Open(t.Context(), "postgres://ann:geheim@"+at+"/app?"+c.parameters, Options{}))
		err := q.Ping(t.Context())
		q.Close()
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Count(err.Error(), at) != 1 || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v\nwant %s", c.parameters, err, c.want)
			continue
		}
		for _, word := range []string{"failed to", "%!w", "ValidateConnect", "AfterNetConnect", "tls error", "geheim"} {
			if strings.Contains(err.Error(), word) {
				t.Errorf("%s: %v\nholds %q", c.parameters, err, word)
			}
		}
	}
}

// Without room for a cache, statements are sent in a way that needs none.
func TestCachesMayHaveNoRoom(t *testing.T) {
	t.Parallel()
	plain := open(t)
	for _, parameters := range []string{
		"statement_cache_capacity=0", "description_cache_capacity=0", "statement_cache_capacity=0&description_cache_capacity=0",
		"default_query_exec_mode=cache_statement&statement_cache_capacity=0", "default_query_exec_mode=cache_describe&description_cache_capacity=0",
		"statement_cache_capacity=1", "statement_cache_capacity=65536&description_cache_capacity=65536", "default_query_exec_mode=describe_exec&statement_cache_capacity=0",
	} {
		q := must[*Queue](t)(Open(t.Context(), plain.Pool().Config().ConnString()+"&"+parameters, Options{}))
		if _, err := q.Enqueue(t.Context(), NewJob{Queue: "emails"}, NewJob{Queue: "emails"}); err != nil {
			t.Errorf("%s: %v", parameters, err)
		}
		if got := take(t, q, "emails", 2); len(got) != 2 {
			t.Errorf("%s: claimed %d", parameters, len(got))
		}
		q.Close()
	}
}

// A password in the password file keeps the blanks at its end, as with libpq.
func TestPasswordsOfAFileKeepTheirBlanks(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "pgpass")
	if err := os.WriteFile(file, []byte("# ours \r\nother:*:*:*:no  \n127.0.0.1:5432:app:ann:ge\\:heim \t\r\n*:*:*:*:last  "), 0o600); err != nil {
		t.Fatal(err)
	}
	for url, want := range map[string]string{
		"postgres://ann@127.0.0.1/app?passfile=" + file:          "ge:heim \t",
		"host=127.0.0.1 user=bob passfile=" + file:               "last  ",
		"postgres://ann:geheim@127.0.0.1/app?passfile=" + file:   "geheim",
		"postgres://ann:last@elsewhere/app?passfile=" + file:     "last",
		"user=ann password=last host=elsewhere passfile=" + file: "last",
	} {
		if config := must[*pgxpool.Config](t)(parse(t.Context(), url)); config.ConnConfig.Password != want {
			t.Errorf("%s: %q, want %q", url, config.ConnConfig.Password, want)
		}
	}
}
