// What lies and grows on the ground, by its kind, baked into the ground's picture.

function blade(c, x, y, tall, color) {
  c.strokeStyle = color;
  c.lineWidth = 0.035;
  c.beginPath();
  c.moveTo(x - 0.05, y);
  c.lineTo(x - 0.075, y - tall * 0.8);
  c.moveTo(x, y);
  c.lineTo(x, y - tall);
  c.moveTo(x + 0.05, y);
  c.lineTo(x + 0.085, y - tall * 0.75);
  c.stroke();
}

export function dot(c, x, y, r, color, flat = 1) {
  c.fillStyle = color;
  c.beginPath();
  c.ellipse(x, y, r, r * flat, 0, 0, 7);
  c.fill();
}

const FLOWERS = ["#f6e27a", "#f4f1e6", "#e9a3b4", "#b9a2e6", "#f0a860"];

export const LITTER = {
  grass(c, d) {
    if (d() < 0.5) blade(c, 0.15 + d() * 0.7, 0.3 + d() * 0.6, 0.16, "rgba(62,98,44,.5)");
    if (d() < 0.04) dot(c, d(), d(), 0.05, FLOWERS[Math.floor(d() * 5)]);
  },
  meadow(c, d) {
    for (let n = 0; n < 2; n += 1)
      blade(c, 0.1 + d() * 0.8, 0.3 + d() * 0.65, 0.22, "rgba(84,118,46,.55)");
    if (d() < 0.34) {
      const color = FLOWERS[Math.floor(d() * 5)];
      for (let n = 0; n < 3; n += 1) dot(c, 0.1 + d() * 0.8, 0.1 + d() * 0.8, 0.045, color);
    }
  },
  forest_floor(c, d) {
    for (let n = 0; n < 2; n += 1)
      dot(
        c,
        d(),
        d(),
        0.05 + d() * 0.04,
        ["#6e5a32", "#3f6236", "#8a7040", "#4a7240"][Math.floor(d() * 4)],
        0.6,
      );
    if (d() < 0.2) blade(c, 0.2 + d() * 0.6, 0.4 + d() * 0.5, 0.26, "rgba(46,84,44,.8)");
    if (d() < 0.03) {
      const x = 0.2 + d() * 0.6;
      const y = 0.3 + d() * 0.5;
      dot(c, x, y + 0.07, 0.04, "#eadfc6");
      dot(c, x, y, 0.09, "#b8503c", 0.65);
    }
  },
  dirt(c, d) {
    for (let n = 0; n < 2; n += 1)
      dot(
        c,
        d(),
        d(),
        0.03 + d() * 0.04,
        d() < 0.5 ? "rgba(110,84,54,.6)" : "rgba(196,168,124,.6)",
        0.7,
      );
  },
  sand(c, d) {
    if (d() < 0.4) {
      c.strokeStyle = "rgba(176,148,96,.4)";
      c.lineWidth = 0.03;
      c.beginPath();
      const y = d();
      c.moveTo(0, y);
      c.quadraticCurveTo(0.5, y - 0.16, 1, y);
      c.stroke();
    }
    if (d() < 0.04) dot(c, d(), d(), 0.06, "#f6ead2", 0.8);
  },
  farmland(c, d) {
    for (let n = 0; n < 3; n += 1) {
      const y = 0.18 + n / 3;
      c.fillStyle = "rgba(86,58,32,.55)";
      c.fillRect(0, y, 1, 0.12);
      c.fillStyle = "rgba(190,150,98,.28)";
      c.fillRect(0, y - 0.07, 1, 0.06);
      if (d() < 0.75) blade(c, 0.2 + d() * 0.6, y, 0.2, d() < 0.8 ? "#6f9c3f" : "#c9a93f");
    }
  },
  road(c, d) {
    for (let n = 0; n < 4; n += 1) {
      const tone = 150 + d() * 60;
      dot(
        c,
        0.14 + d() * 0.74,
        0.14 + d() * 0.74,
        0.09 + d() * 0.07,
        `rgba(${tone},${tone * 0.9},${tone * 0.74},.55)`,
        0.75,
      );
    }
  },
  plaza(c, d, edge) {
    if (edge) return;
    const tone = d() < 0.5 ? "rgba(255,250,235,.13)" : "rgba(90,76,56,.1)";
    c.fillStyle = tone;
    c.fillRect(0.03, 0.03, 0.94, 0.94);
    c.strokeStyle = "rgba(96,82,62,.38)";
    c.lineWidth = 0.035;
    c.strokeRect(0, 0, 1, 1);
    if (d() < 0.5) {
      c.beginPath();
      const at = 0.35 + d() * 0.3;
      if (d() < 0.5) {
        c.moveTo(at, 0);
        c.lineTo(at, 1);
      } else {
        c.moveTo(0, at);
        c.lineTo(1, at);
      }
      c.stroke();
    }
  },
  floor(c, d) {
    c.strokeStyle = "rgba(84,56,30,.45)";
    c.lineWidth = 0.03;
    c.beginPath();
    for (let y = 0; y <= 1; y += 0.25) {
      c.moveTo(0, y);
      c.lineTo(1, y);
    }
    for (let y = 0; y < 1; y += 0.25) {
      const x = d();
      c.moveTo(x, y);
      c.lineTo(x, y + 0.25);
    }
    c.stroke();
  },
  swamp(c, d) {
    if (d() < 0.35)
      dot(c, 0.2 + d() * 0.6, 0.3 + d() * 0.5, 0.18 + d() * 0.14, "rgba(58,76,62,.6)", 0.55);
    if (d() < 0.4) {
      const x = 0.2 + d() * 0.6;
      const y = 0.5 + d() * 0.4;
      blade(c, x, y, 0.4, "#7c8648");
      dot(c, x, y - 0.4, 0.035, "#5a4328", 2.2);
    }
  },
  snow(c, d) {
    if (d() < 0.3) dot(c, d(), d(), 0.12 + d() * 0.12, "rgba(180,204,222,.28)", 0.5);
    if (d() < 0.25) dot(c, d(), d(), 0.025, "#ffffff");
  },
  ice(c, d) {
    c.strokeStyle = "rgba(255,255,255,.6)";
    c.lineWidth = 0.03;
    if (d() < 0.5) {
      c.beginPath();
      const x = d();
      c.moveTo(x, 0.1);
      c.lineTo(x + (d() - 0.5) * 0.6, 0.5);
      c.lineTo(x + (d() - 0.5) * 0.8, 0.95);
      c.stroke();
    }
  },
  ash(c, d) {
    for (let n = 0; n < 2; n += 1)
      dot(
        c,
        d(),
        d(),
        0.03 + d() * 0.05,
        d() < 0.6 ? "rgba(60,54,52,.5)" : "rgba(168,158,152,.4)",
        0.6,
      );
    if (d() < 0.02) dot(c, d(), d(), 0.04, "#ff9a4a");
  },
  lava(c, d) {
    for (let n = 0; n < 3; n += 1)
      dot(
        c,
        d(),
        d(),
        0.08 + d() * 0.14,
        d() < 0.5 ? "rgba(255,190,80,.7)" : "rgba(120,32,16,.5)",
        0.6,
      );
  },
  cliff(c, d) {
    c.strokeStyle = "rgba(66,60,54,.6)";
    c.lineWidth = 0.06;
    for (let n = 0; n < 3; n += 1) {
      c.beginPath();
      const x = d();
      c.moveTo(x, d() * 0.4);
      c.lineTo(x + (d() - 0.5) * 0.3, 0.5 + d() * 0.5);
      c.stroke();
    }
    dot(c, d(), d(), 0.1 + d() * 0.1, "rgba(190,182,168,.35)", 0.6);
  },
  shallows(c, d) {
    if (d() < 0.12) dot(c, d(), d(), 0.07, "rgba(90,120,110,.45)", 0.6);
  },
  water(c, d) {
    if (d() < 0.012) {
      dot(c, 0.5, 0.5, 0.2, "#4c8a4e", 0.7);
      dot(c, 0.58, 0.46, 0.06, "#f2c6d2");
    }
  },
};

