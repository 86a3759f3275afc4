-- Accounts that only a device key knows expire; see docs/accounts.md.

-- When the device key last signed in, to a day.
ALTER TABLE users ADD COLUMN "seenAt" integer NOT NULL DEFAULT 0;
-- When the store next looks whether the account expires; 0: at once.
ALTER TABLE users ADD COLUMN "lookAt" integer NOT NULL DEFAULT 0;
CREATE INDEX users_look_at ON users ("lookAt") WHERE anonymous;
-- The things on the ground that wait for somebody, by whom they wait for.
CREATE INDEX ground_items_owner ON ground_items (owner_id) WHERE owner_id <> '';
