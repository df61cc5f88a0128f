-- Signals only make things faster: workers and screens look by themselves too. But a
-- NOTIFY that finds the server's notification queue full, because some session
-- listens in a transaction which it never ends, fails its whole transaction, and that
-- at its commit, where nothing can catch it. So where there is hardly any room left,
-- writers go on without signals.

-- +goose Up
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION leasetop.notify_ready() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF current_setting('leasetop_wakeup.quiet', true) = 'on' OR pg_notification_queue_usage() > 0.9 THEN
    RETURN NULL;
  END IF;
  PERFORM pg_notify('leasetop_ready', queue)
    FROM (SELECT DISTINCT queue FROM inserted WHERE status = 'pending') AS woken;
  RETURN NULL;
END $$;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION leasetop.notify_dead() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF pg_notification_queue_usage() > 0.9 THEN
    RETURN NULL;
  END IF;
  IF TG_OP IN ('UPDATE', 'DELETE') THEN
    PERFORM pg_notify('leasetop_dead', OLD.queue);
  END IF;
  IF TG_OP IN ('UPDATE', 'INSERT') THEN
    PERFORM pg_notify('leasetop_dead', NEW.queue);
  END IF;
  IF TG_OP = 'TRUNCATE' THEN
    PERFORM pg_notify('leasetop_dead', '');
  END IF;
  RETURN NULL;
END $$;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION leasetop.notify_queues() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF pg_notification_queue_usage() > 0.9 THEN
    RETURN NULL;
  END IF;
  IF TG_OP <> 'INSERT' THEN
    PERFORM pg_notify('leasetop_control', 'queue ' || OLD.queue);
  END IF;
  IF TG_OP <> 'DELETE' THEN
    PERFORM pg_notify('leasetop_control', 'queue ' || NEW.queue);
  END IF;
  RETURN NULL;
END $$;
-- +goose StatementEnd

-- +goose Down
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION leasetop.notify_ready() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF current_setting('leasetop_wakeup.quiet', true) = 'on' THEN
    RETURN NULL;
  END IF;
  PERFORM pg_notify('leasetop_ready', queue)
    FROM (SELECT DISTINCT queue FROM inserted WHERE status = 'pending') AS woken;
  RETURN NULL;
END $$;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION leasetop.notify_dead() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP IN ('UPDATE', 'DELETE') THEN
    PERFORM pg_notify('leasetop_dead', OLD.queue);
  END IF;
  IF TG_OP IN ('UPDATE', 'INSERT') THEN
    PERFORM pg_notify('leasetop_dead', NEW.queue);
  END IF;
  IF TG_OP = 'TRUNCATE' THEN
    PERFORM pg_notify('leasetop_dead', '');
  END IF;
  RETURN NULL;
END $$;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION leasetop.notify_queues() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP <> 'INSERT' THEN
    PERFORM pg_notify('leasetop_control', 'queue ' || OLD.queue);
  END IF;
  IF TG_OP <> 'DELETE' THEN
    PERFORM pg_notify('leasetop_control', 'queue ' || NEW.queue);
  END IF;
  RETURN NULL;
END $$;
-- +goose StatementEnd
