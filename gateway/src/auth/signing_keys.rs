//! The list of keys that sign our tokens: where it comes from, and how it is read again.
//!
//! Always: the first key signs, and every key of the list verifies. A file that cannot be read
//! leaves the list as it was. No message shows a secret.

use std::{
    collections::BTreeSet,
    fmt,
    fs::File,
    io::Read,
    path::{Path, PathBuf},
};

use service_runtime::config::{Reader, Secret, is_sample};

/// Id of the key that `JWT_SECRET` or the store gives.
const SINGLE: &str = "default";
/// Keys of a list.
const KEYS_MAX: usize = 16;
/// Length of an id, in bytes.
const ID_BYTES_MAX: usize = 64;
/// Length of a file of keys, in bytes.
const FILE_BYTES_MAX: usize = 64 * 1024;
/// The shortest secret in production, in bytes.
const PRODUCTION_BYTES_MIN: usize = 32;

/// A key, and the id that tokens name in their headers.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct SigningKey {
    pub(crate) id: String,
    pub(crate) secret: Vec<u8>,
}

/// Prints the id alone.
impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.id)
    }
}

/// Keys, the newest first; at least one, and no two have the same id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct KeyList(Vec<SigningKey>);

impl KeyList {
    /// Returns the list of a single secret.
    pub(crate) fn single(secret: &[u8]) -> Self {
        Self(vec![SigningKey {
            id: SINGLE.to_owned(),
            secret: secret.to_vec(),
        }])
    }

    /// Returns the keys, the one that signs first.
    pub(crate) fn keys(&self) -> &[SigningKey] {
        &self.0
    }

    /// Reads lines of `kid secret`. Skips blank lines and those that begin with `#`. The error is a
    /// clause that names the line, never the secret.
    fn parse(text: &str, production: bool) -> Result<Self, String> {
        let mut keys: Vec<SigningKey> = Vec::new();
        let mut known = BTreeSet::new();
        for (number, line) in (1..).zip(text.lines()) {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let (id, secret) = pair(line).ok_or_else(|| {
                format!("line {number} is not `kid secret`, with a kid of letters, digits, . _ -")
            })?;
            if production && secret.len() < PRODUCTION_BYTES_MIN {
                let least = PRODUCTION_BYTES_MIN;
                return Err(format!(
                    "the secret of {id} needs at least {least} bytes in production"
                ));
            }
            if production && is_sample(secret) {
                return Err(format!(
                    "the secret of {id} is a sample that everybody knows"
                ));
            }
            if !known.insert(id) {
                return Err(format!("{id} is there twice"));
            }
            keys.push(SigningKey {
                id: id.to_owned(),
                secret: secret.as_bytes().to_vec(),
            });
        }
        match keys.len() {
            0 => Err("there is no key".to_owned()),
            1..=KEYS_MAX => Ok(Self(keys)),
            _ => Err(format!("there are more than {KEYS_MAX} keys")),
        }
    }

    /// Adds the single secret as the last key, which signs nothing.
    fn and_single(mut self, secret: &Secret) -> Result<Self, String> {
        if self.0.iter().any(|key| key.id == SINGLE) {
            return Err(format!("the kid {SINGLE} is that of JWT_SECRET"));
        }
        self.0.extend(Self::single(secret.expose().as_bytes()).0);
        Ok(self)
    }
}

fn pair(line: &str) -> Option<(&str, &str)> {
    let (id, secret) = line.split_once(char::is_whitespace)?;
    let secret = secret.trim_start();
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    let is_id = id.len() <= ID_BYTES_MAX && id.bytes().all(is_plain);
    (is_id && !secret.is_empty()).then_some((id, secret))
}

/// Settings of the keys: `JWT_SECRET`, `JWT_KEYS` and its file.
#[derive(Debug, Clone)]
pub(crate) struct SigningKeys {
    /// Keys at the start; `None`: the store makes one and keeps it.
    pub(crate) list: Option<KeyList>,
    /// The file of keys, which the gateway reads again.
    pub(crate) file: Option<KeyFile>,
}

/// A file of keys.
#[derive(Debug, Clone)]
pub(crate) struct KeyFile {
    path: PathBuf,
    /// Last key of the list.
    single: Option<Secret>,
    production: bool,
}

impl KeyFile {
    /// Reads the file. The error is a clause for the log.
    pub(crate) fn read(&self) -> Result<KeyList, String> {
        let text = content(&self.path)
            .map_err(|error| format!("{} cannot be read ({error})", self.path.display()))?;
        listed(&text, self.single.as_ref(), self.production)
    }
}

/// Returns what a file says, if it is not too long.
fn content(path: &Path) -> std::io::Result<String> {
    let mut text = String::new();
    let most = FILE_BYTES_MAX as u64 + 1;
    File::open(path)?.take(most).read_to_string(&mut text)?;
    if text.len() > FILE_BYTES_MAX {
        return Err(std::io::ErrorKind::FileTooLarge.into());
    }
    Ok(text)
}

fn listed(text: &str, single: Option<&Secret>, production: bool) -> Result<KeyList, String> {
    let list = KeyList::parse(text, production)?;
    single.map_or(Ok(list.clone()), |secret| list.and_single(secret))
}

