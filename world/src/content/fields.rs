//! One object of a manifest, with its place for warnings.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::reader::{Defect, Of, Reader, Reference};
use super::words::Word;
use crate::features::training::skill::Skill;

/// Milliseconds of a tick; older generations give times in milliseconds.
const TICK_MS: f64 = 600.0;

/// One object of a manifest.
#[derive(Clone)]
pub(crate) struct Fields<'v> {
    reader: &'v Reader,
    file: &'v str,
    at: String,
    map: &'v Map<String, Value>,
}

impl<'v> Fields<'v> {
    /// Returns the root object of a file.
    pub(crate) fn root(reader: &'v Reader, file: &'v str, value: &'v Value) -> Option<Fields<'v>> {
        Some(Fields {
            reader,
            file,
            at: String::new(),
            map: value.as_object()?,
        })
    }

    /// Returns the objects of a list; skips anything else with a warning.
    pub(crate) fn list(
        reader: &'v Reader,
        file: &'v str,
        at: &str,
        list: &'v [Value],
    ) -> Vec<Fields<'v>> {
        let mut found = Vec::with_capacity(list.len());
        for (i, value) in list.iter().enumerate() {
            let at = format!("{at}[{i}]");
            match value.as_object() {
                Some(map) => found.push(Fields {
                    reader,
                    file,
                    at,
                    map,
                }),
                None => reader.warn(Defect::Malformed, file, &at, "not an object, skipped"),
            }
        }
        found
    }

    fn place(&self, name: &str) -> String {
        match (self.at.is_empty(), name.is_empty()) {
            (true, _) => name.to_owned(),
            (false, true) => self.at.clone(),
            (false, false) => format!("{}.{name}", self.at),
        }
    }

    /// Warns that something is missing or wrong.
    pub(crate) fn warn(&self, name: &str, what: &str) {
        self.defect(Defect::Malformed, name, what);
    }

    pub(crate) fn defect(&self, defect: Defect, name: &str, what: &str) {
        self.reader.warn(defect, self.file, &self.place(name), what);
    }

