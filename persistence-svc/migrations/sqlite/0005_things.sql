-- Banks. Only adds: a service of the version before works on as long as nobody has one.

-- All of one item that a character has in its bank: 480 rows at most.
CREATE TABLE bank (
  "playerId" text NOT NULL REFERENCES characters (id) ON DELETE CASCADE,
  "itemId" text NOT NULL,
  -- 0: only its place is kept.
  quantity integer NOT NULL CHECK (quantity >= 0),
  tab integer NOT NULL CHECK (tab BETWEEN 0 AND 8),
  -- The order in the tab; there may be gaps.
  place integer NOT NULL CHECK (place >= 0),
  PRIMARY KEY ("playerId", "itemId")
);

-- What is taken out of the bank to the last leaves its place free.
ALTER TABLE characters ADD COLUMN "bankPlaceholders" integer NOT NULL DEFAULT 0;
