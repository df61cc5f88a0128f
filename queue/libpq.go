package queue

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// The driver takes each parameter of a connection string that it does not know for a setting
// of the server, which refuses it. These are the parameters of libpq among them.

// ignored are those that say how libpq works inside, or that change nothing here.
var ignored = []string{
	"keepalives", "keepalives_idle", "keepalives_interval", "keepalives_count", "tcp_user_timeout", // Go sends its own
	"load_balance_hosts", // hosts are tried in their order
	"sslcompression", "sslkeylogfile", "gsslib", "gssdelegation", "tty", "authtype",
}

// unsupported are those that cannot be left out of account without connecting in another way
// than was asked for.
var unsupported = []string{
	"sslcrl", "sslcrldir", "scram_client_key", "scram_server_key", "replication",
	"oauth_issuer", "oauth_client_id", "oauth_client_secret", "oauth_scope", "oauth_ca_file",
}

// heedLibpq does what libpq's own parameters say, and takes them away from the settings of
// the server.
func heedLibpq(config *pgx.ConnConfig) error {
	take := func(name string) string {
		value := config.RuntimeParams[name]
		delete(config.RuntimeParams, name)
		return value
	}
	for _, name := range ignored {
		take(name)
	}
	for _, name := range unsupported {
		if take(name) != "" {
			return fmt.Errorf("the connection string has %s, which is not supported here: leave it out", name)
		}
	}
	if mode := take("gssencmode"); mode == "require" {
		return errors.New("the connection string has gssencmode=require, and encryption by GSSAPI is not supported here: use sslmode")
	}
	if name := take("fallback_application_name"); config.RuntimeParams["application_name"] == "" && name != "" {
		config.RuntimeParams["application_name"] = name
	}
	if err := heedTLSVersions(config, take("ssl_min_protocol_version"), take("ssl_max_protocol_version")); err != nil {
		return err
	}
	if peer := take("requirepeer"); peer != "" {
		config.AfterNetConnect = func(_ context.Context, _ *pgconn.Config, conn net.Conn) (net.Conn, error) {
			if err := requirePeer(conn, peer); err != nil {
				return conn, &wrongPeer{err}
			}
			return conn, nil
		}
	}
	return heedAddresses(config, take("hostaddr"))
}

// withHost is a connection string that names as its hosts the addresses of its hostaddr, or
// of PGHOSTADDR, when it names no host; else it is as it was.
func withHost(url string, config *pgx.ConnConfig) string {
	addresses := config.RuntimeParams["hostaddr"]
	everywhere, err := pgx.ParseConfig("")
	if addresses == "" || err != nil || config.Host != everywhere.Host || os.Getenv("PGHOST") != "" || strings.Contains(url, config.Host) {
		return url
	}
	_, rest, isURL := strings.Cut(url, "://")
	switch {
	case !isURL:
		return url + " host='" + addresses + "'"
	case strings.Contains(rest[strings.LastIndex(rest, "@")+1:], "?"):
		return url + "&host=" + addresses
	}
	return url + "?host=" + addresses
}

var tlsVersions = map[string]uint16{"": 0, "TLSv1": tls.VersionTLS10, "TLSv1.1": tls.VersionTLS11, "TLSv1.2": tls.VersionTLS12, "TLSv1.3": tls.VersionTLS13}

func heedTLSVersions(config *pgx.ConnConfig, least, most string) error {
	for name, value := range map[string]string{"ssl_min_protocol_version": least, "ssl_max_protocol_version": most} {
		if _, known := tlsVersions[value]; !known {
			return fmt.Errorf("%s is %q: use TLSv1.2 or TLSv1.3", name, value)
		}
	}
	if least == "" && most == "" {
		return nil
	}
	set := func(c *tls.Config) {
		if c != nil {
			c.MinVersion, c.MaxVersion = max(c.MinVersion, tlsVersions[least]), tlsVersions[most]
		}
	}
	set(config.TLSConfig)
	for _, f := range config.Fallbacks {
		set(f.TLSConfig)
	}
	return nil
}

// heedAddresses connects to these addresses, one for each host, instead of those that the
// hosts' names stand for. The names stay those that certificates are for.
func heedAddresses(config *pgx.ConnConfig, addresses string) error {
	if addresses == "" {
		return nil
	}
	hosts := []string{config.Host}
	for _, f := range config.Fallbacks {
		if !slices.Contains(hosts, f.Host) {
			hosts = append(hosts, f.Host)
		}
	}
	list := strings.Split(addresses, ",")
	if len(list) != len(hosts) {
		return fmt.Errorf("hostaddr has %d addresses, and there are %d hosts: name one for each", len(list), len(hosts))
	}
	of := map[string]string{}
	for i, address := range list {
		switch address = strings.TrimSpace(address); {
		case address == "": // the host's own
		case net.ParseIP(address) == nil:
			return fmt.Errorf("hostaddr has %q, which is no IP address: use host for a name", address)
		case filepath.IsAbs(hosts[i]):
			return fmt.Errorf("hostaddr is for a host with a name, and %s is a folder of sockets: leave one of them out", hosts[i])
		default:
			of[hosts[i]] = address
		}
	}
	lookUp := config.LookupFunc
	config.LookupFunc = func(ctx context.Context, host string) ([]string, error) {
		if address, ok := of[host]; ok {
			return []string{address}, nil
		}
		return lookUp(ctx, host)
	}
	return nil
}
