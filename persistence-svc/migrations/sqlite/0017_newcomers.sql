-- For how long a character was played, and how many an account makes a day. Only adds.

-- Ticks; counted until it is no newcomer.
ALTER TABLE characters ADD COLUMN "playedTicks" bigint NOT NULL DEFAULT 0;

-- The last day (since 1970) on which the account made characters, and how many it made then.
ALTER TABLE users ADD COLUMN "madeDay" bigint NOT NULL DEFAULT 0;
ALTER TABLE users ADD COLUMN made integer NOT NULL DEFAULT 0;
