package faults

import (
	"context"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/leasetop/leasetop/queue"
)

// Open opens a queue like another, over connections of its own which lead through the
// cable, at most so many of them, and under an application name of their own. The end is
// for those who use it: they are done before it is called, and what the server does not
// answer is not waited for.
func (c *Cable) Open(ctx context.Context, like *queue.Queue, most int32, app string) (q *queue.Queue, end func(), err error) {
	config := like.Pool().Config()
	config.MaxConns, config.MinConns, config.MinIdleConns = most, 0, 0
	config.ConnConfig.RuntimeParams["application_name"] = app
	c.Through(config.ConnConfig)
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, nil, err
	}
	q, err = queue.New(pool, like.Schema().Name())
	if err != nil {
		pool.Close()
		return nil, nil, err
	}
	return q, func() {
		q.Close()
		c.Close()
		pool.Close()
	}, nil
}
