-- The accounts that have a role are few among many: finds an operator without reading all.
CREATE INDEX users_with_roles ON users (id) WHERE roles <> '';
