-- What lists of operators and players are read by: newest first, of one holder, of one item. Only
-- adds.
CREATE INDEX ledger_newest ON ledger (at DESC, run_id DESC, sequence DESC, "row" DESC);
CREATE INDEX ledger_holder
  ON ledger (character_id, at DESC, run_id DESC, sequence DESC, "row" DESC);
CREATE INDEX ledger_item ON ledger (item_id, at DESC, run_id DESC, sequence DESC, "row" DESC);
CREATE INDEX "playerSessions_newest" ON "playerSessions" (login DESC, id DESC);
CREATE INDEX "playerSessions_player" ON "playerSessions" ("playerId", login DESC, id DESC);
CREATE INDEX "playerSessions_current" ON "playerSessions" (login DESC, id DESC)
  WHERE logout IS NULL;
