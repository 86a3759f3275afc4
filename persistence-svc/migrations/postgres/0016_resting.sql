-- Agents that nobody needs leave the world. Only adds: a service of the version before works on
-- without it; it takes an agent that rests for one that its owner stopped.

-- It is not active because nobody needed it; means nothing while it is active.
ALTER TABLE agent_mappings ADD COLUMN resting boolean NOT NULL DEFAULT false;
-- When its owner last came into the world, ordered it or spoke to it.
ALTER TABLE agent_mappings ADD COLUMN heeded_at bigint NOT NULL DEFAULT 0;
UPDATE agent_mappings SET heeded_at = tilestead_now_ms();
CREATE INDEX agent_mappings_active ON agent_mappings (heeded_at) WHERE active;
