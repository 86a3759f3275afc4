-- Graves. Only adds: a service of the version before works on as long as nobody has died.

-- The grave in which it is until `public_tick`; empty: it lies about.
ALTER TABLE ground_items ADD COLUMN grave_id text NOT NULL DEFAULT '';
CREATE INDEX ground_items_graves ON ground_items (owner_id) WHERE grave_id <> '';
