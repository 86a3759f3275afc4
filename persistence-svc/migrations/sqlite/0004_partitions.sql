-- The months of the ledger, the sessions and the audit log, so that old months can be closed,
-- exported and dropped. Here they are only marks; all rows of a table stay together.

-- The months of the three tables, without gaps: the first one begins with the first row. A dropped
-- month keeps its row. The store adds the months.
CREATE TABLE archive_months (
  kind text NOT NULL CHECK (kind IN ('ledger', 'sessions', 'audit')),
  -- The last calendar month (UTC) of its rows, as 2026-11.
  month text NOT NULL,
  begins integer NOT NULL,
  ends integer NOT NULL CHECK (ends > begins),
  -- PostgreSQL: the partition that has the rows.
  part text NOT NULL,
  -- When the month was closed, and its number of rows then; null: it is open.
  closed_at integer,
  row_count integer,
  -- The last export: when, how many rows, and the SHA-256 of the file.
  exported_at integer,
  exported_rows integer,
  exported_sha256 text,
  dropped_at integer,
  PRIMARY KEY (kind, month)
);

-- The sum of all rows of the closed months of the ledger, by holder ('' is the ground) and item.
CREATE TABLE ledger_balances (
  character_id text NOT NULL,
  item_id text NOT NULL,
  amount integer NOT NULL,
  PRIMARY KEY (character_id, item_id)
);

-- Reads the log of a month.
CREATE INDEX audit_log_by_time ON audit_log (at);
