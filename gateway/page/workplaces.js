// Places to work at that are not in every town: spinning wheels and altars of runes, drawn in code.

import { box, oval, shade, shape } from "./pen.js";

export const WORKPLACES = {
  spinning_wheel(c) {
    shade(c, 0.46);
    box(c, -0.44, -0.34, 0.88, 0.07, "#7a5532");
    for (const x of [-0.4, 0.34]) box(c, x, -0.3, 0.06, 0.32, "#5f4228");
    c.strokeStyle = "#8a6238";
    c.lineWidth = 0.06;
    c.beginPath();
    c.arc(0.12, -0.7, 0.32, 0, 7);
    c.stroke();
    c.lineWidth = 0.03;
    c.beginPath();
    for (let n = 0; n < 4; n += 1) {
      const [x, y] = [Math.cos(n * 0.785) * 0.32, Math.sin(n * 0.785) * 0.32];
      c.moveTo(0.12 - x, -0.7 - y);
      c.lineTo(0.12 + x, -0.7 + y);
    }
    c.stroke();
    box(c, 0.09, -0.7, 0.06, 0.4, "#5f4228");
    oval(c, -0.32, -0.5, 0.12, 0.15, "#efe6d4");
  },
  runecrafting_altar(c) {
    shade(c, 0.54);
    oval(c, 0, -0.06, 0.52, 0.2, "#5d5a66");
    oval(c, 0, -0.12, 0.42, 0.16, "#77748a");
    for (const x of [-0.44, 0, 0.44]) {
      const tall = x === 0 ? 0.9 : 0.62;
      const y = x === 0 ? -0.2 : -0.06;
      shape(
        c,
        "#6a6676",
        [x - 0.11, y],
        [x - 0.07, y - tall],
        [x + 0.08, y - tall * 0.94],
        [x + 0.12, y],
      );
      shape(
        c,
        "#b9a2e6",
        [x - 0.03, y - tall * 0.5],
        [x, y - tall * 0.75],
        [x + 0.04, y - tall * 0.5],
        [x, y - tall * 0.3],
      );
    }
  },
};
