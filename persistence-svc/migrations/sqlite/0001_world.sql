-- The tables of the specification, with its names and types, and our own.
-- Times are milliseconds since the Unix epoch by the store's clock.

CREATE TABLE users (
  id text PRIMARY KEY,
  name text NOT NULL,
  roles text NOT NULL DEFAULT '',
  anonymous integer NOT NULL DEFAULT 1,
  -- SHA-256 of the key that an anonymous account's device keeps.
  "deviceKeyHash" blob UNIQUE,
  "privyUserId" text UNIQUE,
  "farcasterFid" text,
  avatar text,
  wallet text,
  "createdAt" integer NOT NULL
);

CREATE TABLE characters (
  id text PRIMARY KEY,
  "accountId" text NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  name text NOT NULL,
  -- The name in lower case: what must be unique.
  "nameKey" text NOT NULL UNIQUE,
  "createdAt" integer NOT NULL,
  "lastLogin" integer NOT NULL DEFAULT 0,
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
  "attackXp" integer NOT NULL DEFAULT 0,
  "strengthXp" integer NOT NULL DEFAULT 0,
  "defenseXp" integer NOT NULL DEFAULT 0,
  "constitutionXp" integer NOT NULL DEFAULT 11540,
  "rangedXp" integer NOT NULL DEFAULT 0,
  "magicXp" integer NOT NULL DEFAULT 0,
  "prayerXp" integer NOT NULL DEFAULT 0,
  "woodcuttingXp" integer NOT NULL DEFAULT 0,
  "miningXp" integer NOT NULL DEFAULT 0,
  "fishingXp" integer NOT NULL DEFAULT 0,
  "firemakingXp" integer NOT NULL DEFAULT 0,
  "cookingXp" integer NOT NULL DEFAULT 0,
  "smithingXp" integer NOT NULL DEFAULT 0,
  "agilityXp" integer NOT NULL DEFAULT 0,
  "craftingXp" integer NOT NULL DEFAULT 0,
  "fletchingXp" integer NOT NULL DEFAULT 0,
  "runecraftingXp" integer NOT NULL DEFAULT 0,
  health integer NOT NULL DEFAULT 100,
  coins integer NOT NULL DEFAULT 0 CHECK (coins >= 0),
  "positionX" real NOT NULL DEFAULT 0,
  "positionY" real NOT NULL DEFAULT 10,
  "positionZ" real NOT NULL DEFAULT 0,
  -- False: no zone has placed it yet; the position above means nothing.
  placed integer NOT NULL DEFAULT 0,
  -- Ten-thousandths of full.
  "runEnergy" integer NOT NULL DEFAULT 10000,
  running integer NOT NULL DEFAULT 0,
  -- The region that it belongs to, wherever it stands.
  "regionX" integer NOT NULL,
  "regionZ" integer NOT NULL,
  "ownershipSequence" integer NOT NULL DEFAULT 1,
  "sessionEpoch" integer NOT NULL DEFAULT 0,
  "sessionId" text NOT NULL DEFAULT '',
  online integer NOT NULL DEFAULT 0
);
CREATE INDEX characters_account ON characters ("accountId");
CREATE INDEX characters_online ON characters ("regionX", "regionZ") WHERE online = 1;

CREATE TABLE inventory (
  id integer PRIMARY KEY AUTOINCREMENT,
  "playerId" text NOT NULL REFERENCES characters (id) ON DELETE CASCADE,
  "itemId" text NOT NULL,
  quantity integer NOT NULL DEFAULT 1 CHECK (quantity > 0),
  "slotIndex" integer NOT NULL CHECK ("slotIndex" BETWEEN 0 AND 27),
  metadata text,
  UNIQUE ("playerId", "slotIndex")
);

CREATE TABLE equipment (
  id integer PRIMARY KEY AUTOINCREMENT,
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
  stackable integer NOT NULL DEFAULT 0,
  tradeable integer NOT NULL DEFAULT 1,
  stats text
);

CREATE TABLE "worldChunks" (
  "chunkX" integer NOT NULL,
  "chunkZ" integer NOT NULL,
  data text NOT NULL DEFAULT '{}',
  "lastActive" integer NOT NULL DEFAULT 0,
  version integer NOT NULL DEFAULT 1,
  "needsReset" integer NOT NULL DEFAULT 0,
  PRIMARY KEY ("chunkX", "chunkZ")
);

