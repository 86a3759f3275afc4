-- The tables of the specification, with its names and types, and our own.
-- Times are milliseconds since the Unix epoch by the store's clock.

-- The only clock of leases. It goes on within a transaction.
CREATE FUNCTION tilestead_now_ms() RETURNS bigint LANGUAGE sql VOLATILE
AS $$ SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint $$;

CREATE TABLE users (
  id text PRIMARY KEY,
  name text NOT NULL,
  roles text NOT NULL DEFAULT '',
  anonymous boolean NOT NULL DEFAULT true,
  -- SHA-256 of the key that an anonymous account's device keeps.
  "deviceKeyHash" bytea UNIQUE,
  "privyUserId" text UNIQUE,
  "farcasterFid" text,
  avatar text,
  wallet text,
  "createdAt" bigint NOT NULL
);

CREATE TABLE characters (
  id text PRIMARY KEY,
  "accountId" text NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  name text NOT NULL,
  -- The name in lower case: what must be unique.
  "nameKey" text NOT NULL UNIQUE,
  "createdAt" bigint NOT NULL,
  "lastLogin" bigint NOT NULL DEFAULT 0,
  "isAgent" integer NOT NULL DEFAULT 0,
  "combatLevel" integer NOT NULL DEFAULT 3,
  "attackLevel" integer NOT NULL DEFAULT 1,
  "strengthLevel" integer NOT NULL DEFAULT 1,
  "defenseLevel" integer NOT NULL DEFAULT 1,
  "constitutionLevel" integer NOT NULL DEFAULT 10,
  "rangedLevel" integer NOT NULL DEFAULT 1,
  "magicLevel" integer NOT NULL DEFAULT 1,
  "prayerLevel" integer NOT NULL DEFAULT 1,
  "woodcuttingLevel" integer NOT NULL DEFAULT 1,
  "miningLevel" integer NOT NULL DEFAULT 1,
  "fishingLevel" integer NOT NULL DEFAULT 1,
  "firemakingLevel" integer NOT NULL DEFAULT 1,
  "cookingLevel" integer NOT NULL DEFAULT 1,
  "smithingLevel" integer NOT NULL DEFAULT 1,
  "agilityLevel" integer NOT NULL DEFAULT 1,
  "craftingLevel" integer NOT NULL DEFAULT 1,
  "fletchingLevel" integer NOT NULL DEFAULT 1,
  "runecraftingLevel" integer NOT NULL DEFAULT 1,
  -- Experience in tenths.
  "attackXp" bigint NOT NULL DEFAULT 0,
  "strengthXp" bigint NOT NULL DEFAULT 0,
  "defenseXp" bigint NOT NULL DEFAULT 0,
  "constitutionXp" bigint NOT NULL DEFAULT 11540,
  "rangedXp" bigint NOT NULL DEFAULT 0,
  "magicXp" bigint NOT NULL DEFAULT 0,
  "prayerXp" bigint NOT NULL DEFAULT 0,
  "woodcuttingXp" bigint NOT NULL DEFAULT 0,
  "miningXp" bigint NOT NULL DEFAULT 0,
  "fishingXp" bigint NOT NULL DEFAULT 0,
  "firemakingXp" bigint NOT NULL DEFAULT 0,
  "cookingXp" bigint NOT NULL DEFAULT 0,
  "smithingXp" bigint NOT NULL DEFAULT 0,
  "agilityXp" bigint NOT NULL DEFAULT 0,
  "craftingXp" bigint NOT NULL DEFAULT 0,
  "fletchingXp" bigint NOT NULL DEFAULT 0,
  "runecraftingXp" bigint NOT NULL DEFAULT 0,
  health integer NOT NULL DEFAULT 100,
  coins integer NOT NULL DEFAULT 0 CHECK (coins >= 0),
  "positionX" real NOT NULL DEFAULT 0,
  "positionY" real NOT NULL DEFAULT 10,
  "positionZ" real NOT NULL DEFAULT 0,
  -- False: no zone has placed it yet; the position above means nothing.
  placed boolean NOT NULL DEFAULT false,
  -- Ten-thousandths of full.
  "runEnergy" integer NOT NULL DEFAULT 10000,
  running boolean NOT NULL DEFAULT false,
  -- The region that it belongs to, wherever it stands.
  "regionX" integer NOT NULL,
  "regionZ" integer NOT NULL,
  "ownershipSequence" bigint NOT NULL DEFAULT 1,
  "sessionEpoch" bigint NOT NULL DEFAULT 0,
  "sessionId" text NOT NULL DEFAULT '',
  online boolean NOT NULL DEFAULT false
) WITH (fillfactor = 80); -- Room to rewrite a row beside itself: positions change all the time.
CREATE INDEX characters_account ON characters ("accountId");
CREATE INDEX characters_online ON characters ("regionX", "regionZ") WHERE online;

CREATE TABLE inventory (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  "playerId" text NOT NULL REFERENCES characters (id) ON DELETE CASCADE,
  "itemId" text NOT NULL,
  quantity integer NOT NULL DEFAULT 1 CHECK (quantity > 0),
  "slotIndex" integer NOT NULL CHECK ("slotIndex" BETWEEN 0 AND 27),
  metadata jsonb,
  UNIQUE ("playerId", "slotIndex")
);

CREATE TABLE equipment (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  "playerId" text NOT NULL REFERENCES characters (id) ON DELETE CASCADE,
  "slotType" text NOT NULL,
  "itemId" text NOT NULL,
  quantity integer NOT NULL DEFAULT 1 CHECK (quantity > 0),
  UNIQUE ("playerId", "slotType")
);

