-- Agents: characters that act of their own accord. Only adds.

-- What an agent is, and what it is to do. One character is at most one agent.
CREATE TABLE agent_mappings (
  agent_id text PRIMARY KEY,
  account_id text NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  character_id text NOT NULL UNIQUE REFERENCES characters (id) ON DELETE CASCADE,
  agent_name text NOT NULL,
  created_at integer NOT NULL,
  updated_at integer NOT NULL,
  -- The number of the order that made the row what it is; see agent_orders.
  version integer NOT NULL,
  -- It lives in the world also when nobody plays it.
  active integer NOT NULL DEFAULT 1,
  paused integer NOT NULL DEFAULT 0,
  -- Null: it picks its own, unless it is paused.
  goal_id text,
  goal_since integer NOT NULL DEFAULT 0,
  -- What its zone said last that it had done of the goal.
  progress integer NOT NULL DEFAULT 0
);
CREATE INDEX agent_mappings_account ON agent_mappings (account_id);

-- One row: the number of the last order to any agent. No number is used twice, also where an agent
-- was removed and made again.
CREATE TABLE agent_orders (
  one integer PRIMARY KEY CHECK (one = 1),
  last integer NOT NULL
);
INSERT INTO agent_orders (one, last) VALUES (1, 0);

-- Tokens that speak for an agent's character. The token itself is not kept.
CREATE TABLE agent_credentials (
  token_id text PRIMARY KEY,
  agent_id text NOT NULL REFERENCES agent_mappings (agent_id) ON DELETE CASCADE,
  account_id text NOT NULL,
  character_id text NOT NULL,
  created_at integer NOT NULL,
  expires_at integer NOT NULL,
  revoked integer NOT NULL DEFAULT 0
);
CREATE INDEX agent_credentials_agent ON agent_credentials (agent_id);
