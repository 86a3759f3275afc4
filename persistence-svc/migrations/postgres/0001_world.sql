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
  "createdAt" bigint NOT NULL,
  -- The last day (since 1970) on which the account made characters, and how many it made then.
  "madeDay" bigint NOT NULL DEFAULT 0,
  made integer NOT NULL DEFAULT 0
);

CREATE TABLE characters (
  id text PRIMARY KEY,
  "accountId" text NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  name text NOT NULL,
  -- The name in lower case; it must be unique.
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
  -- All else that is saved of it, in the form of the zone servers; empty: it was never placed. The
  -- store does not look into it, and no column or table says the same.
  state bytea NOT NULL DEFAULT '',
  -- The region that it belongs to, wherever it stands.
  "regionX" integer NOT NULL,
  "regionZ" integer NOT NULL,
  "ownershipSequence" bigint NOT NULL DEFAULT 1,
  "sessionEpoch" bigint NOT NULL DEFAULT 0,
  "sessionId" text NOT NULL DEFAULT '',
  online boolean NOT NULL DEFAULT false,
  -- Its rows did not fit: it is loaded by nobody until an operator releases it.
  quarantined boolean NOT NULL DEFAULT false,
  -- Sessions whose rows the store removed: their number and their length together.
  "earlierLogins" bigint NOT NULL DEFAULT 0,
  "earlierPlayedMs" bigint NOT NULL DEFAULT 0,
  -- The same for all names that a reader can take for one another. Null: not looked at yet; begins
  -- with '=': another character had it first.
  "nameSkeleton" text
) WITH (fillfactor = 80); -- Room to rewrite a row beside itself: positions change all the time.
CREATE INDEX characters_account ON characters ("accountId");
CREATE INDEX characters_online ON characters ("regionX", "regionZ") WHERE online;
CREATE UNIQUE INDEX characters_skeleton ON characters ("nameSkeleton");
-- Names that are not looked at yet.
CREATE INDEX characters_no_skeleton ON characters (id) WHERE "nameSkeleton" IS NULL;

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

-- A death lock: the pack cannot also have the items in the grave.
CREATE TABLE "playerDeaths" (
  "playerId" text PRIMARY KEY REFERENCES characters (id) ON DELETE CASCADE,
  "gravestoneId" text,
  position text NOT NULL,
  "zoneType" text NOT NULL,
  "itemCount" integer NOT NULL DEFAULT 0,
  items jsonb,
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

-- Each login looks for the requests to a character.
CREATE INDEX friend_requests_to ON friend_requests ("toPlayerId");

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
  -- Time at which the store gave its regions to another run against its will; null: never.
  taken_over bigint,
  players integer NOT NULL DEFAULT 0,
  tick_cost_us integer NOT NULL DEFAULT 0
);
CREATE INDEX runs_living ON runs (id) WHERE state <> 'fenced';
CREATE INDEX runs_taken_over ON runs (taken_over) WHERE taken_over IS NOT NULL;

-- Owners of regions; run 0 is nobody. The epoch grows by one at every change and never falls.
CREATE TABLE regions (
  region_x integer NOT NULL,
  region_z integer NOT NULL,
  run_id bigint NOT NULL DEFAULT 0,
  epoch bigint NOT NULL DEFAULT 0,
  -- The last tick that the last owner committed.
  played_tick bigint NOT NULL DEFAULT 0,
  -- The measured load.
  cost_us integer NOT NULL DEFAULT 0,
  players integer NOT NULL DEFAULT 0,
  -- The run that should have it; 0: its owner.
  wanted_run_id bigint NOT NULL DEFAULT 0,
  -- Since when its owner has it.
  changed_at bigint NOT NULL DEFAULT 0,
  -- Nobody may play it until an operator says so.
  paused boolean NOT NULL DEFAULT false,
  PRIMARY KEY (region_x, region_z)
);
CREATE INDEX regions_run ON regions (run_id);

-- A region's own state, as its last owner left it.
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

-- One row: the replica that plans, and the end of its right.
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

-- Items on the ground. An item belongs to the region of this row, wherever it lies.
CREATE TABLE ground_items (
  -- item:<run id>-<counter of that run>
  id text PRIMARY KEY,
  region_x integer NOT NULL,
  region_z integer NOT NULL,
  x integer NOT NULL,
  z integer NOT NULL,
  item_id text NOT NULL,
  quantity integer NOT NULL CHECK (quantity > 0),
  -- The only character that may take it before `public_tick`; empty: anybody.
  owner_id text NOT NULL DEFAULT '',
  public_tick bigint NOT NULL,
  expires_tick bigint NOT NULL,
  -- The grave that holds it until `public_tick`; empty: it lies about.
  grave_id text NOT NULL DEFAULT ''
);
CREATE INDEX ground_items_region ON ground_items (region_x, region_z);
CREATE INDEX ground_items_graves ON ground_items (owner_id) WHERE grave_id <> '';

