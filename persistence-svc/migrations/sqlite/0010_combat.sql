-- Fighting and prayer. Only adds: a service of the version before leaves them as they are.

-- accurate, aggressive, defensive, controlled, rapid, longrange, autocast.
ALTER TABLE characters ADD COLUMN "attackStyle" text NOT NULL DEFAULT 'accurate';
-- It does not turn to whoever attacks it.
ALTER TABLE characters ADD COLUMN passive integer NOT NULL DEFAULT 0;
-- The spell that it casts in fights; empty: none.
ALTER TABLE characters ADD COLUMN "selectedSpell" text NOT NULL DEFAULT '';
ALTER TABLE characters ADD COLUMN "prayerPoints" integer NOT NULL DEFAULT 1;
-- The ids of the prayers that are on, a line each.
ALTER TABLE characters ADD COLUMN "activePrayers" text NOT NULL DEFAULT '';
UPDATE characters SET "prayerPoints" = "prayerLevel";
