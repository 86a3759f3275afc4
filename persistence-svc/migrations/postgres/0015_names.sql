-- Names that look alike. Only adds: a service of the version before works on without it, and what it
-- writes gets its skeleton later.

-- The same for all names that a reader can take for one another. Null: not looked at yet; begins
-- with '=': another character had it first.
ALTER TABLE characters ADD COLUMN "nameSkeleton" text;
CREATE UNIQUE INDEX characters_skeleton ON characters ("nameSkeleton");
-- What is not looked at yet.
CREATE INDEX characters_no_skeleton ON characters (id) WHERE "nameSkeleton" IS NULL;
