// What the content says beside items: recipes, spells, prayers. Each list is asked for once.

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

/** The recipes of a trade. */
export async function recipes(name) {
  return (await lore(`recipes/${name}`)).recipes ?? [];
}
