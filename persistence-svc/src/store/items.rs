//! The table `items`: what the content says of items, for those who look at the store.
//!
//! Always: it is written a page of ids at a time, each page in one transaction; only a run that
//! lives writes, so that the content of the world is what stands there in the end.

/// The most kinds in a page.
pub(crate) const ITEMS_MAX: usize = 256;

/// A kind of item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ItemRow {
    pub(crate) id: String,
    pub(crate) name: String,
    /// What it is for.
    pub(crate) sort: String,
    pub(crate) description: String,
    /// In coins.
    pub(crate) value: i32,
    pub(crate) weight_grams: i32,
    pub(crate) stackable: bool,
    pub(crate) tradeable: bool,
    /// JSON.
    pub(crate) stats: String,
}

/// All kinds after an id and up to the last that is named, or all there are.
#[derive(Debug, Clone)]
pub(crate) struct ItemPage {
    pub(crate) run: i64,
    pub(crate) after: String,
    /// By id.
    pub(crate) items: Vec<ItemRow>,
    pub(crate) last: bool,
}

impl ItemPage {
    /// The last id of the page.
    pub(crate) fn end(&self) -> &str {
        self.items.last().map_or(&self.after, |item| &item.id)
    }
}
