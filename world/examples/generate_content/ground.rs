//! A sketch of the ground, exact enough to put things where one can walk.
//!
//! Always: what `place` accepts is open ground with a free way around it.

use std::collections::VecDeque;

use serde_json::{Value, json};

pub(crate) const MIN: i32 = -320;
pub(crate) const MAX: i32 = 320;
const SIDE: usize = 640;

/// What matters about a tile when something is to be put there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Open,
    Field,
    Street,
    Shore,
    Water,
    Solid,
}

/// The sketch and the paints that made it.
pub(crate) struct Ground {
    tiles: Vec<Kind>,
    taken: Vec<bool>,
    pub(crate) paints: Vec<Value>,
}

fn index(x: i32, z: i32) -> Option<usize> {
    let inside = (MIN..MAX).contains(&x) && (MIN..MAX).contains(&z);
    inside.then(|| (z - MIN) as usize * SIDE + (x - MIN) as usize)
}

fn kind_of(name: &str) -> Kind {
    match name {
        "water" | "deep_water" => Kind::Water,
        "shallows" => Kind::Shore,
        "wall" | "rock" | "cliff" | "lava" | "hedge" => Kind::Solid,
        "road" | "plaza" | "bridge" | "floor" => Kind::Street,
        "farmland" => Kind::Field,
        _ => Kind::Open,
    }
}

fn distance(p: (f64, f64), a: (f64, f64), b: (f64, f64)) -> f64 {
    let (dx, dz) = (b.0 - a.0, b.1 - a.1);
    let length = dx * dx + dz * dz;
    let t = if length == 0.0 {
        0.0
    } else {
        (((p.0 - a.0) * dx + (p.1 - a.1) * dz) / length).clamp(0.0, 1.0)
    };
    let (x, z) = (a.0 + t * dx - p.0, a.1 + t * dz - p.1);
    (x * x + z * z).sqrt()
}

/// Even-odd rule in whole numbers; the edge itself counts as inside.
fn inside(points: &[(i32, i32)], x: i32, z: i32) -> bool {
    let mut odd = false;
    let mut j = points.len() - 1;
    for i in 0..points.len() {
        let (a, b) = (points[i], points[j]);
        j = i;
        let cross = (x - a.0) * (b.1 - a.1) - (b.0 - a.0) * (z - a.1);
        let span = |v: i32, a: i32, b: i32| (a.min(b)..=a.max(b)).contains(&v);
        if cross == 0 && span(x, a.0, b.0) && span(z, a.1, b.1) {
            return true;
        }
        if (a.1 > z) != (b.1 > z) && (cross < 0) == (b.1 > a.1) {
            odd = !odd;
        }
    }
    odd
}

impl Ground {
    pub(crate) fn new() -> Self {
        Self {
            tiles: vec![Kind::Open; SIDE * SIDE],
            taken: vec![false; SIDE * SIDE],
            paints: Vec::new(),
        }
    }

    pub(crate) fn at(&self, x: i32, z: i32) -> Kind {
        index(x, z).map_or(Kind::Solid, |i| self.tiles[i])
    }

    fn fill(&mut self, kind: Kind, bounds: [i32; 4], test: impl Fn(f64, f64) -> bool) {
        for z in bounds[1].max(MIN)..=bounds[3].min(MAX - 1) {
            for x in bounds[0].max(MIN)..=bounds[2].min(MAX - 1) {
                if let Some(i) = index(x, z).filter(|_| test(x as f64 + 0.5, z as f64 + 0.5)) {
                    self.tiles[i] = kind;
                }
            }
        }
    }

    pub(crate) fn line(&mut self, kind: &str, width: i32, rough: i32, points: &[(i32, i32)]) {
        let mut paint = json!({"kind": kind, "shape": "line", "width": width,
            "points": points.iter().map(|p| [p.0, p.1]).collect::<Vec<_>>()});
        if rough > 0 {
            paint["rough"] = json!(rough);
        }
        self.paints.push(paint);
        let reach = width as f64 / 2.0 + rough as f64;
        for pair in points.windows(2) {
            let (a, b) = (pair[0], pair[1]);
            let r = reach.ceil() as i32 + 1;
            let bounds = [
                a.0.min(b.0) - r,
                a.1.min(b.1) - r,
                a.0.max(b.0) + r,
                a.1.max(b.1) + r,
            ];
            let (a, b) = ((a.0 as f64, a.1 as f64), (b.0 as f64, b.1 as f64));
            let middle = |v: (f64, f64)| (v.0 + 0.5, v.1 + 0.5);
            self.fill(kind_of(kind), bounds, |x, z| {
                distance((x, z), middle(a), middle(b)) <= reach
            });
        }
    }

    pub(crate) fn disc(&mut self, kind: &str, center: (i32, i32), radius: i32) {
        self.paints.push(
            json!({"kind": kind, "shape": "disc", "center": [center.0, center.1],
            "radius": radius}),
        );
        let (cx, cz, r) = (center.0, center.1, radius as f64);
        let bounds = [cx - radius, cz - radius, cx + radius, cz + radius];
        self.fill(kind_of(kind), bounds, |x, z| {
            let (dx, dz) = (x - 0.5 - cx as f64, z - 0.5 - cz as f64);
            dx * dx + dz * dz <= r * r
        });
    }

