//! What a hand-laid town is made of. Coordinates are relative to the town's centre.

use serde_json::{Value, json};

use crate::ground::Ground;

/// The side of a house that its door is on.
#[derive(Clone, Copy)]
pub(crate) enum Side {
    N,
    E,
    S,
    W,
}

/// How somebody passes the day.
#[derive(Clone, Copy)]
pub(crate) enum Day<'a> {
    Stand,
    Wander(i32),
    Patrol(&'a [(i32, i32)]),
}

/// Somebody with a name.
pub(crate) struct Person<'a> {
    pub(crate) id: &'a str,
    pub(crate) name: &'a str,
    pub(crate) about: &'a str,
    pub(crate) says: &'a str,
    /// banker, shop:<store id>, quest, trainer, or nothing.
    pub(crate) trade: &'a str,
    pub(crate) at: (i32, i32),
    pub(crate) day: Day<'a>,
}

/// A town in the making.
pub(crate) struct Town<'g> {
    pub(crate) ground: &'g mut Ground,
    id: &'static str,
    center: (i32, i32),
    area: Value,
    houses: Vec<Value>,
    people: Vec<Value>,
    stations: usize,
    /// Who must be reachable: id and place.
    pub(crate) stand: Vec<(String, i32, i32)>,
    /// What must be reachable from beside it.
    pub(crate) beside: Vec<(String, i32, i32)>,
}

/// What a finished town adds to the manifests.
pub(crate) struct Built {
    pub(crate) id: &'static str,
    pub(crate) area: Value,
    pub(crate) houses: Vec<Value>,
    pub(crate) people: Vec<Value>,
    pub(crate) stand: Vec<(String, i32, i32)>,
    pub(crate) beside: Vec<(String, i32, i32)>,
}

impl<'g> Town<'g> {
    pub(crate) fn new(
        ground: &'g mut Ground,
        id: &'static str,
        name: &str,
        about: &str,
        center: (i32, i32),
        half: (i32, i32),
        biome: &str,
    ) -> Self {
        let area = json!({"id": id, "name": name, "description": about, "difficultyLevel": 0,
            "biomeType": biome, "safeZone": true, "pvpEnabled": false,
            "bounds": {"minX": center.0 - half.0, "maxX": center.0 + half.0,
                "minZ": center.1 - half.1, "maxZ": center.1 + half.1},
            "npcs": [], "resources": [], "mobSpawns": [], "stations": []});
        Self {
            ground,
            id,
            center,
            area,
            houses: Vec::new(),
            people: Vec::new(),
            stations: 0,
            stand: Vec::new(),
            beside: Vec::new(),
        }
    }

    pub(crate) fn abs(&self, at: (i32, i32)) -> (i32, i32) {
        (at.0 + self.center.0, at.1 + self.center.1)
    }

    pub(crate) fn line(&mut self, kind: &str, width: i32, points: &[(i32, i32)]) {
        let points: Vec<_> = points.iter().map(|&p| self.abs(p)).collect();
        self.ground.line(kind, width, 0, &points);
    }

    pub(crate) fn rect(&mut self, kind: &str, min: (i32, i32), max: (i32, i32)) {
        let (min, max) = (self.abs(min), self.abs(max));
        self.ground.rect(kind, min, max);
    }

    pub(crate) fn disc(&mut self, kind: &str, center: (i32, i32), radius: i32) {
        let center = self.abs(center);
        self.ground.disc(kind, center, radius);
    }

    /// A rectangular ring of `kind`, one tile thick.
    pub(crate) fn ring(&mut self, kind: &str, min: (i32, i32), max: (i32, i32)) {
        self.rect(kind, min, (max.0, min.1));
        self.rect(kind, (min.0, max.1), max);
        self.rect(kind, min, (min.0, max.1));
        self.rect(kind, (max.0, min.1), max);
    }

    /// A house of `size` tiles whose south-west corner is `at`, with a door in the middle of a side.
    pub(crate) fn house(&mut self, name: &str, at: (i32, i32), size: (i32, i32), door: Side) {
        let min = self.abs(at);
        let max = (min.0 + size.0 - 1, min.1 + size.1 - 1);
        let middle = ((min.0 + max.0) / 2, (min.1 + max.1) / 2);
        let (door, (dx, dz)) = match door {
            Side::N => ((middle.0, max.1), (0, 1)),
            Side::S => ((middle.0, min.1), (0, -1)),
            Side::E => ((max.0, middle.1), (1, 0)),
            Side::W => ((min.0, middle.1), (-1, 0)),
        };
        // Nothing may grow on a doorstep.
        let step = if self.id == "bogwater" {
            "bridge"
        } else {
            "dirt"
        };
        let outside = (door.0 + 2 * dx, door.1 + 2 * dz);
        self.ground.line(step, 3, 0, &[door, outside]);
        self.ground.house(min, max, door);
        let id = format!("{}_house_{}", self.id, self.houses.len() + 1);
        self.houses.push(
            json!({"id": id, "name": name, "area": self.id, "minX": min.0,
            "minZ": min.1, "maxX": max.0, "maxZ": max.1, "wall": "wall", "floor": "floor",
            "doors": [[door.0, door.1]]}),
        );
        self.stand.push((format!("door of {name}"), door.0, door.1));
    }

