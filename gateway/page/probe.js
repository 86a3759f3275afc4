// For tests: what is known, and the things a player does most.

export function probe({
  net,
  scene,
  me,
  land,
  pack,
  gear,
  skills,
  ui,
  picture,
  act,
  walkTo,
  say,
  light,
  ...more
}) {
  return {
    state: () => ({
      connected: net.open,
      phase: net.phase,
      tick: scene.tick,
      seq: net.lastSeq,
      characterId: me.id,
      position: me.position && { ...me.position },
      entities: scene.entities.size,
      name: me.name,
      area: me.position && land.meta ? land.area(me.position.x, me.position.z)?.name : undefined,
      run: me.run,
      health: me.health,
      light: light(),
    }),
    pack: () => ({ slots: pack.slots.map((s) => s && { ...s }), coins: pack.coins }),
    drop: (slot, quantity) => act("inventory:drop", { slot, ...(quantity && { quantity }) }),
    gear: () => ({ worn: { ...gear.worn }, skills: { ...skills.all } }),
    bank: () => ({
      open: more.bank.open,
      items: [...more.bank.items.values()].map((i) => ({ ...i })),
    }),
    trade: () => more.trade.trade && structuredClone(more.trade.trade),
    quests: () => [...more.quests.all.values()].map((q) => ({ ...q })),
    graves: () => [...more.death.graves].map(([id, grave]) => ({ id, ...grave })),
    /** Which of what is in sight a step of a quest is about, and where the steps lead. */
    aims: () => ({
      seen: [...scene.entities.values()].filter((e) => more.quests.isAim(e)).map((e) => e.id),
      ways: more.quests.ways(me.position),
    }),
    /** The step that is followed, as it is told, and the tiles that the arrow runs along. */
    guide: () => {
      const { current } = more.quests;
      const at = more.quests.aim && more.guide.targets(more.quests.aim);
      return {
        quest: current?.id,
        step: current && more.quests.step(current).id,
        tiles: more.guide.tiles.map((tile) => ({ ...tile })),
        at,
      };
    },
    /** All that the page is made of, for whoever looks for what is missing in it. */
    objects: () => more.objects,
    act,
    pickUp: (id) => act("player:action", { action: "pickup", target: id }),
    /** Does what a click on it does, or the entry of its menu that begins with `words`. */
    actOn: (id, words) => {
      const thing = scene.entities.get(id);
      if (!thing) return false;
      const entries = more.actions.of(thing);
      const entry = words ? entries.find(([w]) => w.startsWith(words)) : entries[0];
      entry?.[1]();
      return entry !== undefined;
    },
    map: () => {
      const { pane, view, chart, word } = more.worldmap;
      return {
        open: pane.shown,
        drawn: chart.sheet !== undefined,
        signs: view.placed.map(({ one, at }) => ({ kind: one.kind, name: one.name, ...at })),
        names: view.signs.length,
        center: { ...view.center },
        scale: view.scale,
        marked: view.marked?.name,
        says: word.textContent,
        way: more.actions.pending.journey?.rest.length ?? 0,
        point: me.position && view.size && view.toPoint(me.position),
      };
    },
    sound: () => ({
      state: more.sound.context?.state,
      played: { ...more.sound.played },
      notes: more.sound.notes,
      sounding: { ...more.sound.sounding },
      levels: { ...more.sound.levels },
      tune: more.music.track?.id,
      place: more.music.kinds && more.music.place,
    }),
    /** Lets the page hear a message as though the server had sent it. */
    hear: (event, data) => net.on(event, data),
    resumes: () => ({ ...net.resumes }),
    cut: () => net.closed(net.line, 1006, ""),
    screen: (x, z) => picture.toScreen(x, z),
    /** Whether a click on a tile meets the ground and nothing that stands there. */
    bare: (x, z) => {
      const at = picture.toScreen(x, z);
      return picture.under(at.x, at.y, { own: me.id }) === undefined;
    },
    entities: () => [...scene.entities.values()].map((e) => ({ ...e })),
    chat: () => ui.chat.map((m) => ({ ...m })),
    walkTo,
    say,
    get gaps() {
      return net.gaps;
    },
  };
}
