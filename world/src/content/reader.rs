//! Reading manifests: strict about what is required, tolerant of all else.
//!
//! Always: what is missing or wrong but not required becomes a warning and its default; unknown
//! fields are nobody's business; numbers may be written 1 or 1.0.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt;

use serde_json::{Map, Value};

/// Something in a manifest that is not as it should be, but could be read.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Warning {
    /// The manifest's path.
    pub file: String,
    /// Where in it.
    pub at: String,
    /// What is wrong.
    pub what: String,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}: {}", self.file, self.at, self.what)
    }
}

/// Why content cannot be played.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ContentError {
    /// A required manifest is not there.
    Missing {
        /// Its path.
        file: String,
    },
    /// A manifest is not JSON, or not of the right shape at all.
    Broken {
        /// Its path.
        file: String,
        /// What is wrong.
        why: String,
    },
    /// A required field is missing or wrong.
    Field {
        /// The manifest's path.
        file: String,
        /// Where in it.
        at: String,
        /// What is wrong.
        why: String,
    },
}

impl fmt::Display for ContentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ContentError::Missing { file } => write!(f, "{file} is missing"),
            ContentError::Broken { file, why } => write!(f, "{file}: {why}"),
            ContentError::Field { file, at, why } => write!(f, "{file}: {at}: {why}"),
        }
    }
}

impl std::error::Error for ContentError {}

/// The files to read, and what was found wrong with them so far.
pub(crate) struct Reader<'a> {
    files: &'a BTreeMap<String, String>,
    warnings: RefCell<Vec<Warning>>,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(files: &'a BTreeMap<String, String>) -> Reader<'a> {
        Reader {
            files,
            warnings: RefCell::default(),
        }
    }

    pub(crate) fn has(&self, file: &str) -> bool {
        self.files.contains_key(file)
    }

    /// The JSON of a required manifest.
    pub(crate) fn required(&self, file: &str) -> Result<Value, ContentError> {
        let text = self.files.get(file);
        let text = text.ok_or_else(|| ContentError::Missing {
            file: file.to_owned(),
        })?;
        serde_json::from_str(text).map_err(|e| ContentError::Broken {
            file: file.to_owned(),
            why: e.to_string(),
        })
    }

    /// The JSON of a manifest that may be missing, or broken, which is a warning.
    pub(crate) fn optional(&self, file: &str) -> Option<Value> {
        let text = self.files.get(file)?;
        match serde_json::from_str(text) {
            Ok(value) => Some(value),
            Err(e) => {
                self.warn(file, "the file", &format!("is not read: {e}"));
                None
            }
        }
    }

    pub(crate) fn warn(&self, file: &str, at: &str, what: &str) {
        self.warnings.borrow_mut().push(Warning {
            file: file.to_owned(),
            at: at.to_owned(),
            what: what.to_owned(),
        });
    }

    pub(crate) fn into_warnings(self) -> Vec<Warning> {
        self.warnings.into_inner()
    }

    /// The records of a list file: a bare array, or an object with the array under one of
    /// `names`. What is not an object is skipped with a warning.
    pub(crate) fn records<'v>(
        &'v self,
        file: &'v str,
        value: &'v Value,
        names: &[&str],
    ) -> Result<Vec<Fields<'v>>, ContentError> {
        let named = |map: &'v Map<String, Value>| names.iter().find_map(|n| map.get(*n));
        let list = match value {
            Value::Array(list) => Some(list),
            Value::Object(map) => named(map).and_then(Value::as_array),
            _ => None,
        };
        let list = list.ok_or_else(|| ContentError::Broken {
            file: file.to_owned(),
            why: format!("neither a list nor an object with one of {names:?}"),
        })?;
        Ok(objects(self, file, "", list))
    }

    /// The one object that a file is.
    pub(crate) fn object<'v>(
        &'v self,
        file: &'v str,
        value: &'v Value,
    ) -> Result<Fields<'v>, ContentError> {
        let map = value.as_object().ok_or_else(|| ContentError::Broken {
            file: file.to_owned(),
            why: "not an object".to_owned(),
        })?;
        Ok(Fields {
            reader: self,
            file,
            at: String::new(),
            map,
        })
    }
}

fn objects<'v>(
    reader: &'v Reader<'v>,
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
            None => reader.warn(file, &at, "not an object, skipped"),
        }
    }
    found
}

/// One object of a manifest, with its place for warnings.
#[derive(Clone)]
pub(crate) struct Fields<'v> {
    reader: &'v Reader<'v>,
    file: &'v str,
    at: String,
    map: &'v Map<String, Value>,
}