export function boulder(c, dice, on) {
  const r = 0.34 + dice() * 0.12;
  const dark = on === "ash";
  dot(c, 0.5, 0.6, r, dark ? "#433d3b" : "#77746c", 0.8);
  dot(c, 0.45, 0.5, r * 0.8, dark ? "#58504d" : "#94918a", 0.78);
  dot(c, 0.4, 0.42, r * 0.42, dark ? "#6d6561" : "#b2afa6", 0.7);
  if (on === "snow") dot(c, 0.45, 0.38, r * 0.72, "#f4f8fa", 0.5);
  else if (dice() < 0.4 && !dark) dot(c, 0.62, 0.62, r * 0.4, "rgba(98,128,66,.8)", 0.5);
}

export function bush(c, dice, on) {
  if (on === "snow" || on === "ice") return fir(c, dice);
  const small = on === "sand" || on === "meadow";
  const tones =
    on === "swamp"
      ? ["#39482e", "#4c5d38", "#627446"]
      : on === "forest_floor"
        ? ["#2f5430", "#41703c", "#578a49"]
        : ["#466f33", "#5c8b40", "#79a652"];
  const tall = small ? 0.25 : 0.55 + dice() * 0.5;
  if (!small) {
    c.fillStyle = "#5a4129";
    c.fillRect(0.44, 0.4, 0.12, 0.45);
  }
  for (let n = 0; n < 6; n += 1) {
    const a = dice() * 7;
    const r = 0.24 + dice() * 0.14;
    dot(
      c,
      0.5 + Math.cos(a) * 0.22,
      0.62 - tall * 0.7 + Math.sin(a) * 0.2,
      r,
      tones[n < 3 ? 0 : 1],
    );
  }
  dot(c, 0.4, 0.5 - tall * 0.75, 0.2, tones[2]);
  if (small && dice() < 0.5)
    for (let n = 0; n < 4; n += 1)
      dot(c, 0.25 + dice() * 0.5, 0.3 + dice() * 0.35, 0.045, FLOWERS[Math.floor(dice() * 5)]);
}

