-- Duels. Only adds: a service of the version before works on as long as nobody stakes anything.

-- What its owner has at stake, or could not take back yet. It is in no pack and no bank.
CREATE TABLE stakes (
  "playerId" text NOT NULL REFERENCES characters (id) ON DELETE CASCADE,
  place integer NOT NULL CHECK (place BETWEEN 0 AND 55),
  "itemId" text NOT NULL,
  quantity integer NOT NULL CHECK (quantity > 0),
  PRIMARY KEY ("playerId", place)
);
