// How things that can be carried look: by where they are worn, else by what they are called.

import { armour } from "./armour.js";
import { MATERIALS } from "./materials.js";
import { ODDMENTS, bag } from "./oddments.js";
import { VICTUALS } from "./victuals.js";
import { WEAPONS } from "./weapons.js";

/** Words in an id, and how such a thing is drawn; the first that fits counts. */
const LOOKS = [...VICTUALS, ...WEAPONS, ...MATERIALS, ...ODDMENTS];

/** Draws the item of that id; `item` is what the content says of it, if anything. */
export function ware(c, id, item, name) {
  if (item?.equipSlot && armour(c, id, item.equipSlot)) return undefined;
  const look = LOOKS.find(([words]) => words.test(id));
  return (look?.[1] ?? bag)(c, id, name);
}
