package queue

import (
	"context"
	"errors"
	"os"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/leasetop/leasetop/sql/connstring"
)

// errNotShown says nothing of a connection string that may hold a password.
var errNotShown = errors.New("not a valid connection string; it is not shown because it may hold a password. " +
	"Special characters in a URL's password need percent-encoding: # is %23, / is %2F, @ is %40, : is %3A, % is %25")

// parse reads a connection string. pgx masks passwords in its errors as well as it
// can, and quotes what it stumbled over: where the password was not escaped, that is a
// piece of it. So its words are passed on only where there can be no password.
//
// It reads the files that the string or the environment names, and waits for none of them
// when ctx ends.
func parse(ctx context.Context, url string) (*pgxpool.Config, error) {
	type result struct {
		config *pgxpool.Config
		err    error
	}
	done := make(chan result, 1)
	go func() {
		config, err := parseFiles(trimmed(url))
		done <- result{config, err}
	}()
	select {
	case r := <-done:
		return r.config, r.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// trimmed is a URL without the blanks and line ends around it, which a file or a shell may
// have added.
func trimmed(url string) string {
	if text := strings.TrimSpace(url); strings.HasPrefix(text, "postgres://") || strings.HasPrefix(text, "postgresql://") {
		return text
	}
	return url
}

func parseFiles(url string) (*pgxpool.Config, error) {
	if err := connstring.Check(url); err != nil {
		return nil, err
	}
	config, err := pgxpool.ParseConfig(url)
	if err == nil {
		if addresses := os.Getenv("PGHOSTADDR"); addresses != "" && (url == "" || url == "postgres://") {
			config.ConnConfig.RuntimeParams["hostaddr"] = addresses
		}
		if named := withHost(url, config.ConnConfig); named != url {
			config, err = pgxpool.ParseConfig(named)
		}
	}
	if err != nil {
		_, address, isURL := strings.Cut(url, "://")
		if strings.Contains(strings.ToLower(url), "password") || strings.Contains(url, "@") || isURL && strings.Contains(address, ":") {
			return nil, errNotShown
		}
		return nil, err
	}
	hosts := []string{config.ConnConfig.Host}
	for _, other := range config.ConnConfig.Fallbacks {
		hosts = append(hosts, other.Host)
	}
	for _, host := range hosts {
		if strings.Contains(host, "@") { // the rest of a password that held one unescaped
			return nil, errNotShown
		}
	}
	if err := heedLibpq(config.ConnConfig); err != nil {
		return nil, err
	}
	keepNothingMore(config.ConnConfig)
	keepBlanks(config.ConnConfig, url)
	return config, nil
}

// keepNothingMore chooses a way of sending statements that does without a cache which the
// connection string leaves no room for.
func keepNothingMore(config *pgx.ConnConfig) {
	if config.DefaultQueryExecMode == pgx.QueryExecModeCacheStatement && config.StatementCacheCapacity <= 0 {
		config.DefaultQueryExecMode = pgx.QueryExecModeCacheDescribe
	}
	if config.DefaultQueryExecMode == pgx.QueryExecModeCacheDescribe && config.DescriptionCacheCapacity <= 0 {
		config.DefaultQueryExecMode = pgx.QueryExecModeExec
	}
}
