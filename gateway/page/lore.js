// What the content says beside items: recipes, spells, prayers, areas. Each list is asked for once.

const asked = new Map();

/** A manifest; an empty object where there is none, and asked for again the next time. */
export function lore(name) {
  const known = asked.get(name);
  if (known) return known;
  const answer = fetch(`/manifests/${name}.json`)
    .then((answer) => {
      if (!answer.ok) throw new Error(String(answer.status));
      return answer.json();
    })
    .catch(() => {
      asked.delete(name);
      return {};
    });
  asked.set(name, answer);
  return answer;
}

/** The named parts of the world, each with the name of its `group` in the content. */
export async function areas() {
  const groups = Object.entries(await lore("world-areas"));
  const all = groups.flatMap(([group, list]) =>
    Object.values(list ?? {}).map((area) => ({ ...area, group })),
  );
  return all.filter((area) => area.bounds);
}

/** The recipes of a trade. */
export async function recipes(name) {
  return (await lore(`recipes/${name}`)).recipes ?? [];
}