    /// Returns the field, if it is there and not null.
    pub(crate) fn get(&self, name: &str) -> Option<&'v Value> {
        self.map.get(name).filter(|v| !v.is_null())
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// Returns the first of several names that is there, else the first.
    pub(crate) fn either<'n>(&self, names: &[&'n str]) -> &'n str {
        let there = names.iter().find(|name| self.has(name));
        there.or(names.first()).copied().unwrap_or("")
    }

    fn read<T>(&self, name: &str, what: &str, as_t: fn(&'v Value) -> Option<T>) -> Option<T> {
        let value = self.get(name)?;
        let read = as_t(value);
        if read.is_none() {
            self.warn(name, &format!("not {what}, ignored"));
        }
        read
    }

    /// Reads a text that the record needs; if it is missing, warns that the record is skipped.
    pub(crate) fn key(&self, name: &str) -> Option<&'v str> {
        let text = self.get(name).and_then(Value::as_str);
        let text = text.filter(|text| !text.is_empty());
        if text.is_none() {
            self.warn(name, "must be a text that is not empty, skipped");
        }
        text
    }

    /// Reads the name that players see; returns `id` with a warning if there is none.
    pub(crate) fn name(&self, id: &'v str) -> &'v str {
        match self.get("name").and_then(Value::as_str) {
            Some(text) if !text.is_empty() => text,
            _ => {
                self.warn(
                    "name",
                    "must be a text that is not empty, the id stands for it",
                );
                id
            }
        }
    }

    pub(crate) fn text_or(&self, name: &str, default: &'v str) -> &'v str {
        self.read(name, "a text", Value::as_str).unwrap_or(default)
    }

    /// Reads a text; empty if there is none.
    pub(crate) fn text(&self, name: &str) -> Arc<str> {
        self.text_or(name, "").into()
    }

    /// Reads the texts of a list, which may be missing.
    pub(crate) fn texts(&self, name: &str) -> Vec<Arc<str>> {
        let mut texts = Vec::new();
        for (i, value) in self.values(name).iter().enumerate() {
            match value.as_str() {
                Some(text) => texts.push(text.into()),
                None => self.warn(&format!("{name}[{i}]"), "not a text, skipped"),
            }
        }
        texts
    }

    pub(crate) fn flag_or(&self, name: &str, default: bool) -> bool {
        self.read(name, "true or false", Value::as_bool)
            .unwrap_or(default)
    }

    /// Reads a word of a list, in any case; keeps an unknown word with a warning.
    pub(crate) fn word<T: Word>(&self, name: &str) -> Option<T> {
        let text = self.text_or(name, "");
        (!text.is_empty()).then(|| {
            T::known(text).unwrap_or_else(|| {
                let what = format!("the rules know no {text:?}, kept as it is");
                self.defect(Defect::Unknown, name, &what);
                T::other(text)
            })
        })
    }

    /// Reads a number, rounded down to a whole one.
    pub(crate) fn int_or(&self, name: &str, default: i64) -> i64 {
        self.scaled_or(name, 1, default)
    }

    /// Reads a number times `scale`, rounded down to a whole one.
    pub(crate) fn scaled_or(&self, name: &str, scale: i32, default: i64) -> i64 {
        let number = self.read(name, "a number", Value::as_f64);
        number.map_or(default, |n| whole(n, scale))
    }

    /// Reads a number times `scale`, rounded to the nearest whole one from 0 to 2^31 - 1.
    pub(crate) fn parts_or(&self, name: &str, scale: u32, default: u32) -> u32 {
        let Some(number) = self.read(name, "a number", Value::as_f64) else {
            return default;
        };
        let number = (number * f64::from(scale)).round() as i64;
        if number < 0 {
            self.warn(name, "below 0, taken as 0");
        }
        number.clamp(0, i64::from(i32::MAX)) as u32
    }

    /// Reads a number times `scale`, rounded to the nearest whole one, which may be below 0.
    pub(crate) fn signed_or(&self, name: &str, scale: u32, default: i32) -> i32 {
        let number = self.read(name, "a number", Value::as_f64);
        number.map_or(default, |n| (n * f64::from(scale)).round() as i32)
    }

    /// Reads a whole number from 0 to 2^31 - 1.
    pub(crate) fn count_or(&self, name: &str, default: u32) -> u32 {
        self.parts_or(name, 1, default)
    }

    /// Reads XP, in tenths.
    pub(crate) fn tenths(&self, name: &str) -> u32 {
        self.parts_or(name, 10, 0)
    }

    /// Reads a chance from 0 to 1, in millionths.
    pub(crate) fn millionths_or(&self, name: &str, default: u32) -> u32 {
        let chance = self.parts_or(name, 1_000_000, default);
        if chance > 1_000_000 {
            self.warn(name, "above 1, taken as 1");
        }
        chance.min(1_000_000)
    }

    /// Reads a level from 1 to 99.
    pub(crate) fn level_or(&self, name: &str, default: u32) -> u8 {
        self.count_or(name, default).clamp(1, 99) as u8
    }

    /// Reads ticks, from the field `ticks` or, in milliseconds, from the field `ms`.
    pub(crate) fn ticks_or(&self, ticks: &str, ms: &str, default: u32) -> u32 {
        if self.has(ticks) || !self.has(ms) {
            return self.count_or(ticks, default);
        }
        match self.read(ms, "a number", Value::as_f64) {
            Some(number) => (number / TICK_MS).round().clamp(1.0, 1e9) as u32,
            None => default,
        }
    }

    /// Reads a coordinate: a number from -10000 to 10000, rounded down.
    pub(crate) fn coordinate(&self, name: &str) -> Option<i32> {
        self.get(name).and_then(Value::as_f64).and_then(coordinate)
    }

    /// Reads an object that may be missing.
    pub(crate) fn object(&self, name: &str) -> Option<Fields<'v>> {
        self.read(name, "an object", Value::as_object)
            .map(|map| self.inner(name, map))
    }

    fn inner(&self, name: &str, map: &'v Map<String, Value>) -> Fields<'v> {
        Fields {
            at: self.place(name),
            map,
            ..*self
        }
    }

    /// Returns the values of a list, which may be missing.
    pub(crate) fn values(&self, name: &str) -> &'v [Value] {
        self.read(name, "a list", Value::as_array)
            .map_or(&[], Vec::as_slice)
    }

    /// Returns the objects of a list, which may be missing.
    pub(crate) fn objects(&self, name: &str) -> Vec<Fields<'v>> {
        Fields::list(self.reader, self.file, &self.place(name), self.values(name))
    }

    /// Returns the fields by name, without `$schema` and `_comment`.
    pub(crate) fn fields(&self) -> impl Iterator<Item = (&'v str, &'v Value)> {
        let comment = |name: &str| name.starts_with('$') || name.starts_with('_');
        let fields = self.map.iter().map(|(name, value)| (name.as_str(), value));
        fields.filter(move |(name, _)| !comment(name))
    }

    /// Returns the objects of a map, by key; skips anything else with a warning.
    pub(crate) fn entries(&self) -> Vec<(&'v str, Fields<'v>)> {
        let mut found = Vec::new();
        for (key, value) in self.fields() {
            match value.as_object() {
                Some(map) => found.push((key, self.inner(key, map))),
                None => self.warn(key, "not an object, skipped"),
            }
        }
        found
    }

    /// Returns the lists of a map, by key, each with its objects.
    pub(crate) fn lists(&self) -> Vec<(&'v str, Vec<Fields<'v>>)> {
        let names = self.fields().map(|(name, _)| name);
        names.map(|name| (name, self.objects(name))).collect()
    }

    /// Reads a map from skill to level, from 1 to 99; leaves unknown skills out with a warning.
    pub(crate) fn levels(&self) -> BTreeMap<Skill, u8> {
        self.by_skill(|name| self.level_or(name, 1))
    }

    /// Reads a map by skill; leaves unknown skills out with a warning.
    pub(crate) fn by_skill<T>(&self, read: impl Fn(&str) -> T) -> BTreeMap<Skill, T> {
        let mut found = BTreeMap::new();
        for (name, _) in self.fields() {
            match Skill::named(name) {
                Some(skill) => {
                    found.insert(skill, read(name));
                }
                None => self.defect(Defect::Unknown, name, "there is no such skill, ignored"),
            }
        }
        found
    }

    /// Reads a skill by name; returns `None` with a warning for an unknown one.
    pub(crate) fn skill(&self, name: &str) -> Option<Skill> {
        let text = self.text_or(name, "");
        let skill = Skill::named(text);
        if skill.is_none() && !text.is_empty() {
            let what = format!("there is no skill {text:?}, ignored");
            self.defect(Defect::Unknown, name, &what);
        }
        skill
    }

    /// Reads a text that names something else, and returns the id of that. `so` is the consequence
    /// if there is no such thing.
    pub(crate) fn refer(&self, name: &str, of: Of, so: &'static str) -> Arc<str> {
        match self.text_or(name, "") {
            "" => "".into(),
            id => self.refer_to(name, of, id, so),
        }
    }

    /// Reads a list of texts in the way of [`Fields::refer`].
    pub(crate) fn refer_all(&self, name: &str, of: Of, so: &'static str) -> Vec<Arc<str>> {
        let ids = self.texts(name).into_iter().enumerate();
        let read = ids.map(|(i, id)| self.refer_to(&format!("{name}[{i}]"), of, &id, so));
        read.collect()
    }

    /// Notes that `name` refers to `id`, and returns the id under which the catalogs know it.
    pub(crate) fn refer_to(&self, name: &str, of: Of, id: &str, so: &'static str) -> Arc<str> {
        self.reader.refer(Reference {
            file: self.file.to_owned(),
            at: self.place(name),
            of,
            id: id.to_owned(),
            so,
        });
        self.reader.id(of, id)
    }
}

/// Returns `number` times `scale`, rounded down; the ends of the range if it does not fit.
pub(crate) fn whole(number: f64, scale: i32) -> i64 {
    (number * f64::from(scale)).floor() as i64
}

/// Returns a coordinate from -10000 to 10000, rounded down.
pub(crate) fn coordinate(number: f64) -> Option<i32> {
    let number = number.floor();
    (-10_000.0..=10_000.0)
        .contains(&number)
        .then_some(number as i32)
}
