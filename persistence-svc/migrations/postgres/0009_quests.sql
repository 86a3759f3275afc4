-- Quests. Only adds.

-- How far a character is with a quest that it ever began.
CREATE TABLE quest_progress (
  "playerId" text NOT NULL REFERENCES characters (id) ON DELETE CASCADE,
  "questId" text NOT NULL,
  status text NOT NULL
    CHECK (status IN ('not_started', 'in_progress', 'ready_to_complete', 'completed')),
  -- Null: it is not under way.
  "currentStage" text,
  -- How much is done, by stage: a JSON object.
  "stageProgress" text NOT NULL DEFAULT '{}',
  -- How often it is over.
  completed integer NOT NULL DEFAULT 0 CHECK (completed >= 0),
  -- What is given at its beginning was given.
  given boolean NOT NULL DEFAULT false,
  PRIMARY KEY ("playerId", "questId")
);
