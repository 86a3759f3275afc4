// What a refusal means to a player.

const WORDS = {
  inventory_full: "Your pack is full.",
  empty_slot: "There is nothing in that slot any more.",
  not_enough: "There is not as much of it.",
  level_too_low: "You are not skilled enough for that yet.",
  not_wearable: "That cannot be worn.",
  bank_full: "There is no room for it in the bank.",
  no_note: "There is no note of that.",
  not_open: "It is not open any more.",
  protected: "That still belongs to somebody else.",
  interrupted: "Something else came in between.",
  cooldown: "Not again so soon.",
  not_found: "It is not there any more.",
  unreachable: "There is no way there.",
  too_far: "That is too far away.",
  busy: "One thing after the other.",
  storage_unavailable: "Nothing can be saved just now. Nothing changes hands until that passes.",
  exchanges_frozen: "The keepers of this world have stopped all exchanges for now.",
  zone_unavailable: "This part of the world is just changing hands. Try again in a moment.",
  quarantined: "This character is kept safe until somebody has looked at it.",
  outcome_unknown: "It is not known whether that was done. The pack shows what you have.",
  lost: "The connection was lost. When it is back, the pack shows what you have.",
  timeout: "No answer came. The pack shows what you have.",
};

/** In words, whatever the code. */
export const refusal = (error) => WORDS[error.code] ?? error.message;