-- One row per session that a character played; open while `logout` is null.
CREATE TABLE "playerSessions" (
  id integer PRIMARY KEY AUTOINCREMENT,
  "playerId" text NOT NULL REFERENCES characters (id) ON DELETE CASCADE,
  "sessionEpoch" integer NOT NULL,
  "sessionId" text NOT NULL,
  "gatewayId" text NOT NULL,
  login integer NOT NULL,
  logout integer,
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
  items text,
  "killedBy" text NOT NULL DEFAULT '',
  recovered integer NOT NULL DEFAULT 0,
  timestamp integer NOT NULL
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
  "createdAt" integer NOT NULL,
  note text NOT NULL DEFAULT '',
  PRIMARY KEY ("playerId", "friendId")
);

CREATE TABLE friend_requests (
  id text PRIMARY KEY,
  "fromPlayerId" text NOT NULL REFERENCES characters (id) ON DELETE CASCADE,
  "toPlayerId" text NOT NULL REFERENCES characters (id) ON DELETE CASCADE,
  "createdAt" integer NOT NULL,
  UNIQUE ("fromPlayerId", "toPlayerId")
);

CREATE TABLE ignore_lists (
  "accountId" text NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  "ignoredPlayerId" text NOT NULL REFERENCES characters (id) ON DELETE CASCADE,
  "createdAt" integer NOT NULL,
  PRIMARY KEY ("accountId", "ignoredPlayerId")
);

-- One row per life of a zone server; an id is never used again.
CREATE TABLE runs (
  id integer PRIMARY KEY AUTOINCREMENT,
  address text NOT NULL,
  build text NOT NULL,
  content_hash text NOT NULL,
  state text NOT NULL DEFAULT 'live' CHECK (state IN ('live', 'draining', 'fenced')),
  registered integer NOT NULL,
  -- When the lease ends unless it is renewed.
  until integer NOT NULL,
  -- When another run was given its regions against its will; null: never.
  taken_over integer,
  players integer NOT NULL DEFAULT 0,
  tick_cost_us integer NOT NULL DEFAULT 0
);
CREATE INDEX runs_living ON runs (id) WHERE state <> 'fenced';
CREATE INDEX runs_taken_over ON runs (taken_over) WHERE taken_over IS NOT NULL;

-- Who owns a region; run 0 is nobody. The epoch grows by one at every change and never falls.
CREATE TABLE regions (
  region_x integer NOT NULL,
  region_z integer NOT NULL,
  run_id integer NOT NULL DEFAULT 0,
  epoch integer NOT NULL DEFAULT 0,
  PRIMARY KEY (region_x, region_z)
);
CREATE INDEX regions_run ON regions (run_id);

-- What the last owner left of a region's own state.
CREATE TABLE region_states (
  region_x integer NOT NULL,
  region_z integer NOT NULL,
  tick integer NOT NULL,
  state blob NOT NULL,
  PRIMARY KEY (region_x, region_z)
);

-- The last batch of each run that was applied.
CREATE TABLE commits (
  run_id integer PRIMARY KEY REFERENCES runs (id),
  sequence integer NOT NULL,
  tick integer NOT NULL,
  at integer NOT NULL
);

-- One row: grows at every change of runs and regions.
CREATE TABLE directory (
  one integer PRIMARY KEY CHECK (one = 1),
  version integer NOT NULL
);
INSERT INTO directory (one, version) VALUES (1, 1);

-- One row: raised by an operator when a standby takes over.
CREATE TABLE incarnation (
  one integer PRIMARY KEY CHECK (one = 1),
  value integer NOT NULL
);
INSERT INTO incarnation (one, value) VALUES (1, 1);

-- One row: which replica plans, and until when.
CREATE TABLE planner (
  one integer PRIMARY KEY CHECK (one = 1),
  holder text NOT NULL,
  until integer NOT NULL
);
INSERT INTO planner (one, holder, until) VALUES (1, '', 0);

CREATE TABLE secrets (
  name text PRIMARY KEY,
  value blob NOT NULL,
  "createdAt" integer NOT NULL
);
