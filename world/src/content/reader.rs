//! Reading manifests: strict about which files are needed, tolerant of all else.
//!
//! Always: what is missing or wrong in a file that can be read becomes a warning and a default,
//! or the record is skipped; unknown fields are nobody's business; numbers may be written 1 or
//! 1.0. What refers to something else is looked up when all is read, so files know no order.

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde_json::Value;

use super::fields::Fields;
use super::files;
use super::items::Items;

/// What sort of fault a warning is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Defect {
    /// Something is missing or not of the right kind; it is skipped or has its default.
    Malformed,
    /// A word that the rules do not know; it is kept.
    Unknown,
    /// It names something that there is not.
    Dangling,
    /// An id that is there twice; the last one counts.
    Duplicate,
}

/// Something in a manifest that is not as it should be, but could be read.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Warning {
    /// The manifest's path.
    pub file: String,
    /// Where in it.
    pub at: String,
    /// What is wrong, and what comes of it.
    pub what: String,
    /// What sort of fault it is.
    pub defect: Defect,
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
    /// An item's id is there twice, which production does not play.
    Duplicate {
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
            ContentError::Duplicate { file, at, why } => write!(f, "{file}: {at}: {why}"),
        }
    }
}

impl std::error::Error for ContentError {}

/// What a reference is to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Of {
    Item,
    Npc,
    Store,
    Quest,
    Prayer,
    Spell,
    Resource,
    /// A node, or what is got from one: files of biomes name either.
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

/// Something that names something else.
#[derive(Debug)]
pub(crate) struct Reference {
    pub(crate) file: String,
    pub(crate) at: String,
    pub(crate) of: Of,
    pub(crate) id: String,
    /// What comes of it when there is no such thing.
    pub(crate) so: &'static str,
}

/// The files to read, what was found wrong with them so far, and what they refer to.
pub(crate) struct Reader {
    files: BTreeMap<String, Result<Value, ContentError>>,
    warnings: RefCell<Vec<Warning>>,
    references: RefCell<Vec<Reference>>,
    /// Ids of items by alias, from when the items are read.
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

    /// Notes the aliases of items: from now on every reference to an item is read as its id.
    pub(crate) fn know_aliases(&self, items: &Items) {
        let aliases = items.aliases();
        let all = aliases.map(|(alias, id)| (Arc::clone(alias), Arc::clone(id)));
        self.aliases.get_or_init(|| all.collect());
    }

    /// Returns the id of what `name` refers to.
    pub(crate) fn id(&self, of: Of, name: &str) -> Arc<str> {
        let aliases = self.aliases.get().filter(|_| of == Of::Item);
        let id = aliases.and_then(|aliases| aliases.get(name));
        id.map_or_else(|| name.into(), Arc::clone)
    }

    pub(crate) fn has(&self, file: &str) -> bool {
        self.files.contains_key(file)
    }

    /// A required manifest.
    fn required(&self, file: &str) -> Result<&Value, ContentError> {
        match self.files.get(file) {
            Some(parsed) => parsed.as_ref().map_err(Clone::clone),
            None => Err(ContentError::Missing {
                file: file.to_owned(),
            }),
        }
    }

    /// A manifest that may be missing, or broken, which is a warning.
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

    /// Warns of everything that names something which `exists` does not know.
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

    /// The records of a list file that must be there.
    pub(crate) fn required_records<'v>(
        &'v self,
        file: &'v str,
    ) -> Result<Vec<Fields<'v>>, ContentError> {
        Ok(self.list(file, self.required(file)?))
    }

    /// The records of a list file; none where it is not there or cannot be read. What is not an
    /// object is skipped with a warning.
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

    /// The object that a file is; none where it is not there, cannot be read or is none.
    pub(crate) fn object<'v>(&'v self, file: &'v str) -> Option<Fields<'v>> {
        Fields::root(self, file, self.optional(file)?)
    }

    /// The object that a file must be.
    pub(crate) fn required_object<'v>(&'v self, file: &'v str) -> Result<Fields<'v>, ContentError> {
        let value = self.required(file)?;
        Fields::root(self, file, value).ok_or_else(|| ContentError::Broken {
            file: file.to_owned(),
            why: "not an object".to_owned(),
        })
    }
}
