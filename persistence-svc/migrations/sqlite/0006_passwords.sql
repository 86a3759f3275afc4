-- Passwords of accounts, by a name that the player chose; see docs/accounts.md.

CREATE TABLE passwords (
  "accountId" text PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
  -- The name in lower case.
  name text NOT NULL UNIQUE,
  -- Argon2id, in PHC's string format.
  hash text NOT NULL,
  -- SHA-256 of each recovery code that is left, one after the other.
  codes blob NOT NULL,
  -- Ids of the logins that a change of the password ends, oldest first, with commas between them.
  logins text NOT NULL
);
