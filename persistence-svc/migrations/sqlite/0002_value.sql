-- Value, moves of whole regions, and what placement measures. Only adds: a service of the version
-- before works on as long as it meets no item.

-- What lies on the ground. It belongs to the region of this row, wherever it lies.
CREATE TABLE ground_items (
  -- item:<run id>-<counter of that run>
  id text PRIMARY KEY,
  region_x integer NOT NULL,
  region_z integer NOT NULL,
  x integer NOT NULL,
  z integer NOT NULL,
  item_id text NOT NULL,
  quantity integer NOT NULL CHECK (quantity > 0),
  -- Who alone may take it before `public_tick`; empty: anybody.
  owner_id text NOT NULL DEFAULT '',
  public_tick integer NOT NULL,
  expires_tick integer NOT NULL
);
CREATE INDEX ground_items_region ON ground_items (region_x, region_z);

-- Every creation, destruction and change of owner of items and coins. Three numbers name an
-- operation: the run (0: the store itself), its batch, and the row in it. Rows are never changed.
CREATE TABLE ledger (
  run_id integer NOT NULL,
  sequence integer NOT NULL,
  "row" integer NOT NULL,
  -- Null: the ground. Who is deleted keeps its rows.
  character_id text,
  item_id text NOT NULL,
  -- starter, drop, pickup, expire, deleted
  cause text NOT NULL,
  delta integer NOT NULL CHECK (delta <> 0),
  at integer NOT NULL,
  PRIMARY KEY (run_id, sequence, "row")
);

-- One row: the number of the store's own last operation, for its rows of the ledger.
CREATE TABLE operations (
  one integer PRIMARY KEY CHECK (one = 1),
  last integer NOT NULL
);
INSERT INTO operations (one, last) VALUES (1, 0);

-- The last tick that the last owner committed; the measured load; who should have it; since when
-- its owner has it (store's clock); whether nobody may play it until an operator says so.
ALTER TABLE regions ADD COLUMN played_tick integer NOT NULL DEFAULT 0;
ALTER TABLE regions ADD COLUMN cost_us integer NOT NULL DEFAULT 0;
ALTER TABLE regions ADD COLUMN players integer NOT NULL DEFAULT 0;
ALTER TABLE regions ADD COLUMN wanted_run_id integer NOT NULL DEFAULT 0;
ALTER TABLE regions ADD COLUMN changed_at integer NOT NULL DEFAULT 0;
ALTER TABLE regions ADD COLUMN paused integer NOT NULL DEFAULT 0;

-- One row per region in which a run ended by a panic.
CREATE TABLE region_faults (
  region_x integer NOT NULL,
  region_z integer NOT NULL,
  run_id integer NOT NULL,
  at integer NOT NULL,
  PRIMARY KEY (region_x, region_z, run_id)
);

-- Who says that a run does not answer any more.
CREATE TABLE witnesses (
  run_id integer NOT NULL,
  witness text NOT NULL,
  at integer NOT NULL,
  PRIMARY KEY (run_id, witness)
);

-- One row: what an operator has switched.
CREATE TABLE switches (
  one integer PRIMARY KEY CHECK (one = 1),
  frozen integer NOT NULL DEFAULT 0
);
INSERT INTO switches (one) VALUES (1);

-- Its rows did not fit: it is loaded by nobody until an operator releases it.
ALTER TABLE characters ADD COLUMN quarantined integer NOT NULL DEFAULT 0;
