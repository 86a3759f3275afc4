-- When a character may next go home by magic. Only adds.
ALTER TABLE characters ADD COLUMN "homeReadyTick" bigint NOT NULL DEFAULT 0;
