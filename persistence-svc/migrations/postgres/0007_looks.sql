-- How a character looks, as its player chose it: see proto/src/client/look.rs. Empty: not chosen.

ALTER TABLE characters ADD COLUMN look text NOT NULL DEFAULT '';
