//! What each phase of a tick took, and what the tick changed, for `replay --step`.
//!
//! Always: it compares what regions save; what is not saved is not shown.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write,
    time::Instant,
};

use serde_json::Value;
use world::{CharacterId, Inbox, Phase, PhaseClock, Region, World};

/// Most lines of changes of a tick.
const LINES_MAX: usize = 200;
/// Fields that every tick changes.
const CLOCKS: [&str; 2] = ["at", "counters"];

/// Regions as values, by their place.
type Picture = BTreeMap<Region, Value>;

/// Looks at the ticks of a record, one after the other.
#[derive(Default)]
pub(super) struct Steps {
    before: Picture,
    inputs: Vec<String>,
    phases: Vec<(Phase, Option<u128>, Vec<CharacterId>)>,
    /// Characters whose inputs the phase handled so far.
    handled: Vec<CharacterId>,
    last: Option<Instant>,
}

impl Steps {
    /// Looks at the world before a tick, and at what the tick will play.
    pub(super) fn before(&mut self, world: &World, inbox: &Inbox) {
        self.before = picture(world);
        let inputs = inbox.inputs.iter();
        self.inputs = inputs.map(proto::encode::json_text).collect();
        self.phases.clear();
        self.handled.clear();
        self.last = Some(Instant::now());
    }

    /// Tells of the tick that was just played.
    pub(super) fn after(&self, world: &World) -> String {
        let mut text = String::new();
        // Writing into a text does not fail.
        for input in &self.inputs {
            let _ = writeln!(text, "  input {input}");
        }
        for (phase, micros, handled) in &self.phases {
            let _ = write!(text, "  phase {}", phase.name());
            if let Some(micros) = micros {
                let _ = write!(text, " {micros} us");
            }
            for who in handled {
                let _ = write!(text, " {who}");
            }
            text.push('\n');
        }
        let mut changes = Vec::new();
        let after = picture(world);
        let places: BTreeSet<&Region> = self.before.keys().chain(after.keys()).collect();
        for region in places {
            let none = Value::Null;
            let (was, is) = (self.before.get(region), after.get(region));
            let name = format!("region {},{}", region.x, region.z);
            compare(
                &name,
                was.unwrap_or(&none),
                is.unwrap_or(&none),
                &mut changes,
            );
        }
        for line in changes.iter().take(LINES_MAX) {
            let _ = writeln!(text, "  {line}");
        }
        if let Some(more) = changes
            .len()
            .checked_sub(LINES_MAX)
            .filter(|more| *more > 0)
        {
            let _ = writeln!(text, "  and {more} more changes");
        }
        text
    }
}

impl PhaseClock for Steps {
    fn phase(&mut self, phase: Phase) {
        let now = Instant::now();
        let took = self.last.replace(now);
        let micros = took.map(|since| now.duration_since(since).as_micros());
        let handled = std::mem::take(&mut self.handled);
        self.phases.push((phase, micros, handled));
    }

    fn input(&mut self, who: &CharacterId) {
        self.handled.push(who.clone());
    }
}

fn picture(world: &World) -> Picture {
    let regions = world.regions().filter_map(|region| {
        let bytes = world.region_bytes(region)?;
        let mut value: Value = rmp_serde::from_slice(&bytes).ok()?;
        if let Value::Object(fields) = &mut value {
            for clock in CLOCKS {
                fields.remove(clock);
            }
        }
        Some((region, value))
    });
    regions.collect()
}

/// Adds a line for each value that differs.
fn compare(name: &str, was: &Value, is: &Value, lines: &mut Vec<String>) {
    match (was, is) {
        (Value::Object(a), Value::Object(b)) => {
            let keys: BTreeSet<&String> = a.keys().chain(b.keys()).collect();
            for key in keys {
                let (was, is) = (a.get(key), b.get(key));
                let none = Value::Null;
                let name = format!("{name} {key}");
                compare(&name, was.unwrap_or(&none), is.unwrap_or(&none), lines);
            }
        }
        (Value::Array(a), Value::Array(b)) => {
            let (a, b) = (named(a), named(b));
            let keys: BTreeSet<&String> = a.keys().chain(b.keys()).collect();
            for key in keys {
                let name = format!("{name}[{key}]");
                let none = &Value::Null;
                let (was, is) = (a.get(key).copied(), b.get(key).copied());
                compare(&name, was.unwrap_or(none), is.unwrap_or(none), lines);
            }
        }
        (was, is) if was == is => {}
        (was, is) => lines.push(format!("{name}: {} -> {}", short(was), short(is))),
    }
}

/// Names the values of a list by their ids, or by their places in it.
fn named(values: &[Value]) -> BTreeMap<String, &Value> {
    let name = |(place, value): (usize, &Value)| {
        let id = [&value["id"], &value["record"]["id"]];
        let id = id.into_iter().find_map(Value::as_str);
        id.map_or_else(|| format!("{place:04}"), str::to_owned)
    };
    let names = values.iter().enumerate();
    names
        .map(|(place, value)| (name((place, value)), value))
        .collect()
}

/// Returns a value in few characters.
fn short(value: &Value) -> String {
    const MOST: usize = 120;
    let text = match value {
        Value::Null => "nothing".to_owned(),
        value => value.to_string(),
    };
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn lines(was: &Value, is: &Value) -> Vec<String> {
        let mut lines = Vec::new();
        compare("region 0,0", was, is, &mut lines);
        lines
    }

    #[test]
    fn only_what_differs_is_told_and_by_whom() {
        let player = |x: i32| json!({"record": {"id": "ann", "tile": {"x": x, "z": 2}}});
        let was = json!({"players": [player(1)], "ground": []});
        let is = json!({"players": [player(2)], "ground": [{"id": "item:1-1", "item": "logs"}]});
        assert_eq!(
            lines(&was, &is),
            [
                r#"region 0,0 ground[item:1-1]: nothing -> {"id":"item:1-1","item":"logs"}"#,
                "region 0,0 players[ann] record tile x: 1 -> 2",
            ]
        );
        assert_eq!(lines(&was, &was), [""; 0]);
    }

    #[test]
    fn who_goes_first_in_a_list_does_not_change_the_others() {
        let one = |id: &str| json!({"id": id, "health": 3});
        let both = json!([one("a"), one("b")]);
        assert_eq!(
            lines(&both, &json!([one("b")])),
            [r#"region 0,0[a]: {"health":3,"id":"a"} -> nothing"#]
        );
        let slots = [json!([1, 2, 3]), json!([1, 5, 3])];
        assert_eq!(lines(&slots[0], &slots[1]), ["region 0,0[0001]: 2 -> 5"]);
        assert!(short(&json!("x".repeat(500))).chars().count() < 130);
    }
}