function fir(c, dice) {
  const tall = 0.9 + dice() * 0.5;
  c.fillStyle = "#4a3826";
  c.fillRect(0.45, 0.55, 0.1, 0.3);
  for (let n = 0; n < 3; n += 1) {
    const y = 0.7 - n * tall * 0.32;
    const w = 0.46 - n * 0.11;
    c.fillStyle = ["#2f5648", "#376454", "#437361"][n];
    c.beginPath();
    c.moveTo(0.5 - w, y);
    c.lineTo(0.5, y - tall * 0.55);
    c.lineTo(0.5 + w, y);
    c.fill();
    c.fillStyle = "rgba(240,247,250,.85)";
    c.beginPath();
    c.moveTo(0.5 - w * 0.55, y - tall * 0.22);
    c.lineTo(0.5, y - tall * 0.55);
    c.lineTo(0.5 + w * 0.4, y - tall * 0.3);
    c.quadraticCurveTo(0.5, y - tall * 0.2, 0.5 - w * 0.55, y - tall * 0.22);
    c.fill();
  }
}

export function hedgerow(c, map, i, j, dice) {
  c.fillStyle = "#3a6230";
  c.fillRect(-0.02, -0.1, 1.04, 1.06);
  c.fillStyle = "#547f3e";
  c.fillRect(-0.02, -0.3, 1.04, 0.85);
  for (let n = 0; n < 7; n += 1)
    dot(c, dice(), -0.25 + dice() * 0.75, 0.08, dice() < 0.5 ? "#668f48" : "#486f36", 0.8);
}