impl SigningKeys {
    /// Reads the settings; problems gather in the reader.
    pub(crate) fn read(reader: &mut Reader, production: bool) -> Self {
        let single = single(reader, production);
        let text = reader.secret(
            "JWT_KEYS",
            "lines `kid secret`: the first key signs tokens, all of them verify; JWT_SECRET is \
             then the last of them. JWT_KEYS_FILE is read again when it changes",
        );
        let path = reader.file_of("JWT_KEYS");
        if production && single.is_none() && text.is_none() {
            reader.problem("JWT_SECRET is required in production, or JWT_KEYS".to_owned());
        }
        let list = match (&text, &single) {
            (Some(text), _) => match listed(text.expose(), single.as_ref(), production) {
                Ok(list) => Some(list),
                Err(why) => {
                    reader.problem(format!("JWT_KEYS: {why}"));
                    None
                }
            },
            (None, Some(secret)) => Some(KeyList::single(secret.expose().as_bytes())),
            (None, None) => None,
        };
        let file = path.map(|path| KeyFile {
            path,
            single,
            production,
        });
        Self { list, file }
    }
}

fn single(reader: &mut Reader, production: bool) -> Option<Secret> {
    let help = "signs tokens, as the key `default`; made and kept by the store if missing";
    let secret = reader.secret("JWT_SECRET", help);
    let is_short = |secret: &Secret| secret.expose().len() < PRODUCTION_BYTES_MIN;
    if production && secret.as_ref().is_some_and(is_short) {
        let least = PRODUCTION_BYTES_MIN;
        reader.problem(format!(
            "JWT_SECRET needs at least {least} bytes in production"
        ));
    }
    secret
}

#[cfg(test)]
mod tests {
    use service_runtime::config::Env;

    use super::*;

    const LONG: &str = "0123456789abcdef0123456789abcdef";

    fn ids(list: &KeyList) -> Vec<&str> {
        list.keys().iter().map(|key| key.id.as_str()).collect()
    }

    fn read(settings: &[(&str, &str)]) -> Result<SigningKeys, String> {
        let mut reader = Reader::new(Env::from_pairs(settings.iter().copied()));
        let production = reader.production();
        let keys = SigningKeys::read(&mut reader, production);
        reader.finish().map_err(|error| error.to_string())?;
        Ok(keys)
    }

    #[test]
    fn a_list_is_lines_of_a_kid_and_a_secret_and_the_first_signs() {
        let text = "# newest first\n\n 2027-01  a secret of mine\n2026-12\tolder\n";
        let list = KeyList::parse(text, false).unwrap();
        assert_eq!(ids(&list), ["2027-01", "2026-12"]);
        assert_eq!(list.keys()[0].secret, b"a secret of mine");
        assert_eq!(format!("{list:?}"), "KeyList([2027-01, 2026-12])");
        for (text, why) in [
            ("", "no key"),
            ("# nothing", "no key"),
            ("alone", "line 1"),
            ("a b\nk/id secret", "line 2"),
            ("a one\na two", "a is there twice"),
        ] {
            let said = KeyList::parse(text, false).unwrap_err();
            assert!(said.contains(why), "{text:?}: {said}");
        }
        let many: String = (0..17).map(|n| format!("k{n} secret\n")).collect();
        assert!(KeyList::parse(&many, false).is_err());
    }

    #[test]
    fn production_takes_long_secrets_that_nobody_knows() {
        assert!(KeyList::parse(&format!("a {LONG}"), true).is_ok());
        let short = KeyList::parse("a hunter2", true).unwrap_err();
        assert!(
            short.contains("32 bytes") && !short.contains("hunter2"),
            "{short}"
        );
        let sample = "a only-for-development-and-nothing-else";
        assert!(KeyList::parse(sample, true).is_err());
    }

    #[test]
    fn the_single_secret_verifies_beside_the_list_and_is_enough_alone() {
        let listed = |settings: &[(&str, &str)]| read(settings).unwrap().list;
        assert_eq!(listed(&[]), None, "the store makes one");
        let alone = listed(&[("JWT_SECRET", "old")]).unwrap();
        assert_eq!(ids(&alone), ["default"]);
        let both = listed(&[("JWT_SECRET", "old"), ("JWT_KEYS", "new secret")]).unwrap();
        assert_eq!(ids(&both), ["new", "default"]);
        let twice = read(&[("JWT_SECRET", "old"), ("JWT_KEYS", "default secret")]);
        assert!(twice.unwrap_err().contains("JWT_KEYS: the kid default"));
        let production = ("NODE_ENV", "production");
        let none = read(&[production]).unwrap_err();
        assert!(none.contains("JWT_SECRET is required"), "{none}");
        let line = format!("a {LONG}");
        assert!(read(&[production, ("JWT_KEYS", &line)]).is_ok());
    }

    #[test]
    fn a_file_is_read_again_and_a_broken_one_is_an_error() {
        let path = std::env::temp_dir().join(format!("keys-{}", std::process::id()));
        std::fs::write(&path, "a one\n").unwrap();
        let keys = read(&[("JWT_KEYS_FILE", path.to_str().unwrap())]).unwrap();
        assert_eq!(ids(&keys.list.unwrap()), ["a"]);
        let file = keys.file.unwrap();
        std::fs::write(&path, "b two\na one\n").unwrap();
        assert_eq!(ids(&file.read().unwrap()), ["b", "a"]);
        std::fs::write(&path, "b\n").unwrap();
        assert!(file.read().unwrap_err().contains("line 1"));
        std::fs::write(&path, "b two\n".repeat(FILE_BYTES_MAX)).unwrap();
        assert!(file.read().unwrap_err().contains("cannot be read"));
        std::fs::remove_file(&path).unwrap();
        assert!(file.read().unwrap_err().contains("cannot be read"));
    }
}
