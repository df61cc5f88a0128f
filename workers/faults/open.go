package faults

import (
	"context"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/leasetop/leasetop/queue"
)

// Open opens a queue as a configuration has it, over connections of its own, at most so
// many of them, and under an application name of their own. The configuration is copied.
func Open(ctx context.Context, like *pgxpool.Config, schema string, most int32, app string) (*queue.Queue, error) {
	config := like.Copy()
	config.MaxConns, config.MinConns, config.MinIdleConns = most, 0, 0
	config.ConnConfig.RuntimeParams["application_name"] = app
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, err
	}
	q, err := queue.New(pool, schema)
	if err != nil {
		pool.Close()
		return nil, err
	}
	return q, nil
}

// Open opens a queue like another, as the function does, over connections which lead through
// the cable. The end is for those who use it: they are done before it is called, and what
// the server does not answer is not waited for.
func (c *Cable) Open(ctx context.Context, like *queue.Queue, most int32, app string) (q *queue.Queue, end func(), err error) {
	config := like.Pool().Config()
	c.Through(config.ConnConfig)
	q, err = Open(ctx, config, like.Schema().Name(), most, app)
	if err != nil {
		return nil, nil, err
	}
	return q, func() {
		q.Close()
		c.Close()
		q.Pool().Close()
	}, nil
}
