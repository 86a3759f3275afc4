//! The one reader of the environment.
//!
//! Always: the reader collects each wrong variable as a problem instead of stopping at the first,
//! so that one start names them all. It never prints a secret. An empty variable counts as not set.

mod env;
mod samples;
mod secret;

use std::{
    fmt::{self, Display},
    ops::RangeInclusive,
    path::PathBuf,
    str::FromStr,
};

pub use env::Env;
pub use samples::is_sample;
pub use secret::Secret;

/// Source of a setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Source {
    Environment,
    File,
    Default,
}

impl Source {
    const fn name(self) -> &'static str {
        match self {
            Self::Environment => "environment",
            Self::File => "file",
            Self::Default => "default",
        }
    }
}

/// Purpose of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Environment {
    /// For trials, on one machine.
    Development,
    /// For tests: the process asks no service that no setting names.
    Test,
    /// For players.
    Production,
}

impl Environment {
    /// Returns the name in `NODE_ENV`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Development => "development",
            Self::Test => "test",
            Self::Production => "production",
        }
    }
}

/// One line of the table of settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting {
    /// Name of the variable.
    pub name: &'static str,
    /// Value as the table shows it: redacted for a secret, `-` for none.
    pub value: String,
    /// Source of the value: environment, file or default.
    pub source: &'static str,
    /// Purpose.
    pub help: &'static str,
}

/// Error of the settings, in one sentence that names every problem. The process ends with exit code
/// 64.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ConfigError(String);

impl ConfigError {
    /// Builds the error of a problem that shows only when the process uses the setting, such as a
    /// data folder in use.
    pub fn new(sentence: impl Into<String>) -> Self {
        Self(sentence.into())
    }
}

/// Reads settings, and remembers the source and the problems of each.
#[derive(Debug)]
pub struct Reader {
    env: Env,
    entries: Vec<Setting>,
    problems: Vec<String>,
}

impl Reader {
    /// Builds a reader of these variables.
    pub fn new(env: Env) -> Self {
        Self {
            env,
            entries: Vec::new(),
            problems: Vec::new(),
        }
    }

    /// Reads a setting with a default. An unreadable text is a problem and gives the default.
    pub fn value<T>(&mut self, name: &'static str, default: T, help: &'static str) -> T
    where
        T: FromStr + Display,
        T::Err: Display,
    {
        match self.parsed(name) {
            Some(value) => self.keep(name, value, Source::Environment, help),
            None => self.keep(name, default, Source::Default, help),
        }
    }

    /// Reads a number with a default and an allowed range, its ends included. Anything else is a
    /// problem and gives the default.
    pub fn within<T>(
        &mut self,
        name: &'static str,
        default: T,
        range: RangeInclusive<T>,
        help: &'static str,
    ) -> T
    where
        T: FromStr + Display + PartialOrd + Copy,
        T::Err: Display,
    {
        let value = self.value(name, default, help);
        if range.contains(&value) {
            return value;
        }
        let (least, most) = (range.start(), range.end());
        self.problem(format!("{name} must be {least} to {most}, not {value}"));
        default
    }

    /// Reads a setting that may be absent.
    pub fn optional<T>(&mut self, name: &'static str, help: &'static str) -> Option<T>
    where
        T: FromStr + Display,
        T::Err: Display,
    {
        self.optional_as(name, "-", help)
    }

    /// Reads a setting that may be absent. The table of settings then shows `absent` as its
    /// meaning.
    pub fn optional_as<T>(
        &mut self,
        name: &'static str,
        absent: &str,
        help: &'static str,
    ) -> Option<T>
    where
        T: FromStr + Display,
        T::Err: Display,
    {
        let value: Option<T> = self.parsed(name);
        match &value {
            Some(value) => self.note(name, value.to_string(), Source::Environment, help),
            None => self.note(name, absent.to_owned(), Source::Default, help),
        }
        value
    }

    /// Reads a setting that must be there.
    pub fn required<T>(&mut self, name: &'static str, help: &'static str) -> T
    where
        T: FromStr + Display + Default,
        T::Err: Display,
    {
        if self.env.get(name).is_none() {
            self.problem(format!("{name} is missing ({help})"));
        }
        self.optional(name, help).unwrap_or_default()
    }

    /// Reads a switch: true or false, 1 or 0, yes or no, on or off.
    pub fn flag(&mut self, name: &'static str, default: bool, help: &'static str) -> bool {
        let given = self.env.get(name).map(str::to_ascii_lowercase);
        let read = match given.as_deref() {
            None => None,
            Some("true" | "1" | "yes" | "on") => Some(true),
            Some("false" | "0" | "no" | "off") => Some(false),
            Some(_) => {
                self.problem(format!("{name} must be true or false"));
                None
            }
        };
        let source = if read.is_some() {
            Source::Environment
        } else {
            Source::Default
        };
        self.keep(name, read.unwrap_or(default), source, help)
    }

    /// Reads a list, separated by commas. It drops blanks around the parts, and empty parts.
    pub fn list(&mut self, name: &'static str, default: &str, help: &'static str) -> Vec<String> {
        let (text, source) = match self.env.get(name) {
            Some(text) => (text.to_owned(), Source::Environment),
            None => (default.to_owned(), Source::Default),
        };
        let parts: Vec<String> = text
            .split(',')
            .map(str::trim)
            .filter(|part| !part.is_empty())
            .map(str::to_owned)
            .collect();
        let shown = if parts.is_empty() {
            "-".to_owned()
        } else {
            parts.join(",")
        };
        self.note(name, shown, source, help);
        parts
    }

