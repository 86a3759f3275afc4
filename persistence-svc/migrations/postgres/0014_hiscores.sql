-- Hiscores, and the past of characters that no session row tells any more. Only adds: a service of
-- the version before works on without them.

-- The lists of the best. The refresh alone writes them; readers see its last result as a whole.
CREATE TABLE hiscore_lists (
  -- The number of a skill; -1: all skills together.
  skill integer PRIMARY KEY CHECK (skill >= -1),
  -- False: some ranked characters are not in the list, all of them worse than its last entry.
  complete boolean NOT NULL,
  entries integer NOT NULL DEFAULT 0
);
INSERT INTO hiscore_lists (skill, complete)
  SELECT n, NOT EXISTS (SELECT 1 FROM characters) FROM generate_series(-1, 16) n;

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

-- Sessions whose rows were removed: how many, and how long they were together.
ALTER TABLE characters
  ADD COLUMN "earlierLogins" bigint NOT NULL DEFAULT 0,
  ADD COLUMN "earlierPlayedMs" bigint NOT NULL DEFAULT 0;
