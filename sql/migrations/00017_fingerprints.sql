-- Two more things about the error of a job. A trace says what went wrong elsewhere than in its
-- first line: Python's in the last line that begins at the margin, and a stack of Go's in the
-- first one that is neither "goroutine 1 [running]:" nor of what printed it. And a
-- status of three digits right after HTTP, SMTP, status or code says what went wrong: 503 and
-- 429 are two problems. A job keeps the
-- fingerprint that it has until its error changes, so the dead letters of before stand in groups of their own.

-- +goose Up
-- Two failures are the same problem when the lines that tell of them differ only in what is
-- masked here, in this order: quoted strings (an apostrophe within a word quotes nothing),
-- e-mail addresses, UUIDs, hexadecimal (0x…, or 12 digits and more of which some are
-- letters), IP addresses with their ports, numbers but for a status, behind which a mask is set
-- and removed: a lookbehind would be tried anew at every number. The line is the first
-- of the first 2000 characters, and of a trace the one that names the error.
-- It is one expression, without a FROM, so that PostgreSQL inlines it.
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION leasetop.fingerprint(error text)
RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT left(
    regexp_replace(
    regexp_replace(
    regexp_replace(
    regexp_replace(
    regexp_replace(
    regexp_replace(
    regexp_replace(
      rtrim(CASE
        WHEN starts_with(ltrim(left(error, 2000), E' \t\r\n'), 'Traceback (most recent call last):')
          THEN coalesce(substring(right(error, 2000) FROM '.*\n([^[:space:]][^\n]*)'), 'Traceback')
        WHEN starts_with(ltrim(left(error, 2000), E' \t\r\n'), 'goroutine ')
          THEN coalesce(substring(ltrim(left(error, 2000), E' \t\r\n') FROM '^goroutine [0-9]+ \[[^\n]*\n(?:(?:runtime|panic\(|[[:space:]])[^\n]*\n)*([^[:space:]][^\n]*)'),
            split_part(ltrim(left(error, 2000), E' \t\r\n'), E'\n', 1))
        ELSE split_part(ltrim(left(error, 2000), E' \t\r\n'), E'\n', 1)
      END, E' \t\r'),
      '"[^"]*"|(?<![[:alnum:]])''[^'']*''', '‹text›', 'g'),
      '[[:alnum:]._%+-]+@[[:alnum:]-]+(?:\.[[:alnum:]-]+)+', '‹address›', 'g'),
      '\m[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}\M', '‹id›', 'g'),
      '\m0[xX][0-9a-fA-F]+\M|\m(?=[0-9a-fA-F]*[0-9])(?=[0-9a-fA-F]*[a-fA-F])[0-9a-fA-F]{12,}\M', '‹id›', 'g'),
      '(?:\m[0-9]{1,3}(?:\.[0-9]{1,3}){3}\M|\[[0-9a-fA-F:.]*(?:::|(?:[0-9a-fA-F]+:){3})[0-9a-fA-F:.]*\])(?::[0-9]+)?', '‹host›', 'g'),
      '((?:[hH][tT][tT][pP](?: [eE]rror|/[0-9.]+)?|[sS][mM][tT][pP]|[sS]tatus|[cC]ode)[ :=]{1,2}[0-9]{3}(?![0-9]|\.[0-9]))|[0-9]+(?:\.[0-9]+)?', '\1‹n›', 'g'),
      '([0-9])‹n›', '\1', 'g'),
    300)
$$;
-- +goose StatementEnd

-- +goose Down
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION leasetop.fingerprint(error text)
RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT left(
    regexp_replace(
    regexp_replace(
    regexp_replace(
    regexp_replace(
    regexp_replace(
    regexp_replace(
      rtrim(split_part(ltrim(left(error, 2000), E' \t\r\n'), E'\n', 1), E' \t\r'),
      '"[^"]*"|(?<![[:alnum:]])''[^'']*''', '‹text›', 'g'),
      '[[:alnum:]._%+-]+@[[:alnum:]-]+(?:\.[[:alnum:]-]+)+', '‹address›', 'g'),
      '\m[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}\M', '‹id›', 'g'),
      '\m0[xX][0-9a-fA-F]+\M|\m(?=[0-9a-fA-F]*[0-9])(?=[0-9a-fA-F]*[a-fA-F])[0-9a-fA-F]{12,}\M', '‹id›', 'g'),
      '(?:\m[0-9]{1,3}(?:\.[0-9]{1,3}){3}\M|\[[0-9a-fA-F:.]*(?:::|(?:[0-9a-fA-F]+:){3})[0-9a-fA-F:.]*\])(?::[0-9]+)?', '‹host›', 'g'),
      '[0-9]+(?:\.[0-9]+)?', '‹n›', 'g'),
    300)
$$;
-- +goose StatementEnd
