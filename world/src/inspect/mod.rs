//! What is wrong with content that could be read: what nobody can come to, get, make or end.
//!
//! Always: the same content gives the same faults in the same order; nothing is changed. What a
//! manifest says wrongly is the loader's to warn of; here it is about what the whole comes to.

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

/// Something that is wrong with content as a world.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Fault {
    /// What it is about: `item bronze_dagger`, `quest pecking_order` …
    pub about: String,
    /// What is wrong with it.
    pub what: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.about, self.what)
    }
}

/// The faults found so far.
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

/// All that is wrong with `content`: places outside the land or in walls, people and things that
/// nobody can walk to, items that nobody can get, recipes that nobody can make, shops that give
/// money away, things that promise what nothing comes of, talks that never come to something, quests that cannot be begun or ended.
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
