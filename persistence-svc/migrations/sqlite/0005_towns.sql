-- Regions that one run should own together; see `Town` in proto/protos/persistence.proto.

-- The number of its town; 0: none.
ALTER TABLE regions ADD COLUMN town integer NOT NULL DEFAULT 0;
