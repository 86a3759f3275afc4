// Runs in the page: the sounds of things, the pieces of the lute, and silence where a browser knows
// no sound. Answers a list of what is wrong; an empty one is good.
async function checks() {
  const wrong = [];
  const same = (what, found, expected) => {
    const [a, b] = [JSON.stringify(found), JSON.stringify(expected)];
    if (a !== b) wrong.push(`${what}: ${a} instead of ${b}`);
  };
  const { EFFECTS } = await import("/page/effects.js");
  for (const [name, make] of Object.entries(EFFECTS)) {
    const sound = make(8000);
    const peak = sound.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
    same(`${name}: it is heard, and hurts nobody`, peak > 0.1 && peak < 0.5, true);
    same(`${name}: it is short`, sound.length < 8000 * 3.1, true);
    const end = sound.slice(-80).reduce((most, value) => Math.max(most, Math.abs(value)), 0);
    same(`${name}: its end does not click`, end < 0.12, true);
  }

  const { compose } = await import("/page/tunes.js");
  const tracks = await (await fetch("/manifests/music.json")).json();
  const pieces = tracks.map((track) => compose(track));
  for (const [n, { notes, seconds }] of pieces.entries()) {
    const { id, duration } = tracks[n];
    same(`${id}: as long as it says`, Math.abs(seconds - duration) < duration / 3, true);
    same(`${id}: no hurry`, notes.length / seconds < 3.5, true);
    same(
      `${id}: for a lute`,
      notes.every(({ midi }) => midi >= 36 && midi <= 84),
      true,
    );
    same(
      `${id}: in order`,
      notes.every(({ at }, i) => !i || at >= notes[i - 1].at),
      true,
    );
    same(`${id}: the same each time`, compose(tracks[n]), pieces[n]);
  }
  const played = pieces.map(({ notes }) => notes.map(({ midi }) => midi).join());
  same("no two are alike", new Set(played).size, tracks.length);

  const { areas } = await import("/page/lore.js");
  const places = new Set(tracks.flatMap((track) => track.places));
  const mute = (await areas()).map((area) => area.biomeType).filter((kind) => !places.has(kind));
  same("each kind of place has its tune", [mute, places.has("town")], [[], true]);

  const { Sound } = await import("/page/sound.js");
  const { AudioContext } = globalThis;
  globalThis.AudioContext = undefined;
  const silent = new Sound();
  silent.wake();
  silent.play("coins");
  silent.tune();
  silent.rest();
  same("no sound, no fault", [silent.on, silent.played], [false, {}]);
  globalThis.AudioContext = AudioContext;

  // A loudspeaker that never comes to the end of anything.
  const part = () => ({ connect: (to) => to, disconnect() {}, start() {} });
  const node = () => ({ ...part(), gain: {}, playbackRate: {}, pan: {} });
  const bound = new Sound();
  Object.assign(bound, {
    levels: { effects: 1, music: 1, muted: false },
    context: {
      state: "running",
      currentTime: 0,
      createBuffer: () => ({ copyToChannel() {} }),
      createBufferSource: node,
      createGain: node,
    },
  });
  for (const name of Object.keys(EFFECTS)) bound.play(name);
  for (let n = 0; n < 60; n += 1) bound.string(60, 0, 1, node());
  same(
    "few sounds at once",
    [bound.sounding.effects <= 10, bound.sounding.music <= 22],
    [true, true],
  );
  bound.context = undefined;
  return wrong;
}
