//! Settings of the content loader.

use std::{path::PathBuf, time::Duration};

use service_runtime::config::{Environment, Reader};

/// Address of a developer's own content server.
const LOCAL_CDN: &str = "http://localhost:8080";

/// Settings of the sources of content.
#[derive(Debug, Clone)]
pub struct Config {
    /// Environment, which decides the rules by which the content comes.
    pub environment: Environment,
    /// The world's folder; manifests are in its `assets/manifests`.
    pub world: PathBuf,
    /// Content server; its manifests are below `/manifests/`.
    pub cdn_url: Option<String>,
    /// Content server of production, for development whose own content server is away.
    pub production_cdn_url: Option<String>,
    /// Whether to fetch and read nothing, and play the built-in content.
    pub skip: bool,
    /// Whether, outside production, to ignore the folder and take everything from the server.
    pub all_from_cdn: bool,
    /// Whether to start with the version that the zones play, if they play another one.
    pub follow: bool,
    /// Time limits of a fetch.
    pub times: Times,
}

/// Time limits of a fetch.
#[derive(Debug, Clone, Copy)]
pub struct Times {
    /// Limit of one attempt at one file.
    pub attempt: Duration,
    /// Limit of the whole fetch.
    pub whole: Duration,
}

impl Default for Times {
    fn default() -> Self {
        Self {
            attempt: Duration::from_secs(10),
            whole: Duration::from_secs(40),
        }
    }
}

impl Config {
    /// Reads all settings; problems gather in the reader.
    pub fn read(reader: &mut Reader) -> Self {
        let environment = reader.environment();
        let world = reader.value(
            "WORLD",
            "world".to_owned(),
            "world directory; manifests are in its assets/manifests",
        );
        let skip = reader.flag(
            "SKIP_MANIFESTS",
            false,
            "play the built-in content: nothing is fetched, no folder read",
        );
        let from_cdn = "do not look for manifests in the world directory; not in production";
        let skip_assets = is_set(reader, "SKIP_ASSETS", from_cdn);
        let ci = is_set(reader, "CI", from_cdn);
        // Server to ask when nobody names one; see `cdn`.
        let absent = match environment {
            Environment::Development => LOCAL_CDN,
            Environment::Production | Environment::Test => "-",
        };
        let help = "where manifests and assets are";
        let mut config = Self {
            environment,
            world: PathBuf::from(world),
            cdn_url: reader.optional_as("PUBLIC_CDN_URL", absent, help),
            production_cdn_url: reader.optional(
                "PRODUCTION_CDN_URL",
                "where development gets manifests when PUBLIC_CDN_URL does not answer",
            ),
            skip,
            all_from_cdn: skip_assets || ci,
            follow: reader.flag(
                "FOLLOW_CONTENT",
                true,
                "play the content of the oldest zone; false to roll out another version",
            ),
            times: Times::default(),
        };
        let addresses = [
            ("PUBLIC_CDN_URL", &mut config.cdn_url),
            ("PRODUCTION_CDN_URL", &mut config.production_cdn_url),
        ];
        for (name, url) in addresses {
            if let Some(given) = url {
                match address(given) {
                    Ok(clean) => *given = clean,
                    Err(why) => reader.problem(format!("{name} {why}")),
                }
            }
        }
        config
    }

    /// Returns the content server to ask: the one in the settings, or in development the local one.
    pub fn cdn(&self) -> Option<&str> {
        let set = self.cdn_url.as_deref();
        match self.environment {
            Environment::Development => Some(set.unwrap_or(LOCAL_CDN)),
            Environment::Production | Environment::Test => set,
        }
    }
}

/// Returns whether the variable holds anything but a denial: build servers choose the word.
fn is_set(reader: &mut Reader, name: &'static str, help: &'static str) -> bool {
    let word: Option<String> = reader.optional(name, help);
    let denied = ["false", "0", "no", "off"];
    word.is_some_and(|word| !denied.contains(&word.to_ascii_lowercase().as_str()))
}

/// Returns the address without the slash at its end.
fn address(given: &str) -> Result<String, String> {
    let url = reqwest::Url::parse(given).map_err(|error| format!("is no address ({error})"))?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
        return Err("must begin with https:// or http:// and name a host".to_owned());
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("must not contain a user or a password: clients are told it".to_owned());
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err("must end with the path".to_owned());
    }
    Ok(given.trim_end_matches('/').to_owned())
}

#[cfg(test)]
mod tests {
    use service_runtime::config::Env;

    use super::*;

    fn read(settings: &[(&str, &str)]) -> (Config, String) {
        let mut reader = Reader::new(Env::from_pairs(settings.iter().copied()));
        let config = Config::read(&mut reader);
        let problems = reader.finish().err().map(|error| error.to_string());
        (config, problems.unwrap_or_default())
    }

    #[test]
    fn only_development_asks_a_server_that_nobody_named() {
        assert_eq!(read(&[]).0.cdn(), Some("http://localhost:8080"));
        for environment in ["production", "test"] {
            let (config, problems) = read(&[("NODE_ENV", environment)]);
            assert_eq!((config.cdn(), problems.as_str()), (None, ""));
        }
        let mut reader = Reader::new(Env::from_pairs([("NODE_ENV", "development")]));
        Config::read(&mut reader);
        let shown = reader.to_string();
        let line = shown
            .lines()
            .find(|line| line.starts_with("PUBLIC_CDN_URL "));
        assert!(line.unwrap().contains("http://localhost:8080"), "{shown}");
        let (config, _) = read(&[("PUBLIC_CDN_URL", "https://cdn.example/game/")]);
        assert_eq!(config.cdn(), Some("https://cdn.example/game"));
    }

    #[test]
    fn what_is_no_address_is_a_problem_that_names_the_variable() {
        for wrong in [
            "cdn.example",
            "ftp://cdn.example",
            "https://me:secret@cdn.example",
            "https://cdn.example/?key=1",
        ] {
            for name in ["PUBLIC_CDN_URL", "PRODUCTION_CDN_URL"] {
                let (_, problems) = read(&[(name, wrong)]);
                assert!(problems.contains(name), "{name}={wrong}: {problems}");
                assert!(!problems.contains("secret"), "{problems}");
            }
        }
    }

    #[test]
    fn a_build_server_looks_at_no_folder() {
        assert!(!read(&[]).0.all_from_cdn);
        assert!(read(&[("CI", "true")]).0.all_from_cdn);
        assert!(read(&[("SKIP_ASSETS", "1")]).0.all_from_cdn);
        assert!(read(&[("CI", "woodpecker")]).0.all_from_cdn);
        assert!(
            !read(&[("CI", "false"), ("SKIP_ASSETS", "0")])
                .0
                .all_from_cdn
        );
        assert!(read(&[("SKIP_MANIFESTS", "true")]).0.skip);
    }
}