CREATE TABLE items (
  id text PRIMARY KEY,
  name text NOT NULL,
  type text NOT NULL,
  description text NOT NULL DEFAULT '',
  value integer NOT NULL DEFAULT 0,
  weight real NOT NULL DEFAULT 0,
  stackable boolean NOT NULL DEFAULT false,
  tradeable boolean NOT NULL DEFAULT true,
  stats jsonb
);

CREATE TABLE "worldChunks" (
  "chunkX" integer NOT NULL,
  "chunkZ" integer NOT NULL,
  data text NOT NULL DEFAULT '{}',
  "lastActive" bigint NOT NULL DEFAULT 0,
  version integer NOT NULL DEFAULT 1,
  "needsReset" boolean NOT NULL DEFAULT false,
  PRIMARY KEY ("chunkX", "chunkZ")
);

-- One row per session that a character played; open while `logout` is null.
CREATE TABLE "playerSessions" (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  "playerId" text NOT NULL REFERENCES characters (id) ON DELETE CASCADE,
  "sessionEpoch" bigint NOT NULL,
  "sessionId" text NOT NULL,
  "gatewayId" text NOT NULL,
  login bigint NOT NULL,
  logout bigint,
  reason text,
  UNIQUE ("playerId", "sessionEpoch")
);
CREATE INDEX "playerSessions_open" ON "playerSessions" ("playerId") WHERE logout IS NULL;

-- A death lock: what lies in the grave cannot be in the pack too.
CREATE TABLE "playerDeaths" (
  "playerId" text PRIMARY KEY REFERENCES characters (id) ON DELETE CASCADE,
  "gravestoneId" text,
  position text NOT NULL,
  "zoneType" text NOT NULL,
  "itemCount" integer NOT NULL DEFAULT 0,
  items jsonb,
  "killedBy" text NOT NULL DEFAULT '',
  recovered boolean NOT NULL DEFAULT false,
  timestamp bigint NOT NULL
);

CREATE TABLE "npcKills" (
  "playerId" text NOT NULL REFERENCES characters (id) ON DELETE CASCADE,
  "npcId" text NOT NULL,
  "killCount" integer NOT NULL DEFAULT 0,
  PRIMARY KEY ("playerId", "npcId")
);

-- Two rows per friendship, one for each side.
CREATE TABLE friendships (
  "playerId" text NOT NULL REFERENCES characters (id) ON DELETE CASCADE,
  "friendId" text NOT NULL REFERENCES characters (id) ON DELETE CASCADE,
  "createdAt" bigint NOT NULL,
  note text NOT NULL DEFAULT '',
  PRIMARY KEY ("playerId", "friendId")
);

CREATE TABLE friend_requests (
  id text PRIMARY KEY,
  "fromPlayerId" text NOT NULL REFERENCES characters (id) ON DELETE CASCADE,
  "toPlayerId" text NOT NULL REFERENCES characters (id) ON DELETE CASCADE,
  "createdAt" bigint NOT NULL,
  UNIQUE ("fromPlayerId", "toPlayerId")
);

CREATE TABLE ignore_lists (
  "accountId" text NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  "ignoredPlayerId" text NOT NULL REFERENCES characters (id) ON DELETE CASCADE,
  "createdAt" bigint NOT NULL,
  PRIMARY KEY ("accountId", "ignoredPlayerId")
);

-- One row per life of a zone server; an id is never used again.
CREATE TABLE runs (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  address text NOT NULL,
  build text NOT NULL,
  content_hash text NOT NULL,
  state text NOT NULL DEFAULT 'live' CHECK (state IN ('live', 'draining', 'fenced')),
  registered bigint NOT NULL,
  -- When the lease ends unless it is renewed.
  until bigint NOT NULL,
  -- When another run was given its regions against its will; null: never.
  taken_over bigint,
  players integer NOT NULL DEFAULT 0,
  tick_cost_us integer NOT NULL DEFAULT 0
);
CREATE INDEX runs_living ON runs (id) WHERE state <> 'fenced';
CREATE INDEX runs_taken_over ON runs (taken_over) WHERE taken_over IS NOT NULL;

-- Who owns a region; run 0 is nobody. The epoch grows by one at every change and never falls.
CREATE TABLE regions (
  region_x integer NOT NULL,
  region_z integer NOT NULL,
  run_id bigint NOT NULL DEFAULT 0,
  epoch bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (region_x, region_z)
);
CREATE INDEX regions_run ON regions (run_id);

-- What the last owner left of a region's own state.
CREATE TABLE region_states (
  region_x integer NOT NULL,
  region_z integer NOT NULL,
  tick bigint NOT NULL,
  state bytea NOT NULL,
  PRIMARY KEY (region_x, region_z)
);

-- The last batch of each run that was applied.
CREATE TABLE commits (
  run_id bigint PRIMARY KEY REFERENCES runs (id),
  sequence bigint NOT NULL,
  tick bigint NOT NULL,
  at bigint NOT NULL
);

-- One row: grows at every change of runs and regions.
CREATE TABLE directory (
  one integer PRIMARY KEY CHECK (one = 1),
  version bigint NOT NULL
);
INSERT INTO directory (one, version) VALUES (1, 1);

-- One row: raised by an operator when a standby takes over.
CREATE TABLE incarnation (
  one integer PRIMARY KEY CHECK (one = 1),
  value bigint NOT NULL
);
INSERT INTO incarnation (one, value) VALUES (1, 1);

-- One row: which replica plans, and until when.
CREATE TABLE planner (
  one integer PRIMARY KEY CHECK (one = 1),
  holder text NOT NULL,
  until bigint NOT NULL
);
INSERT INTO planner (one, holder, until) VALUES (1, '', 0);

CREATE TABLE secrets (
  name text PRIMARY KEY,
  value bytea NOT NULL,
  "createdAt" bigint NOT NULL
);