    /// Both corners belong to it.
    pub(crate) fn rect(&mut self, kind: &str, min: (i32, i32), max: (i32, i32)) {
        self.paints.push(
            json!({"kind": kind, "shape": "rect", "minX": min.0, "minZ": min.1,
            "maxX": max.0 + 1, "maxZ": max.1 + 1}),
        );
        self.fill(kind_of(kind), [min.0, min.1, max.0, max.1], |_, _| true);
    }

    pub(crate) fn polygon(&mut self, kind: &str, points: &[(i32, i32)]) {
        self.paints.push(json!({"kind": kind, "shape": "polygon",
            "points": points.iter().map(|p| [p.0, p.1]).collect::<Vec<_>>()}));
        self.fill(kind_of(kind), [MIN, MIN, MAX, MAX], |x, z| {
            inside(points, (x - 0.5) as i32, (z - 0.5) as i32)
        });
    }

    /// A road of `width` tiles; where it meets water it becomes a bridge.
    pub(crate) fn road(&mut self, kind: &str, width: i32, points: &[(i32, i32)]) {
        let mut wet = Vec::new();
        for pair in points.windows(2) {
            let (a, b) = (pair[0], pair[1]);
            let steps = (b.0 - a.0).abs().max((b.1 - a.1).abs()).max(1);
            let mut start = None;
            for step in 0..=steps {
                let x = a.0 + (b.0 - a.0) * step / steps;
                let z = a.1 + (b.1 - a.1) * step / steps;
                let here = self.near(x, z, width / 2 + 1, &[Kind::Water, Kind::Shore]);
                match (here, start) {
                    (true, None) => start = Some((x, z)),
                    (false, Some(from)) => {
                        wet.push((from, (x, z)));
                        start = None;
                    }
                    _ => {}
                }
            }
            wet.extend(start.map(|from| (from, b)));
        }
        self.line(kind, width, 0, points);
        for (a, b) in wet {
            self.line("bridge", width, 0, &[a, b]);
        }
    }

    /// Whether one of `kinds` lies within `reach` tiles.
    pub(crate) fn near(&self, x: i32, z: i32, reach: i32, kinds: &[Kind]) -> bool {
        (z - reach..=z + reach)
            .any(|z| (x - reach..=x + reach).any(|x| kinds.contains(&self.at(x, z))))
    }

    /// A house: walls round a floor, open at the doors.
    pub(crate) fn house(&mut self, min: (i32, i32), max: (i32, i32), door: (i32, i32)) {
        self.fill(Kind::Solid, [min.0, min.1, max.0, max.1], |_, _| true);
        let (floor_min, floor_max) = ((min.0 + 1, min.1 + 1), (max.0 - 1, max.1 - 1));
        let floor = [floor_min.0, floor_min.1, floor_max.0, floor_max.1];
        self.fill(Kind::Street, floor, |_, _| true);
        self.fill(Kind::Street, [door.0, door.1, door.0, door.1], |_, _| true);
    }

    /// Takes the tile for something solid, if it is open ground with room around it.
    pub(crate) fn place(&mut self, x: i32, z: i32) -> bool {
        let clear = [Kind::Street, Kind::Solid, Kind::Water];
        let open = self.at(x, z) == Kind::Open && !self.near(x, z, 1, &clear);
        let alone = (z - 1..=z + 1)
            .all(|z| (x - 1..=x + 1).all(|x| index(x, z).is_none_or(|i| !self.taken[i])));
        open && alone && self.take(x, z)
    }

    /// Takes the tile, whatever it is; false when it was taken already.
    pub(crate) fn take(&mut self, x: i32, z: i32) -> bool {
        match index(x, z) {
            Some(i) if !self.taken[i] => {
                self.taken[i] = true;
                true
            }
            _ => false,
        }
    }

    /// Every tile that can be walked to from `start`.
    pub(crate) fn reach(&self, start: (i32, i32)) -> Reach {
        let free = |x: i32, z: i32| {
            index(x, z)
                .filter(|&i| !self.taken[i] && !matches!(self.tiles[i], Kind::Water | Kind::Solid))
        };
        let mut seen = vec![false; SIDE * SIDE];
        let mut queue = VecDeque::from([start]);
        while let Some((x, z)) = queue.pop_front() {
            for (x, z) in [(x - 1, z), (x + 1, z), (x, z - 1), (x, z + 1)] {
                if let Some(i) = free(x, z).filter(|&i| !seen[i]) {
                    seen[i] = true;
                    queue.push_back((x, z));
                }
            }
        }
        Reach(seen)
    }
}

/// The tiles that can be walked to.
pub(crate) struct Reach(Vec<bool>);

impl Reach {
    /// Whether one can stand there.
    pub(crate) fn on(&self, x: i32, z: i32) -> bool {
        index(x, z).is_some_and(|i| self.0[i])
    }

    /// Whether one can stand beside it.
    pub(crate) fn beside(&self, x: i32, z: i32) -> bool {
        [(x - 1, z), (x + 1, z), (x, z - 1), (x, z + 1)]
            .iter()
            .any(|&(x, z)| self.on(x, z))
    }
}
