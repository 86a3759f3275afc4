// Reads the ledger as an accountant does. Always: what is proved is proved by all rows that there
// are, and the verdict says so where not all were read.

const GROUND = "";
/** Rows of one event have the same run and sequence, and count together. */
const event = ({ id }) => id.slice(0, id.lastIndexOf("-"));

/** What a holder has at a moment is the sum of its rows until then, so it is never below nothing. */
export function audit(entries) {
  const rows = [...entries].reverse();
  const held = new Map();
  const ids = new Set();
  const faults = [];
  const touched = new Map();
  for (const [n, row] of rows.entries()) {
    if (ids.has(row.id)) faults.push({ row, why: "is written twice" });
    ids.add(row.id);
    const holder = `${row.playerId ?? GROUND}/${row.itemId}`;
    held.set(holder, (held.get(holder) ?? 0) + row.delta);
    touched.set(holder, row);
    if (n + 1 < rows.length && event(rows[n + 1]) === event(row)) continue;
    for (const [whose, last] of touched)
      if (last.playerId && held.get(whose) < 0) faults.push({ row: last, why: `leaves ${held.get(whose)}` });
    touched.clear();
  }
  return { rows: rows.length, held, faults };
}

/** How much of each item came and went. */
export function sums(rows) {
  const sums = new Map();
  for (const row of rows) {
    const sum = sums.get(row.itemId) ?? { itemId: row.itemId, came: 0, went: 0, rows: 0 };
    if (row.delta > 0) sum.came += row.delta;
    else sum.went -= row.delta;
    sum.rows += 1;
    sums.set(row.itemId, sum);
  }
  return [...sums.values()];
}

/** What the books come to, in words. */
export function verdict({ rows, faults }, whole, { from, sold }) {
  const sales = `${sold} ${sold === 1 ? "row takes" : "rows take"} an item by a sale${from}`;
  if (faults.length)
    return { state: "bad", words: `${faults.length} of ${rows} rows do not add up; see below. ${sales}.` };
  if (!rows) return { state: "wait", words: "There is no such row." };
  if (!whole)
    return {
      state: "wait",
      words: `No row is written twice among the newest ${rows}. This is no proof: there are older rows. Name a character or an item. ${sales}.`,
    };
  return {
    state: "good",
    words: `All ${rows} rows were read: none is written twice, and nobody ever gave away more than they had. So nobody sold anything twice. ${sales}.`,
  };
}

/** What somebody holds by the books, set against what is in the pack, worn and in the bank. */
export function compare(books, whole) {
  const has = new Map();
  const add = (id, n) => has.set(id, (has.get(id) ?? 0) + n);
  for (const list of [whole.inventory, whole.equipment, whole.bank])
    for (const { itemId, quantity } of list) add(itemId, quantity);
  add("coins", whole.player.coins);
  const id = whole.player.id;
  const rows = [];
  for (const [holder, byBooks] of books.held) {
    const [who, itemId] = holder.split("/");
    if (who !== id) continue;
    const found = has.get(itemId) ?? 0;
    rows.push({ itemId, byBooks, found, mark: byBooks === found ? undefined : "bad" });
  }
  return rows;
}
