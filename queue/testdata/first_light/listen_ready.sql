-- Has this connection hear of queues that got work, each notification's payload
-- being a queue's name. No parameters, no rows.
LISTEN leasetop_ready
