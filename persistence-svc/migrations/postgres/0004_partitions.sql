-- The ledger, the sessions and the audit log by month, so that old months can be closed, exported
-- and dropped. The tables that were there become the first part of each; no row is copied.

-- step: transaction

-- The months of the three tables, without gaps: the first one begins with the first row. A dropped
-- month keeps its row.
CREATE TABLE archive_months (
  kind text NOT NULL CHECK (kind IN ('ledger', 'sessions', 'audit')),
  -- The last calendar month (UTC) of its rows, as 2026-11.
  month text NOT NULL,
  begins bigint NOT NULL,
  ends bigint NOT NULL CHECK (ends > begins),
  -- The partition that has the rows.
  part text NOT NULL,
  -- When the month was closed, and its number of rows then; null: it is open.
  closed_at bigint,
  row_count bigint,
  -- The last export: when, how many rows, and the SHA-256 of the file.
  exported_at bigint,
  exported_rows bigint,
  exported_sha256 text,
  dropped_at bigint,
  PRIMARY KEY (kind, month)
);

-- The sum of all rows of the closed months of the ledger, by holder ('' is the ground) and item.
CREATE TABLE ledger_balances (
  character_id text NOT NULL,
  item_id text NOT NULL,
  amount bigint NOT NULL,
  PRIMARY KEY (character_id, item_id)
);

-- The first part of each table takes all rows up to the end of a month that ends in two weeks or
-- later, so that play goes on if this migration stops halfway.
INSERT INTO archive_months (kind, month, begins, ends, part)
  SELECT t.kind, to_char(t.until - interval '1 day', 'YYYY-MM'), 0,
    (extract(epoch FROM t.until AT TIME ZONE 'UTC') * 1000)::bigint, t.part
  FROM (SELECT k.kind, k.part,
          date_trunc('month', now() AT TIME ZONE 'UTC' + interval '14 days')
            + interval '1 month' AS until
        FROM (VALUES ('ledger', 'ledger_first'), ('sessions', 'playerSessions_first'),
                ('audit', 'audit_log_first')) AS k (kind, part)) AS t;

-- Carries out statements that lock tables, all or none, without making others wait for long: it
-- gives up after a fifth of a second, lets the others go on, and tries again.
CREATE FUNCTION archive_lock(locks text) RETURNS void LANGUAGE plpgsql
SET lock_timeout = '200ms' AS $$
BEGIN
  FOR attempt IN 1..50 LOOP
    BEGIN
      EXECUTE locks;
      RETURN;
    EXCEPTION WHEN lock_not_available THEN
      PERFORM pg_sleep(0.1 + 0.2 * random());
    END;
  END LOOP;
  EXECUTE locks;
END $$;

-- The table, the column with the time of its rows, and the partition for rows of no month.
CREATE FUNCTION archive_table(kind text, OUT name text, OUT at text, OUT rest text)
LANGUAGE sql IMMUTABLE AS $$
  SELECT t.name, t.at, t.rest FROM (VALUES
    ('ledger', 'ledger', 'at', 'ledger_rest'),
    ('sessions', 'playerSessions', 'login', 'playerSessions_rest'),
    ('audit', 'audit_log', 'at', 'audit_log_rest')) AS t (kind, name, at, rest)
  WHERE t.kind = archive_table.kind
$$;

-- Makes a table that can become a partition.
CREATE FUNCTION archive_part(kind text, part text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING ALL)', part, (archive_table(kind)).name);
  EXECUTE format(CASE kind
    WHEN 'ledger' THEN 'ALTER TABLE %I ADD PRIMARY KEY (run_id, sequence, "row")'
    WHEN 'sessions' THEN 'ALTER TABLE %I ADD PRIMARY KEY (id), ADD UNIQUE ("playerId", "sessionEpoch")'
    ELSE 'ALTER TABLE %I ADD PRIMARY KEY (id)' END, part);
END $$;

-- Makes the partition of a month, with the rows that wait for it in the rest.
CREATE FUNCTION archive_add(kind text, month text, begins bigint, ends bigint) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  t record;
  part text;
  move text;
BEGIN
  SELECT * INTO t FROM archive_table(kind);
  part := t.name || '_' || replace(month, '-', '_');
  move := format('WITH moved AS (DELETE FROM %1$I WHERE %2$I >= %3$s AND %2$I < %4$s RETURNING *)
    INSERT INTO %5$I SELECT * FROM moved', t.rest, t.at, begins, ends, part);
  PERFORM archive_part(kind, part);
  -- Rows of the ledger never change, so the many are moved before the lock, and the last under it.
  IF kind = 'ledger' THEN
    EXECUTE move;
  END IF;
  PERFORM archive_lock(
    CASE kind WHEN 'sessions' THEN 'LOCK TABLE characters IN SHARE ROW EXCLUSIVE MODE; ' ELSE '' END
    || format('LOCK TABLE %I IN ACCESS EXCLUSIVE MODE', t.rest));
  EXECUTE move;
  EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%s) TO (%s)',
    t.name, part, begins, ends);
  INSERT INTO archive_months (kind, month, begins, ends, part)
    VALUES (archive_add.kind, archive_add.month, archive_add.begins, archive_add.ends, part);
END $$;

-- Proves to PostgreSQL that the rows of the tables belong into their first parts, so that it need
-- not read them while nobody can write.
DO $$
DECLARE
  first record;
