package sql_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/leasetop/leasetop/sql"
	"github.com/leasetop/leasetop/sql/local/testdb"
)

// database is how to connect to a migrated database.
func database() *pgx.ConnConfig {
	config, err := pgx.ParseConfig(testdb.Example())
	if err != nil {
		panic(err)
	}
	return config
}

// A program may bring its schema up to date at every start; the second finds nothing to do.
func ExampleMigrate() {
	ctx, config := context.Background(), database()

	for range 2 {
		steps, err := sql.Migrate(ctx, config, "shop_jobs")
		fmt.Println(len(steps) > 0, err)
	}
	// Output:
	// true <nil>
	// false <nil>
}

// What a schema has, before anything is changed.
func ExampleMigrationStatus() {
	ctx, config := context.Background(), database()

	steps, err := sql.MigrationStatus(ctx, config, "shop_jobs")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(steps[0].Version, steps[0].File, "applied:", steps[0].Applied)
	// Output: 1 00001_jobs.sql applied: false
}

// The steps are taken back one by one, each with the data in what it made.
func ExampleMigrateDown() {
	ctx, config := context.Background(), database()

	step, err := sql.MigrateDown(ctx, config, sql.DefaultSchema)
	fmt.Println(step.Version > 0, err)

	_, err = sql.MigrateDown(ctx, config, "shop_jobs")
	fmt.Println(errors.Is(err, sql.ErrNoStep))
	// Output:
	// true <nil>
	// true
}

// Another schema's statements, channels and publication bear its name.
func ExampleForSchema() {
	schema, err := sql.ForSchema("shop_jobs")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(schema.Name(), schema.ReadyChannel(), schema.DeadChannel(), schema.ControlChannel(), schema.Publication())

	_, err = sql.ForSchema("Shop-Jobs")
	fmt.Println(errors.Is(err, sql.ErrSchemaName))
	// Output:
	// shop_jobs shop_jobs_ready shop_jobs_dead shop_jobs_control shop_jobs_jobs
	// true
}

// The text that is sent for queries/next_expiry.sql.
func ExampleSchema_Query() {
	schema, err := sql.ForSchema("shop_jobs")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(schema.Query("next_expiry"))
	// Output:
	// /* leasetop next_expiry */ SELECT extract(epoch FROM pg_catalog.min(lease_expires_at) - pg_catalog.clock_timestamp())::float8
	// FROM shop_jobs.jobs
	// WHERE status = 'processing'
	//   AND lease_expires_at < 'infinity' -- of which nothing can be subtracted
	//   AND ($1::text[] IS NULL OR queue = ANY ($1::text[]))
	//   AND id <> ALL ($2::bigint[])
}

// The GRANTs without which a role cannot ask for the queues that are paused.
func ExampleSchema_Rights() {
	schema, err := sql.ForSchema("")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(schema.GrantUsage("app"))
	for _, right := range schema.Rights("pauses") {
		fmt.Println(right.Grant("app"))
	}
	// Output:
	// GRANT USAGE ON SCHEMA leasetop TO app
	// GRANT SELECT ON leasetop.queues TO app
}

// The files as they stand, for tools that bring migrations of their own.
func ExampleMigrations() {
	steps, err := fs.Glob(sql.Migrations(), "*_signals.sql")
	fmt.Println(steps, err)

	text, err := fs.ReadFile(sql.Queries(), "claim.sql")
	fmt.Println(strings.HasPrefix(string(text), "-- "), err)
	// Output:
	// [00002_signals.sql] <nil>
	// true <nil>
}

// A name stands in a statement as it is, or in quotes where PostgreSQL needs them.
func ExampleQuoted() {
	fmt.Println(sql.Quoted("app"), sql.Quoted("App role"))
	// Output: app "App role"
}

// A connection whose errors are short, however long the server's are.
func ExampleBoundMessages() {
	config := database()
	sql.BoundMessages(&config.Config)
	conn, err := pgx.ConnectConfig(context.Background(), config)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer conn.Close(context.Background())
	_, err = conn.Exec(context.Background(), "SELECT repeat('x', 1000000)::int")
	fmt.Println(len(err.Error()) < 5000, strings.Contains(err.Error(), "bytes more)"))
	// Output: true true
}