-- Every creation, destruction and change of owner of items and coins. Three numbers name an
-- operation: the run (0: the store itself), its batch, and the row in it. Rows are never changed.
CREATE TABLE ledger (
  run_id bigint NOT NULL,
  sequence bigint NOT NULL,
  "row" integer NOT NULL,
  -- Null: the ground. A deleted character keeps its rows.
  character_id text,
  item_id text NOT NULL,
  -- The name of a cause of the zone servers, or `deleted`.
  cause text NOT NULL,
  delta bigint NOT NULL CHECK (delta <> 0),
  at bigint NOT NULL,
  PRIMARY KEY (run_id, sequence, "row")
);

-- One row: the number of the store's own last operation, for its rows of the ledger.
CREATE TABLE operations (
  one integer PRIMARY KEY CHECK (one = 1),
  last bigint NOT NULL
);
INSERT INTO operations (one, last) VALUES (1, 0);

-- One row per region in which a run ended by a panic.
CREATE TABLE region_faults (
  region_x integer NOT NULL,
  region_z integer NOT NULL,
  run_id bigint NOT NULL,
  at bigint NOT NULL,
  PRIMARY KEY (region_x, region_z, run_id)
);

-- Witnesses that say that a run does not answer any more.
CREATE TABLE witnesses (
  run_id bigint NOT NULL,
  witness text NOT NULL,
  at bigint NOT NULL,
  PRIMARY KEY (run_id, witness)
);

-- One row: the switches of the operators.
CREATE TABLE switches (
  one integer PRIMARY KEY CHECK (one = 1),
  frozen boolean NOT NULL DEFAULT false
);
INSERT INTO switches (one) VALUES (1);

-- The news that every gateway must have: revoked tokens and logins, bans, mutes, and orders about
-- an account's sockets. A row stays for a while after its end, so that every gateway reads it.
CREATE TABLE sanctions (
  -- ban:<account>, mute:<account>, revoked:<token or login>, and one of its own for the others
  id text PRIMARY KEY,
  kind text NOT NULL CHECK (kind IN ('revoked', 'ban', 'mute', 'kick', 'teleport')),
  "accountId" text NOT NULL,
  -- The token, login or character that is meant.
  subject text NOT NULL DEFAULT '',
  reason text NOT NULL DEFAULT '',
  -- Null: for ever.
  until bigint,
  "by" text NOT NULL DEFAULT '',
  at bigint NOT NULL,
  x integer NOT NULL DEFAULT 0,
  z integer NOT NULL DEFAULT 0,
  version bigint NOT NULL
);
CREATE UNIQUE INDEX sanctions_version ON sanctions (version);
CREATE INDEX sanctions_account ON sanctions ("accountId");
CREATE INDEX sanctions_until ON sanctions (until) WHERE until IS NOT NULL;

-- One row: grows with every change of sanctions.
CREATE TABLE identity (
  one integer PRIMARY KEY CHECK (one = 1),
  version bigint NOT NULL
);
INSERT INTO identity (one, version) VALUES (1, 1);

-- Actions of operators. The store never changes these rows.
CREATE TABLE audit_log (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at bigint NOT NULL,
  "by" text NOT NULL,
  action text NOT NULL,
  "accountId" text NOT NULL DEFAULT '',
  "characterId" text NOT NULL DEFAULT '',
  detail text NOT NULL DEFAULT ''
);

-- Agents and their orders. One character is at most one agent.
CREATE TABLE agent_mappings (
  agent_id text PRIMARY KEY,
  account_id text NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  character_id text NOT NULL UNIQUE REFERENCES characters (id) ON DELETE CASCADE,
  agent_name text NOT NULL,
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  -- The number of the order that made the row what it is; see agent_orders.
  version bigint NOT NULL,
  -- It lives in the world also when nobody plays it.
  active boolean NOT NULL DEFAULT true,
  paused boolean NOT NULL DEFAULT false,
  -- Null: it picks its own, unless it is paused.
  goal_id text,
  goal_since bigint NOT NULL DEFAULT 0,
  -- Its zone's last report on how far it is with the goal.
  progress integer NOT NULL DEFAULT 0,
  -- It is not active because nobody needed it; means nothing while it is active.
  resting boolean NOT NULL DEFAULT false,
  -- When its owner last came into the world, ordered it or spoke to it.
  heeded_at bigint NOT NULL DEFAULT 0
);
CREATE INDEX agent_mappings_account ON agent_mappings (account_id);
CREATE INDEX agent_mappings_active ON agent_mappings (heeded_at) WHERE active;

-- One row: the number of the last order to any agent. No number is used twice, also where an agent
-- was removed and made again.
CREATE TABLE agent_orders (
  one integer PRIMARY KEY CHECK (one = 1),
  last bigint NOT NULL
);
INSERT INTO agent_orders (one, last) VALUES (1, 0);