BEGIN
  FOR first IN SELECT m.ends, t.name, t.at FROM archive_months m, archive_table(m.kind) t LOOP
    EXECUTE format('ALTER TABLE %I ADD CONSTRAINT first_part CHECK (%I < %s) NOT VALID',
      first.name, first.at, first.ends);
  END LOOP;
END $$;

-- step: alone

ALTER TABLE ledger VALIDATE CONSTRAINT first_part;
ALTER TABLE "playerSessions" VALIDATE CONSTRAINT first_part;
ALTER TABLE audit_log VALIDATE CONSTRAINT first_part;

-- step: transaction

SELECT archive_lock('LOCK TABLE characters, "playerSessions", ledger, audit_log
  IN ACCESS EXCLUSIVE MODE');

ALTER TABLE ledger RENAME TO ledger_first;
CREATE TABLE ledger (
  run_id bigint NOT NULL,
  sequence bigint NOT NULL,
  "row" integer NOT NULL,
  character_id text,
  item_id text NOT NULL,
  cause text NOT NULL,
  delta bigint NOT NULL CONSTRAINT ledger_delta_check CHECK (delta <> 0),
  at bigint NOT NULL
) PARTITION BY RANGE (at);
CREATE INDEX ledger_by_time ON ledger (at DESC, run_id DESC, sequence DESC, "row" DESC);
CREATE INDEX ledger_by_holder
  ON ledger (character_id, at DESC, run_id DESC, sequence DESC, "row" DESC);
CREATE INDEX ledger_by_item ON ledger (item_id, at DESC, run_id DESC, sequence DESC, "row" DESC);

ALTER TABLE "playerSessions" RENAME TO "playerSessions_first";
CREATE SEQUENCE "playerSessions_ids";
SELECT setval('"playerSessions_ids"', last_value, is_called) FROM "playerSessions_id_seq";
ALTER TABLE "playerSessions_first" ALTER COLUMN id DROP IDENTITY;
CREATE TABLE "playerSessions" (
  id bigint NOT NULL DEFAULT nextval('"playerSessions_ids"'),
  "playerId" text NOT NULL REFERENCES characters (id) ON DELETE CASCADE,
  "sessionEpoch" bigint NOT NULL,
  "sessionId" text NOT NULL,
  "gatewayId" text NOT NULL,
  login bigint NOT NULL,
  logout bigint,
  reason text
) PARTITION BY RANGE (login);
ALTER SEQUENCE "playerSessions_ids" OWNED BY "playerSessions".id;
CREATE INDEX "playerSessions_are_open" ON "playerSessions" ("playerId") WHERE logout IS NULL;
CREATE INDEX "playerSessions_by_time" ON "playerSessions" (login DESC, id DESC);
CREATE INDEX "playerSessions_by_player" ON "playerSessions" ("playerId", login DESC, id DESC);
CREATE INDEX "playerSessions_open_by_time" ON "playerSessions" (login DESC, id DESC)
  WHERE logout IS NULL;
CREATE INDEX "playerSessions_by_end" ON "playerSessions" (logout) WHERE logout IS NOT NULL;

ALTER TABLE audit_log RENAME TO audit_log_first;
CREATE SEQUENCE audit_log_ids;
SELECT setval('audit_log_ids', last_value, is_called) FROM audit_log_id_seq;
ALTER TABLE audit_log_first ALTER COLUMN id DROP IDENTITY;
CREATE TABLE audit_log (
  id bigint NOT NULL DEFAULT nextval('audit_log_ids'),
  at bigint NOT NULL,
  "by" text NOT NULL,
  action text NOT NULL,
  "accountId" text NOT NULL DEFAULT '',
  "characterId" text NOT NULL DEFAULT '',
  detail text NOT NULL DEFAULT ''
) PARTITION BY RANGE (at);
ALTER SEQUENCE audit_log_ids OWNED BY audit_log.id;

-- The first parts, the rest, and the next months.
DO $$
DECLARE
  first record;
  after timestamp;
BEGIN
  FOR first IN SELECT m.*, t.name, t.rest FROM archive_months m, archive_table(m.kind) t LOOP
    EXECUTE format(CASE first.kind
      WHEN 'ledger' THEN 'ALTER TABLE ledger ATTACH PARTITION ledger_first FOR VALUES FROM (MINVALUE) TO (%s)'
      WHEN 'sessions' THEN 'ALTER TABLE "playerSessions" ATTACH PARTITION "playerSessions_first" FOR VALUES FROM (MINVALUE) TO (%s)'
      ELSE 'ALTER TABLE audit_log ATTACH PARTITION audit_log_first FOR VALUES FROM (MINVALUE) TO (%s)' END,
      first.ends);
    PERFORM archive_part(first.kind, first.rest);
    EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I DEFAULT', first.name, first.rest);
    FOR month IN 1..3 LOOP
      after := to_timestamp(first.ends / 1000) AT TIME ZONE 'UTC' + (month - 1) * interval '1 month';
      PERFORM archive_add(first.kind, to_char(after, 'YYYY-MM'),
        (extract(epoch FROM after AT TIME ZONE 'UTC') * 1000)::bigint,
        (extract(epoch FROM (after + interval '1 month') AT TIME ZONE 'UTC') * 1000)::bigint);
    END LOOP;
  END LOOP;
END $$;