impl<'v> Fields<'v> {
    pub(crate) fn place(&self, name: &str) -> String {
        if self.at.is_empty() {
            name.to_owned()
        } else {
            format!("{}.{name}", self.at)
        }
    }

    pub(crate) fn warn(&self, name: &str, what: &str) {
        self.reader.warn(self.file, &self.place(name), what);
    }

    pub(crate) fn error(&self, name: &str, why: &str) -> ContentError {
        ContentError::Field {
            file: self.file.to_owned(),
            at: self.place(name),
            why: why.to_owned(),
        }
    }

    /// The field, if it is there and not null.
    pub(crate) fn get(&self, name: &str) -> Option<&'v Value> {
        self.map.get(name).filter(|v| !v.is_null())
    }

    fn read<T>(&self, name: &str, what: &str, as_t: fn(&'v Value) -> Option<T>) -> Option<T> {
        let value = self.get(name)?;
        let read = as_t(value);
        if read.is_none() {
            self.warn(name, &format!("not {what}, ignored"));
        }
        read
    }

    /// A text that must be there and not be empty.
    pub(crate) fn text(&self, name: &str) -> Result<&'v str, ContentError> {
        match self.get(name).and_then(Value::as_str) {
            Some(text) if !text.is_empty() => Ok(text),
            Some(_) => Err(self.error(name, "is empty")),
            None => Err(self.error(name, "must be a text")),
        }
    }

    pub(crate) fn text_or(&self, name: &str, default: &'v str) -> &'v str {
        self.read(name, "a text", Value::as_str).unwrap_or(default)
    }

    pub(crate) fn flag_or(&self, name: &str, default: bool) -> bool {
        self.read(name, "true or false", Value::as_bool)
            .unwrap_or(default)
    }

    /// A number rounded down to a whole one.
    pub(crate) fn int_or(&self, name: &str, default: i64) -> i64 {
        self.scaled_or(name, 1, default)
    }

    /// A number times `scale`, rounded down to a whole one.
    pub(crate) fn scaled_or(&self, name: &str, scale: i32, default: i64) -> i64 {
        let number = self.read(name, "a number", Value::as_f64);
        number.map_or(default, |n| whole(n, scale))
    }

    /// A coordinate that must be there: a number from -10000 to 10000, rounded down.
    pub(crate) fn coordinate(&self, name: &str) -> Result<i32, ContentError> {
        let number = self.get(name).and_then(Value::as_f64);
        number
            .and_then(coordinate)
            .ok_or_else(|| self.error(name, "must be a coordinate"))
    }

    /// An object that must be there.
    pub(crate) fn object(&self, name: &str) -> Result<Fields<'v>, ContentError> {
        let map = self.get(name).and_then(Value::as_object);
        let map = map.ok_or_else(|| self.error(name, "must be an object"))?;
        Ok(self.inner(name, map))
    }

    /// An object that may be missing.
    pub(crate) fn object_if(&self, name: &str) -> Option<Fields<'v>> {
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

    /// The values of a list, which may be missing.
    pub(crate) fn values(&self, name: &str) -> &'v [Value] {
        self.read(name, "a list", Value::as_array)
            .map_or(&[], Vec::as_slice)
    }

    /// The objects of a list, which may be missing.
    pub(crate) fn objects(&self, name: &str) -> Vec<Fields<'v>> {
        objects(self.reader, self.file, &self.place(name), self.values(name))
    }

    /// The objects of a map, by key; `$schema` and `_comment` are not among them.
    pub(crate) fn entries(&self) -> Vec<(&'v str, Fields<'v>)> {
        let mut found = Vec::new();
        for (key, value) in self.map {
            match value.as_object() {
                Some(map) => found.push((key.as_str(), self.inner(key, map))),
                None if key.starts_with('$') || key.starts_with('_') => {}
                None => self.warn(key, "not an object, skipped"),
            }
        }
        found
    }
}

/// `number` times `scale`, rounded down; the ends of the range for what does not fit.
pub(crate) fn whole(number: f64, scale: i32) -> i64 {
    (number * f64::from(scale)).floor() as i64
}

/// A coordinate from -10000 to 10000, rounded down.
pub(crate) fn coordinate(number: f64) -> Option<i32> {
    let number = number.floor();
    (-10_000.0..=10_000.0)
        .contains(&number)
        .then_some(number as i32)
}
