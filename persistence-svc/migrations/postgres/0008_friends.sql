-- Friends. Only adds: the tables are there since the first version.

-- Requests to somebody are looked for on each login.
CREATE INDEX friend_requests_to ON friend_requests ("toPlayerId");
