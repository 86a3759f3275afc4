//! Inspection of content that could be read, for things that nobody can reach, get, make or end.
//!
//! Always: the same content gives the same faults in the same order; nothing changes. The loader
//! warns of errors in a single manifest; the inspection is about the content as a whole.

mod goods;
mod places;
mod reach;
mod tasks;
mod trade;
mod uses;

use std::fmt;

use crate::content::Content;
use goods::Goods;
use reach::Reach;

/// Fault of the content as a world.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Fault {
    /// Subject of the fault: `item bronze_dagger`, `quest pecking_order` …
    pub about: String,
    /// Description of the fault.
    pub what: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.about, self.what)
    }
}

/// Faults found so far.
#[derive(Debug, Default)]
struct Faults(Vec<Fault>);

impl Faults {
    fn add(&mut self, sort: &str, id: impl fmt::Display, what: impl Into<String>) {
        self.0.push(Fault {
            about: format!("{sort} {id}"),
            what: what.into(),
        });
    }
}

/// Returns all faults of `content`. They are places outside the land or in walls, people and things
/// out of reach, and items and recipes beyond everybody. Shops that give money away, items that
/// promise an effect and have none, and talks with unreachable nodes count, too. So do quests that
/// nobody can begin or end.
pub fn inspect(content: &Content) -> Vec<Fault> {
    let mut faults = Faults::default();
    let reach = Reach::from_spawn(content);
    places::inspect(content, &reach, &mut faults);
    let goods = Goods::gather(content, &reach);
    goods::inspect(content, &goods, &mut faults);
    trade::inspect(content, &mut faults);
    uses::inspect(content, &mut faults);
    tasks::inspect(content, &reach, &goods, &mut faults);
    faults.0
}