-- Tokens that speak for an agent's character. The token itself is not kept.
CREATE TABLE agent_credentials (
  token_id text PRIMARY KEY,
  agent_id text NOT NULL REFERENCES agent_mappings (agent_id) ON DELETE CASCADE,
  account_id text NOT NULL,
  character_id text NOT NULL,
  created_at bigint NOT NULL,
  expires_at bigint NOT NULL,
  revoked boolean NOT NULL DEFAULT false
);
CREATE INDEX agent_credentials_agent ON agent_credentials (agent_id);

-- All of one item that a character has in its bank: 480 rows at most.
CREATE TABLE bank (
  "playerId" text NOT NULL REFERENCES characters (id) ON DELETE CASCADE,
  "itemId" text NOT NULL,
  -- 0: the bank keeps only its place.
  quantity integer NOT NULL CHECK (quantity >= 0),
  tab integer NOT NULL CHECK (tab BETWEEN 0 AND 8),
  -- The order in the tab; there may be gaps.
  place integer NOT NULL CHECK (place >= 0),
  PRIMARY KEY ("playerId", "itemId")
);

-- The stakes of a character, with those that it could not take back yet. A stake is in no pack and
-- no bank.
CREATE TABLE stakes (
  "playerId" text NOT NULL REFERENCES characters (id) ON DELETE CASCADE,
  place integer NOT NULL CHECK (place BETWEEN 0 AND 55),
  "itemId" text NOT NULL,
  quantity integer NOT NULL CHECK (quantity > 0),
  PRIMARY KEY ("playerId", place)
);

-- Lists of operators and players are read by these: newest first, of one holder, of one item.
CREATE INDEX ledger_newest ON ledger (at DESC, run_id DESC, sequence DESC, "row" DESC);
CREATE INDEX ledger_holder
  ON ledger (character_id, at DESC, run_id DESC, sequence DESC, "row" DESC);
CREATE INDEX ledger_item ON ledger (item_id, at DESC, run_id DESC, sequence DESC, "row" DESC);
CREATE INDEX "playerSessions_newest" ON "playerSessions" (login DESC, id DESC);
CREATE INDEX "playerSessions_player" ON "playerSessions" ("playerId", login DESC, id DESC);
CREATE INDEX "playerSessions_current" ON "playerSessions" (login DESC, id DESC)
  WHERE logout IS NULL;

-- The lists of the best. The refresh alone writes them; readers see its last result as a whole.
CREATE TABLE hiscore_lists (
  -- The number of a skill; -1: all skills together.
  skill integer PRIMARY KEY CHECK (skill >= -1),
  -- False: some ranked characters are not in the list, all of them worse than its last entry.
  complete boolean NOT NULL,
  entries integer NOT NULL DEFAULT 0
);
INSERT INTO hiscore_lists (skill, complete) SELECT n, true FROM generate_series(-1, 16) n;

CREATE TABLE hiscores (
  character_id text COLLATE "C" NOT NULL,
  skill integer NOT NULL,
  -- Minus (level × 2^40 + experience in tenths): the best come first.
  place bigint NOT NULL,
  created bigint NOT NULL,
  name text NOT NULL,
  PRIMARY KEY (character_id, skill)
);
CREATE UNIQUE INDEX hiscores_order ON hiscores (skill, place, created, character_id);

-- Every 250th entry of a list, from which a page is reached in a few steps.
CREATE TABLE hiscore_marks (
  skill integer NOT NULL,
  number integer NOT NULL,
  place bigint NOT NULL,
  created bigint NOT NULL,
  character_id text COLLATE "C" NOT NULL,
  PRIMARY KEY (skill, number)
);

-- Characters that were renamed or deleted since the last refresh.
CREATE TABLE hiscore_due (
  number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  character_id text NOT NULL
);

CREATE FUNCTION hiscore_note() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO hiscore_due (character_id) VALUES (old.id);
  RETURN NULL;
END $$;
CREATE TRIGGER hiscores_renamed AFTER UPDATE OF name ON characters
  FOR EACH ROW EXECUTE FUNCTION hiscore_note();
CREATE TRIGGER hiscores_deleted AFTER DELETE ON characters
  FOR EACH ROW EXECUTE FUNCTION hiscore_note();

-- One row: when the last refresh began.
CREATE TABLE hiscore_refresh (
  one integer PRIMARY KEY CHECK (one = 1),
  at bigint NOT NULL
);
INSERT INTO hiscore_refresh (one, at) VALUES (1, 0);

-- The refresh looks for whoever played since the last one.
CREATE INDEX "playerSessions_closed" ON "playerSessions" (logout) WHERE logout IS NOT NULL;

-- A character that is deleted is looked for where others named it.
CREATE INDEX friendships_friend ON friendships ("friendId");
CREATE INDEX ignore_lists_ignored ON ignore_lists ("ignoredPlayerId");