    pub(crate) fn person(&mut self, person: &Person) {
        let (x, z) = self.abs(person.at);
        let (kind, services) = match person.trade.split_once(':') {
            Some((_, _)) => ("general_store", json!(["shop"])),
            None if person.trade == "banker" => ("bank", json!(["bank"])),
            None if person.trade == "trainer" => ("skill_trainer", json!(["skill_trainer"])),
            None if person.trade == "quest" => ("quest_giver", json!(["quest"])),
            None => ("villager", json!([])),
        };
        let movement = match person.day {
            Day::Stand => json!({"type": "stationary", "speed": 0, "wanderRadius": 0}),
            Day::Wander(r) => json!({"type": "wander", "speed": 1.7, "wanderRadius": r}),
            Day::Patrol(points) => {
                let path: Vec<Value> = points
                    .iter()
                    .map(|&p| self.abs(p))
                    .map(|p| json!({"x": p.0, "y": 0, "z": p.1}))
                    .collect();
                json!({"type": "patrol", "speed": 1.7, "wanderRadius": 0, "patrolPath": path})
            }
        };
        let mut placed = json!({"id": person.id, "type": kind,
            "position": {"x": x, "y": 0, "z": z}});
        if let Some((_, store)) = person.trade.split_once(':') {
            placed["storeId"] = json!(store);
        }
        if let Some(path) = movement.get("patrolPath") {
            placed["patrolPath"] = path.clone();
        }
        push(&mut self.area, "npcs", placed);
        self.people.push(
            json!({"id": person.id, "name": person.name, "description": person.about,
            "category": "neutral", "faction": "town",
            "combat": {"attackable": false}, "movement": movement,
            "services": {"enabled": services != json!([]), "types": services},
            "dialogue": {"entryNodeId": "hello", "nodes": [{"id": "hello", "text": person.says,
                "responses": []}]},
            "appearance": {"modelPath": "asset://models/person.glb", "scale": 1}}),
        );
        self.stand.push((person.id.to_owned(), x, z));
    }

    /// A furnishing that stands in the way: bank, furnace, anvil, lamp, stall …
    pub(crate) fn station(&mut self, kind: &str, name: &str, at: (i32, i32)) {
        let (x, z) = self.abs(at);
        self.stations += 1;
        let id = format!("{}_{kind}_{}", self.id, self.stations);
        let mut station = json!({"id": id, "type": kind, "position": {"x": x, "y": 0, "z": z},
            "rotation": 0});
        if !name.is_empty() {
            station["name"] = json!(name);
        }
        push(&mut self.area, "stations", station);
        self.ground.take(x, z);
        self.beside.push((id, x, z));
    }

    pub(crate) fn lamps(&mut self, at: &[(i32, i32)]) {
        for &at in at {
            self.station("lamp", "", at);
        }
    }

    pub(crate) fn trees(&mut self, kind: &str, at: &[(i32, i32)]) {
        for &at in at {
            let (x, z) = self.abs(at);
            if self.ground.take(x, z) {
                push(
                    &mut self.area,
                    "resources",
                    json!({"type": "tree", "resourceId": kind,
                    "position": {"x": x, "y": 0, "z": z}}),
                );
                self.beside.push((format!("{kind} in {}", self.id), x, z));
            }
        }
    }

    pub(crate) fn animals(&mut self, mob: &str, at: (i32, i32), radius: i32, count: u32) {
        let (x, z) = self.abs(at);
        push(
            &mut self.area,
            "mobSpawns",
            json!({"mobId": mob, "position": {"x": x, "y": 0, "z": z},
            "spawnRadius": radius, "maxCount": count}),
        );
        self.stand.push((format!("{mob} in {}", self.id), x, z));
    }

    pub(crate) fn built(self) -> Built {
        Built {
            id: self.id,
            area: self.area,
            houses: self.houses,
            people: self.people,
            stand: self.stand,
            beside: self.beside,
        }
    }
}

/// Appends to a list inside an area.
pub(crate) fn push(area: &mut Value, list: &str, item: Value) {
    if let Some(items) = area.get_mut(list).and_then(Value::as_array_mut) {
        items.push(item);
    }
}