    /// Reads a secret from the variable or from the file that `NAME_FILE` names, without its last
    /// line break. Both at once are a problem. In production, a secret that everybody knows is a
    /// problem too.
    pub fn secret(&mut self, name: &'static str, help: &'static str) -> Option<Secret> {
        let direct = self.env.get(name).map(str::to_owned);
        let file = self.env.get(&format!("{name}_FILE")).map(str::to_owned);
        let (secret, source) = match (direct, file) {
            (Some(_), Some(_)) => {
                self.problem(format!("only one of {name} and {name}_FILE may be set"));
                (None, Source::Environment)
            }
            (Some(text), None) => (Some(Secret::new(text)), Source::Environment),
            (None, Some(path)) => (self.secret_file(name, &path), Source::File),
            (None, None) => (None, Source::Default),
        };
        let production = self.env.get("NODE_ENV") == Some(Environment::Production.name());
        if production && secret.as_ref().is_some_and(|s| is_sample(s.expose())) {
            self.problem(format!(
                "{name} is a sample that everybody knows; make one at random"
            ));
        }
        let shown = secret.as_ref().map_or("-".to_owned(), Secret::to_string);
        self.note(name, shown, source, help);
        secret
    }

    /// Returns the file that `NAME_FILE` names, for a secret that a process reads again later.
    pub fn file_of(&self, name: &str) -> Option<PathBuf> {
        self.env.get(&format!("{name}_FILE")).map(PathBuf::from)
    }

    fn secret_file(&mut self, name: &str, path: &str) -> Option<Secret> {
        match std::fs::read_to_string(path) {
            Ok(text) => {
                let text = text.strip_suffix('\n').unwrap_or(&text);
                let text = text.strip_suffix('\r').unwrap_or(text);
                if text.is_empty() {
                    self.problem(format!("{name}_FILE names an empty file: {path}"));
                    return None;
                }
                Some(Secret::new(text.to_owned()))
            }
            Err(error) => {
                self.problem(format!("{name}_FILE cannot be read: {path} ({error})"));
                None
            }
        }
    }

    /// Returns whether the variable of a secret is set, or that of its file.
    pub fn is_set(&self, name: &str) -> bool {
        self.env.get(name).is_some() || self.env.get(&format!("{name}_FILE")).is_some()
    }

    /// Adds a problem that a cross-check found, as a clause without a full stop.
    pub fn problem(&mut self, sentence: String) {
        self.problems.push(sentence);
    }

    /// Reads the environment from `NODE_ENV`; `development` if that is empty.
    pub fn environment(&mut self) -> Environment {
        const HELP: &str = "development, test or production";
        let given = self.env.get("NODE_ENV").unwrap_or_default().to_owned();
        let (environment, source) = match given.as_str() {
            "" => (Environment::Development, Source::Default),
            "development" => (Environment::Development, Source::Environment),
            "test" => (Environment::Test, Source::Environment),
            "production" => (Environment::Production, Source::Environment),
            _ => {
                let clause = "NODE_ENV must be development, test or production";
                if !self.problems.iter().any(|p| p == clause) {
                    self.problem(clause.to_owned());
                }
                (Environment::Development, Source::Default)
            }
        };
        self.note("NODE_ENV", environment.name().to_owned(), source, HELP);
        environment
    }

    /// Returns whether `NODE_ENV` is `production`.
    pub fn production(&mut self) -> bool {
        self.environment() == Environment::Production
    }

    /// Fails if there was any problem, with all problems in one sentence.
    pub fn finish(&self) -> Result<(), ConfigError> {
        if self.problems.is_empty() {
            return Ok(());
        }
        Err(ConfigError(format!(
            "the configuration is not usable: {}.",
            self.problems.join("; ")
        )))
    }

    /// Returns every setting with its value (secrets redacted), its source and its purpose.
    pub fn table(&self) -> String {
        let width = |of: fn(&Setting) -> usize| self.entries.iter().map(of).max().unwrap_or(0);
        let (name, value) = (width(|e| e.name.len()), width(|e| e.value.len()).min(40));
        let mut out = String::new();
        for entry in &self.entries {
            let (source, help) = (entry.source, entry.help);
            let line = format!(
                "{:<name$}  {:<value$}  {source:<11}  {help}\n",
                entry.name, entry.value
            );
            out.push_str(&line);
        }
        out
    }

    /// Returns every setting that was read so far, in the order of the table.
    pub fn settings(&self) -> Vec<Setting> {
        self.entries.clone()
    }

    /// Returns every setting with its default and its purpose.
    pub(crate) fn help(&self) -> String {
        let name = self.entries.iter().map(|e| e.name.len()).max();
        let name = name.unwrap_or(0);
        self.entries
            .iter()
            .map(|e| format!("  {:<name$}  {:<18}  {}\n", e.name, e.value, e.help))
            .collect()
    }

    fn parsed<T>(&mut self, name: &str) -> Option<T>
    where
        T: FromStr,
        T::Err: Display,
    {
        let text = self.env.get(name)?;
        match text.parse() {
            Ok(value) => Some(value),
            Err(error) => {
                let clause = format!("{name} cannot be {text:?} ({error})");
                self.problem(clause);
                None
            }
        }
    }

    fn keep<T: Display>(
        &mut self,
        name: &'static str,
        value: T,
        source: Source,
        help: &'static str,
    ) -> T {
        self.note(name, value.to_string(), source, help);
        value
    }

    fn note(&mut self, name: &'static str, shown: String, source: Source, help: &'static str) {
        if self.entries.iter().any(|entry| entry.name == name) {
            return;
        }
        let shown = if shown.is_empty() {
            "-".to_owned()
        } else {
            shown
        };
        self.entries.push(Setting {
            name,
            value: shown,
            source: source.name(),
            help,
        });
    }
}

impl fmt::Display for Reader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.table())
    }
}

#[cfg(test)]
mod tests;
