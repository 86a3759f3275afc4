//! Variables of a process.

use std::{collections::BTreeMap, fmt};

/// A map of variables. Its `Debug` shows names only, because values may be secrets.
#[derive(Clone, Default)]
pub struct Env(BTreeMap<String, String>);

impl Env {
    /// Returns the variables of this process. It leaves out those that are not UTF-8.
    pub fn from_process() -> Self {
        Self(
            std::env::vars_os()
                .filter_map(|(k, v)| Some((k.into_string().ok()?, v.into_string().ok()?)))
                .collect(),
        )
    }

    /// Builds an environment of these variables and no others.
    pub fn from_pairs<I, K, V>(pairs: I) -> Self
    where
        I: IntoIterator<Item = (K, V)>,
        K: Into<String>,
        V: Into<String>,
    {
        Self(
            pairs
                .into_iter()
                .map(|(k, v)| (k.into(), v.into()))
                .collect(),
        )
    }

    /// Sets a variable; an empty value unsets it.
    pub fn set(&mut self, name: impl Into<String>, value: impl Into<String>) {
        self.0.insert(name.into(), value.into());
    }

    /// Returns a variable's value; an empty one counts as not set.
    pub fn get(&self, name: &str) -> Option<&str> {
        let value = self.0.get(name)?.trim();
        (!value.is_empty()).then_some(value)
    }

    /// Returns the variables that are set, with their values, for a process of our own.
    pub fn set_ones(&self) -> impl Iterator<Item = (&str, &str)> {
        let names = self.0.keys().map(String::as_str);
        names.filter_map(|name| Some((name, self.get(name)?)))
    }
}

impl fmt::Debug for Env {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}
