//! The table `items`: the content's catalogue of items, for people who look at the store.
//!
//! Always: a run writes one page of ids at a time, each page in one transaction. Only a run that
//! lives writes, so that the table ends up with the content of the world.

/// The most kinds in a page.
pub(crate) const ITEMS_MAX: usize = 256;

/// A kind of item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ItemRow {
    pub(crate) id: String,
    pub(crate) name: String,
    /// Purpose of the item.
    pub(crate) sort: String,
    pub(crate) description: String,
    /// Value in coins.
    pub(crate) value: i32,
    pub(crate) weight_grams: i32,
    pub(crate) stackable: bool,
    pub(crate) tradeable: bool,
    /// JSON.
    pub(crate) stats: String,
}

/// All kinds after an id and up to the last named one, or all that exist.
#[derive(Debug, Clone)]
pub(crate) struct ItemPage {
    pub(crate) run: i64,
    pub(crate) after: String,
    /// Items by id.
    pub(crate) items: Vec<ItemRow>,
    pub(crate) last: bool,
}

impl ItemPage {
    /// Returns the last id of the page.
    pub(crate) fn end(&self) -> &str {
        self.items.last().map_or(&self.after, |item| &item.id)
    }
}
