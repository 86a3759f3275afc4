-- Hiscores, and the past of characters that no session row tells any more. Only adds: a service of
-- the version before works on without them.

-- The lists of the best. The refresh alone writes them; readers see its last result as a whole.
CREATE TABLE hiscore_lists (
  -- The number of a skill; -1: all skills together.
  skill integer PRIMARY KEY CHECK (skill >= -1),
  -- 0: some ranked characters are not in the list, all of them worse than its last entry.
  complete integer NOT NULL,
  entries integer NOT NULL DEFAULT 0
);
WITH RECURSIVE n(n) AS (SELECT -1 UNION ALL SELECT n + 1 FROM n WHERE n < 16)
  INSERT INTO hiscore_lists (skill, complete)
  SELECT n, NOT EXISTS (SELECT 1 FROM characters) FROM n;

CREATE TABLE hiscores (
  character_id text NOT NULL,
  skill integer NOT NULL,
  -- Minus (level × 2^40 + experience in tenths): the best come first.
  place integer NOT NULL,
  created integer NOT NULL,
  name text NOT NULL,
  PRIMARY KEY (character_id, skill)
);
CREATE UNIQUE INDEX hiscores_order ON hiscores (skill, place, created, character_id);

-- Every 250th entry of a list, from which a page is reached in a few steps.
CREATE TABLE hiscore_marks (
  skill integer NOT NULL,
  number integer NOT NULL,
  place integer NOT NULL,
  created integer NOT NULL,
  character_id text NOT NULL,
  PRIMARY KEY (skill, number)
);

-- Characters that were renamed or deleted since the last refresh.
CREATE TABLE hiscore_due (
  number integer PRIMARY KEY AUTOINCREMENT,
  character_id text NOT NULL
);

CREATE TRIGGER hiscores_renamed AFTER UPDATE OF name ON characters
BEGIN
  INSERT INTO hiscore_due (character_id) VALUES (old.id);
END;
CREATE TRIGGER hiscores_deleted AFTER DELETE ON characters
BEGIN
  INSERT INTO hiscore_due (character_id) VALUES (old.id);
END;

-- One row: when the last refresh began.
CREATE TABLE hiscore_refresh (
  one integer PRIMARY KEY CHECK (one = 1),
  at integer NOT NULL
);
INSERT INTO hiscore_refresh (one, at) VALUES (1, 0);

-- The refresh looks for whoever played since the last one.
CREATE INDEX "playerSessions_closed" ON "playerSessions" (logout) WHERE logout IS NOT NULL;

-- A character that is deleted is looked for where others named it.
CREATE INDEX friendships_friend ON friendships ("friendId");
CREATE INDEX ignore_lists_ignored ON ignore_lists ("ignoredPlayerId");

-- Sessions whose rows were removed: how many, and how long they were together.
ALTER TABLE characters ADD COLUMN "earlierLogins" integer NOT NULL DEFAULT 0;
ALTER TABLE characters ADD COLUMN "earlierPlayedMs" integer NOT NULL DEFAULT 0;
