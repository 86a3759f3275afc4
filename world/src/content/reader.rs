//! Reading manifests: strict about the required files, tolerant of all else.
//!
//! Always: if a readable file lacks something or has it wrong, the reader warns, and takes a
//! default or skips the record. It ignores unknown fields, and takes a number written 1 or 1.0. It
//! looks up references after it has read everything, so files know no order.

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde_json::Value;

use super::fields::Fields;
use super::files;
use super::items::Items;

/// Sort of fault in a warning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Defect {
    /// Missing or malformed value; the reader skips it or takes a default.
    Malformed,
    /// Word that the rules do not know; the reader keeps it.
    Unknown,
    /// Name of something that is not there.
    Dangling,
    /// Id that is there twice; the last one counts.
    Duplicate,
}

/// Fault in a manifest that could be read.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Warning {
    /// Path of the manifest.
    pub file: String,
    /// Place in the manifest.
    pub at: String,
    /// Description of the fault and its consequence.
    pub what: String,
    /// Sort of the fault.
    pub defect: Defect,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}: {}", self.file, self.at, self.what)
    }
}

/// Reason why nobody can play the content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ContentError {
    /// Required manifest that is not there.
    Missing {
        /// Path of the manifest.
        file: String,
    },
    /// Manifest that is not JSON, or not of the right shape at all.
    Broken {
        /// Path of the manifest.
        file: String,
        /// Description of the fault.
        why: String,
    },
    /// Id of an item that is there twice, which production does not play.
    Duplicate {
        /// Path of the manifest.
        file: String,
        /// Place in the manifest.
        at: String,
        /// Description of the fault.
        why: String,
    },
}

impl fmt::Display for ContentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ContentError::Missing { file } => write!(f, "{file} is missing"),
            ContentError::Broken { file, why } => write!(f, "{file}: {why}"),
            ContentError::Duplicate { file, at, why } => write!(f, "{file}: {at}: {why}"),
        }
    }
}

impl std::error::Error for ContentError {}

/// Sort of thing to which a reference leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Of {
    Item,
    Npc,
    Store,
    Quest,
    Prayer,
    Spell,
    Resource,
    /// A node, or an item that one gives: files of biomes name either.
    Yield,
    Plant,
    Biome,
}

impl Of {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Of::Item => "item",
            Of::Npc => "NPC",
            Of::Store => "store",
            Of::Quest => "quest",
            Of::Prayer => "prayer",
            Of::Spell => "spell",
            Of::Resource | Of::Yield => "resource",
            Of::Plant => "plant",
            Of::Biome => "biome",
        }
    }
}

/// Name of something else, and its place.
#[derive(Debug)]
pub(crate) struct Reference {
    pub(crate) file: String,
    pub(crate) at: String,
    pub(crate) of: Of,
    pub(crate) id: String,
    /// Consequence if there is no such thing.
    pub(crate) so: &'static str,
}

/// Files to read, faults found in them so far, and their references.
pub(crate) struct Reader {
    files: BTreeMap<String, Result<Value, ContentError>>,
    warnings: RefCell<Vec<Warning>>,
    references: RefCell<Vec<Reference>>,
    /// Ids of items by alias, set when the reader has read the items.
    aliases: OnceCell<BTreeMap<Arc<str>, Arc<str>>>,
}

impl Reader {
    pub(crate) fn new(texts: &BTreeMap<String, String>) -> Reader {
        let parsed = |(path, text): (&String, &String)| (path.clone(), files::parse(path, text));
        Reader {
            files: texts.iter().map(parsed).collect(),
            warnings: RefCell::default(),
            references: RefCell::default(),
            aliases: OnceCell::new(),
        }
    }

    /// Notes the aliases of items: from now on the reader takes every reference to an item by its
    /// id.
    pub(crate) fn know_aliases(&self, items: &Items) {
        let aliases = items.aliases();
        let all = aliases.map(|(alias, id)| (Arc::clone(alias), Arc::clone(id)));
        self.aliases.get_or_init(|| all.collect());
    }

