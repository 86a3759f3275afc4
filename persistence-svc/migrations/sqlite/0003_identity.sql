-- Who may come in. Only adds: a service of the version before works on without it.

-- What every gateway must know: revoked tokens and logins, bans, mutes, and what is to be done
-- with an account's sockets. A row that is over is kept for a while, so that everybody hears it.
CREATE TABLE gates (
  -- ban:<account>, mute:<account>, revoked:<token or login>, and one of its own for the others
  id text PRIMARY KEY,
  kind text NOT NULL CHECK (kind IN ('revoked', 'ban', 'mute', 'kick', 'teleport')),
  "accountId" text NOT NULL,
  -- The token, login or character that is meant.
  subject text NOT NULL DEFAULT '',
  reason text NOT NULL DEFAULT '',
  -- Null: for ever.
  until integer,
  "by" text NOT NULL DEFAULT '',
  at integer NOT NULL,
  x integer NOT NULL DEFAULT 0,
  z integer NOT NULL DEFAULT 0,
  version integer NOT NULL
);
CREATE UNIQUE INDEX gates_version ON gates (version);
CREATE INDEX gates_account ON gates ("accountId");
CREATE INDEX gates_until ON gates (until) WHERE until IS NOT NULL;

-- One row: grows with every change of gates.
CREATE TABLE identity (
  one integer PRIMARY KEY CHECK (one = 1),
  version integer NOT NULL
);
INSERT INTO identity (one, version) VALUES (1, 1);

-- What operators did. Rows are never changed.
CREATE TABLE deeds (
  id integer PRIMARY KEY AUTOINCREMENT,
  at integer NOT NULL,
  "by" text NOT NULL,
  deed text NOT NULL,
  "accountId" text NOT NULL DEFAULT '',
  "characterId" text NOT NULL DEFAULT '',
  detail text NOT NULL DEFAULT ''
);
