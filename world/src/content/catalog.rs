//! Records by id.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::fields::Fields;
use super::reader::Defect;

/// Records of one kind by id, in the order of their ids.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Catalog<T> {
    records: BTreeMap<Arc<str>, Arc<T>>,
}

impl<T> Default for Catalog<T> {
    fn default() -> Catalog<T> {
        Catalog {
            records: BTreeMap::new(),
        }
    }
}

impl<T> Catalog<T> {
    /// Returns the record with that id.
    pub fn get(&self, id: &str) -> Option<&Arc<T>> {
        self.records.get(id)
    }

    /// Returns whether there is a record with that id.
    pub fn contains(&self, id: &str) -> bool {
        self.records.contains_key(id)
    }

    /// Returns all records, by id.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<T>> {
        self.records.values()
    }

    /// Returns all ids, in order.
    pub fn ids(&self) -> impl Iterator<Item = &Arc<str>> {
        self.records.keys()
    }

    /// Returns the number of records.
    pub fn len(&self) -> usize {
        self.records.len()
    }

    /// Returns whether there is none.
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// Adds a record from `fields`; of several with an id, the last one counts.
    pub(crate) fn add(&mut self, fields: &Fields<'_>, id: &str, record: T) {
        if self.put(id, record) {
            let what = format!("{id} is there twice, the last one counts");
            fields.defect(Defect::Duplicate, "id", &what);
        }
    }

    /// Adds a record. Returns whether it took another's place.
    pub(crate) fn put(&mut self, id: &str, record: T) -> bool {
        self.records.insert(id.into(), Arc::new(record)).is_some()
    }

    /// Changes every record.
    pub(crate) fn each(&mut self, mut change: impl FnMut(&mut T))
    where
        T: Clone,
    {
        for record in self.records.values_mut() {
            change(Arc::make_mut(record));
        }
    }
}
