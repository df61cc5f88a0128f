package queue_test

import (
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/leasetop/leasetop/queue"
)

func ExampleOpen() {
	q, err := queue.Open(ctx, database(), queue.Options{MaxConns: 10, AppName: "shop"})
	if err != nil {
		fmt.Println(err) // the connection string makes no sense
		return
	}
	defer q.Close()

	fmt.Println(q.Ping(ctx))
	// Output: <nil>
}

// A program that has a pool already lets the queue use it.
func ExampleNew() {
	pool, err := pgxpool.New(ctx, database())
	if err != nil {
		fmt.Println(err)
		return
	}
	defer pool.Close()

	q, err := queue.New(pool, "") // the schema leasetop
	if err != nil {
		fmt.Println(err)
		return
	}
	defer q.Close() // before the pool
	fmt.Println(q.Schema().Name(), q.Pool() == pool)
	// Output: leasetop true
}

// What a program may do at every start, in any number of processes.
func ExampleQueue_Migrate() {
	q, err := queue.Open(ctx, database(), queue.Options{Schema: "shop_jobs"})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer q.Close()

	fmt.Println(errors.Is(q.Ping(ctx), queue.ErrSchemaMissing))
	if err := q.Migrate(ctx); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(q.Ping(ctx))
	// Output:
	// true
	// <nil>
}

// A reading that is too long for the role's statement_timeout is read in smaller parts; one
// that somebody cancelled is not tried again.
func ExampleQueue_TookTooLong() {
	q, err := queue.Open(ctx, database()+"&statement_timeout=50ms", queue.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer q.Close()

	_, err = q.Pool().Exec(ctx, "SELECT pg_sleep(10)")
	fmt.Println(q.TookTooLong(err))
	// Output: true
}

// A connection beside the pool has been through the pool's hooks, as those in it have.
func ExampleQueue_Connect() {
	q := open()
	defer q.Close()
	conn, _, err := q.Connect(ctx, func(c *pgx.ConnConfig) {
		c.RuntimeParams["application_name"] = "nightly report"
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer conn.Close(ctx)
	var name string
	err = conn.QueryRow(ctx, "SHOW application_name").Scan(&name)
	fmt.Println(name, err)
	// Output: nightly report <nil>
}

// For a connection that is none of pgx's, such as one for replication.
func ExampleQueue_DialConfig() {
	q := open()
	defer q.Close()
	config, err := q.DialConfig(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(config.RuntimeParams["application_name"])
	// Output: leasetop
}
