package testdb

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5"

	leasesql "github.com/leasetop/leasetop/sql"
	"github.com/leasetop/leasetop/sql/local"
)

// templateName is made from the content of all migrations: each version of the
// schema has a template of its own.
var templateName = sync.OnceValues(func() (string, error) {
	sum := sha256.New()
	err := fs.WalkDir(leasesql.Migrations(), ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := fs.ReadFile(leasesql.Migrations(), path)
		fmt.Fprintf(sum, "%s %d\n%s", path, len(text), text)
		return err
	})
	return "template_" + hex.EncodeToString(sum.Sum(nil)[:8]), err
})

// templateLock is the key of the advisory lock under which templates are made.
const templateLock = 0x6c656173 // "leas"

// ensureTemplate returns the name of a migrated database to copy from. It is
// whole once it is marked as a template; one without the mark was left by
// somebody who was killed.
func ensureTemplate(ctx context.Context, server *local.Server) (string, error) {
	name, err := templateName()
	if err != nil {
		return "", err
	}
	conn, err := pgx.Connect(ctx, server.URL("postgres"))
	if err != nil {
		return "", err
	}
	defer func() { _ = conn.Close(context.Background()) }()
	if whole, err := isTemplate(ctx, conn, name); whole || err != nil {
		return name, err
	}
	if _, err := conn.Exec(ctx, "SELECT pg_advisory_lock($1)", templateLock); err != nil {
		return "", err
	}
	if whole, err := isTemplate(ctx, conn, name); whole || err != nil {
		return name, err
	}
	if err := dropTemplates(ctx, conn); err != nil {
		return "", err
	}
	if _, err := conn.Exec(ctx, "CREATE DATABASE "+name+" TEMPLATE template0"+strategy(conn)); err != nil {
		return "", fmt.Errorf("create the template database: %w", err)
	}
	config, err := pgx.ParseConfig(server.URL(name))
	if err != nil {
		return "", err
	}
	if _, err := leasesql.Migrate(ctx, config, ""); err != nil {
		return "", fmt.Errorf("migrate the template database: %w", err)
	}
	// Without connections no autovacuum gets in the way of copying.
	if _, err := conn.Exec(ctx, "ALTER DATABASE "+name+" WITH ALLOW_CONNECTIONS false IS_TEMPLATE true"); err != nil {
		return "", fmt.Errorf("finish the template database: %w", err)
	}
	return name, nil
}

func isTemplate(ctx context.Context, conn *pgx.Conn, name string) (whole bool, err error) {
	err = conn.QueryRow(ctx, "SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1 AND datistemplate)", name).Scan(&whole)
	return whole, err
}

// dropTemplates drops the templates of other versions, and half of ours.
func dropTemplates(ctx context.Context, conn *pgx.Conn) error {
	rows, err := conn.Query(ctx, `SELECT datname FROM pg_database WHERE datname LIKE 'template\_%'`)
	if err != nil {
		return err
	}
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	for _, name := range names {
		if strings.HasPrefix(name, "template_") {
			_, undoErr := conn.Exec(ctx, "ALTER DATABASE "+name+" WITH IS_TEMPLATE false")
			_, dropErr := conn.Exec(ctx, "DROP DATABASE "+name+" WITH (FORCE)")
			err = errors.Join(err, undoErr, dropErr)
		}
	}
	return err
}