    /// Returns the id of the thing to which `name` refers.
    pub(crate) fn id(&self, of: Of, name: &str) -> Arc<str> {
        let aliases = self.aliases.get().filter(|_| of == Of::Item);
        let id = aliases.and_then(|aliases| aliases.get(name));
        id.map_or_else(|| name.into(), Arc::clone)
    }

    pub(crate) fn has(&self, file: &str) -> bool {
        self.files.contains_key(file)
    }

    /// Returns a required manifest.
    fn required(&self, file: &str) -> Result<&Value, ContentError> {
        match self.files.get(file) {
            Some(parsed) => parsed.as_ref().map_err(Clone::clone),
            None => Err(ContentError::Missing {
                file: file.to_owned(),
            }),
        }
    }

    /// Returns a manifest that may be missing. If it is broken, the reader warns and leaves it out.
    pub(crate) fn optional(&self, file: &str) -> Option<&Value> {
        match self.files.get(file)? {
            Ok(value) => Some(value),
            Err(ContentError::Broken { why, .. }) => {
                let what = format!("cannot be read and is left out: {why}");
                self.warn(Defect::Malformed, file, "the file", &what);
                None
            }
            Err(_) => None,
        }
    }

    pub(crate) fn warn(&self, defect: Defect, file: &str, at: &str, what: &str) {
        self.warnings.borrow_mut().push(Warning {
            file: file.to_owned(),
            at: at.to_owned(),
            what: what.to_owned(),
            defect,
        });
    }

    pub(crate) fn refer(&self, reference: Reference) {
        self.references.borrow_mut().push(reference);
    }

    /// Warns of every reference to something that `exists` does not know.
    pub(crate) fn resolve(&self, exists: impl Fn(Of, &str) -> bool) {
        for reference in self.references.take() {
            let Reference {
                file,
                at,
                of,
                id,
                so,
            } = reference;
            if !exists(of, &id) {
                let what = format!("there is no {} {id:?}, {so}", of.name());
                self.warn(Defect::Dangling, &file, &at, &what);
            }
        }
    }

    pub(crate) fn into_warnings(self) -> Vec<Warning> {
        self.warnings.into_inner()
    }

    /// Returns the records of a list file that must be there.
    pub(crate) fn required_records<'v>(
        &'v self,
        file: &'v str,
    ) -> Result<Vec<Fields<'v>>, ContentError> {
        Ok(self.list(file, self.required(file)?))
    }

    /// Returns the records of a list file; none if it is not there or cannot be read. Skips
    /// anything that is not an object with a warning.
    pub(crate) fn records<'v>(&'v self, file: &'v str) -> Vec<Fields<'v>> {
        let value = self.optional(file);
        value.map_or_else(Vec::new, |value| self.list(file, value))
    }

    fn list<'v>(&'v self, file: &'v str, value: &'v Value) -> Vec<Fields<'v>> {
        let names = files::list_names(file);
        let at = match value {
            Value::Object(map) => names.iter().copied().find(|name| map.contains_key(*name)),
            _ => None,
        };
        let list = files::list_of(value, names).map_or(&[][..], Vec::as_slice);
        Fields::list(self, file, at.unwrap_or(""), list)
    }

    /// Returns the root object of a file; none if it is not there, cannot be read or has no such
    /// root.
    pub(crate) fn object<'v>(&'v self, file: &'v str) -> Option<Fields<'v>> {
        Fields::root(self, file, self.optional(file)?)
    }

    /// Returns the root object of a file, which must have one.
    pub(crate) fn required_object<'v>(&'v self, file: &'v str) -> Result<Fields<'v>, ContentError> {
        let value = self.required(file)?;
        Fields::root(self, file, value).ok_or_else(|| ContentError::Broken {
            file: file.to_owned(),
            why: "not an object".to_owned(),
        })
    }
}
