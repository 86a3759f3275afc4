//! Sources of content, and the changes that a fetch makes to the copies in the cache. Pure.

use std::{collections::BTreeMap, fmt};

use strum::{IntoStaticStr, VariantNames};

use crate::Files;

/// Source of content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, IntoStaticStr, VariantNames)]
#[strum(serialize_all = "kebab-case")]
pub enum Source {
    /// Manifests built into the process.
    BuiltIn,
    /// The world's folder.
    Folder,
    /// Content server.
    Cdn,
    /// Copies of a content server's manifests.
    Cache,
    /// Production's content server, which a developer asks.
    ProductionCdn,
    /// Zone that plays the content.
    Zone,
}

impl Source {
    /// Names of all sources.
    pub const NAMES: &[&str] = Source::VARIANTS;

    /// Returns one word for the source.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Outcome of asking for one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The file is here, and has the shape of a manifest.
    Fresh { text: String, etag: Option<String> },
    /// The copy is still right.
    Unchanged,
    /// The server has no such file.
    Absent,
    /// The file is here, but has not the shape that it must have.
    Broken(String),
    /// The fetch could not get the file.
    Failed(String),
}

/// Copies after a fetch.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Merged {
    /// Manifests after the fetch.
    pub(crate) files: Files,
    /// Tags of those that the server has, by path.
    pub(crate) etags: BTreeMap<String, String>,
    /// Paths of new manifests, and of those with a new text.
    pub(crate) changed: Vec<String>,
    /// Paths of manifests that the server no longer has.
    pub(crate) removed: Vec<String>,
    /// Whether a copy may be older than the server's file, because the fetch could not get that.
    pub(crate) stale: bool,
    /// Faults, a sentence for each file.
    pub(crate) wrong: Vec<String>,
}

/// Lays the fetched files over the copies, which have these tags.
pub(crate) fn merge(
    copies: &Files,
    tags: &BTreeMap<String, String>,
    outcomes: BTreeMap<String, Outcome>,
) -> Merged {
    let mut merged = Merged::default();
    for (path, outcome) in outcomes {
        let copy = copies.get(&path);
        let mut keep = copy.cloned();
        let mut tag = tags.get(&path).cloned();
        match outcome {
            Outcome::Fresh { text, etag } => {
                if copy != Some(&text) {
                    merged.changed.push(path.clone());
                }
                (keep, tag) = (Some(text), etag);
            }
            Outcome::Unchanged => {}
            Outcome::Absent => {
                if keep.take().is_some() {
                    merged.removed.push(path.clone());
                }
            }
            Outcome::Broken(why) => {
                let so = if copy.is_some() {
                    "the copy is kept"
                } else {
                    "it is left out"
                };
                merged.wrong.push(format!("{why}; {so}"));
            }
            Outcome::Failed(why) => {
                merged.stale |= copy.is_some();
                merged.wrong.push(format!("{path}: {why}"));
            }
        }
        if let Some(text) = keep {
            if let Some(tag) = tag {
                merged.etags.insert(path.clone(), tag);
            }
            merged.files.insert(path, text);
        }
    }
    merged
}

/// Returns the required files that are missing; `None` if none is.
pub(crate) fn lacks(files: &Files) -> Option<String> {
    let missing = world::content::missing(|path| files.contains_key(path));
    (!missing.is_empty()).then(|| missing.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(list: &[(&str, &str)]) -> BTreeMap<String, String> {
        let pair = |(path, text): &(&str, &str)| ((*path).to_owned(), (*text).to_owned());
        list.iter().map(pair).collect()
    }

    fn merged(outcomes: &[(&str, Outcome)]) -> Merged {
        let copies = files(&[("a.json", "[1]"), ("b.json", "[2]")]);
        let tags = files(&[("a.json", "\"a1\""), ("b.json", "\"b1\"")]);
        let outcomes = outcomes
            .iter()
            .map(|(path, outcome)| ((*path).to_owned(), outcome.clone()));
        merge(&copies, &tags, outcomes.collect())
    }

    fn fresh(text: &str) -> Outcome {
        Outcome::Fresh {
            text: text.to_owned(),
            etag: Some("\"new\"".to_owned()),
        }
    }

    #[test]
    fn only_what_differs_is_changed() {
        let merged = merged(&[
            ("a.json", fresh("[1]")),
            ("b.json", fresh("[3]")),
            ("c.json", fresh("[4]")),
        ]);
        assert_eq!(merged.changed, ["b.json", "c.json"]);
        let expected = files(&[("a.json", "[1]"), ("b.json", "[3]"), ("c.json", "[4]")]);
        assert_eq!(merged.files, expected);
        assert!(merged.etags.values().all(|tag| tag == "\"new\""));
        assert!(!merged.stale && merged.wrong.is_empty());
    }

    #[test]
    fn what_is_unchanged_keeps_its_tag_and_what_is_gone_goes() {
        let merged = merged(&[
            ("a.json", Outcome::Unchanged),
            ("b.json", Outcome::Absent),
            ("c.json", Outcome::Absent),
        ]);
        assert_eq!(merged.files, files(&[("a.json", "[1]")]));
        assert_eq!(merged.etags, files(&[("a.json", "\"a1\"")]));
        assert_eq!(merged.removed, ["b.json"]);
        assert!(merged.changed.is_empty() && !merged.stale);
    }

    #[test]
    fn a_broken_file_leaves_the_copy_and_a_failed_one_makes_it_stale() {
        let broken = Outcome::Broken("not JSON".to_owned());
        let one = merged(&[
            ("a.json", broken.clone()),
            ("b.json", Outcome::Unchanged),
            ("c.json", broken),
        ]);
        assert_eq!(one.files, files(&[("a.json", "[1]"), ("b.json", "[2]")]));
        assert_eq!((one.wrong.len(), one.stale), (2, false));
        let failed = Outcome::Failed("no answer".to_owned());
        assert!(merged(&[("a.json", failed.clone())]).stale);
        let new = merged(&[("c.json", failed)]);
        assert!(!new.stale && new.wrong == ["c.json: no answer"]);
    }
}
