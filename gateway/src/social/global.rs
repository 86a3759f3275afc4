//! Global chat: its budget, slow mode, and the shards of the world that hear each other. Pure but
//! for the settings.
//!
//! Always: a player hears the shard to which it speaks, and no other one, as soon as the hub has
//! subscribed its gateway to that shard. The number of shards has a bound, whatever clients ask for.

use std::time::Duration;

use proto::topics;
use service_runtime::config::Reader;
use world::{Region, Tile};

use crate::limits::window::Rule;

/// Regions along one side of an area. The middle of one area is the origin.
const AREA_REGIONS: i32 = 8;
/// Maximum number of languages.
const LANGUAGES_MAX: usize = 32;
/// Longest time that slow mode lets somebody wait, in seconds.
const SLOW_MAX_S: u64 = 3600;

/// Settings of global chat.
#[derive(Debug, Clone)]
pub(crate) struct GlobalChat {
    /// Messages that pass in a second, from all players of all gateways together.
    pub(crate) per_second: usize,
    /// Time between two messages of one character; zero: any.
    pub(crate) slow: Duration,
    pub(crate) shards: Shards,
}

/// Parts of the world that hear each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Shards {
    /// Everybody.
    One,
    /// Those of one language. The first one is everybody else's too.
    Language(Vec<String>),
    /// Those in one area of the world.
    Area,
}

impl GlobalChat {
    pub(crate) fn read(reader: &mut Reader) -> Self {
        let per_second = reader.within(
            "GLOBAL_CHAT_PER_SECOND",
            20,
            1..=10_000,
            "messages of global chat in a second, from all gateways together",
        );
        let slow = reader.within(
            "GLOBAL_CHAT_SLOW_SECONDS",
            0,
            0..=SLOW_MAX_S,
            "slow mode: time between two messages of a character in global chat; 0: off",
        );
        Self {
            per_second,
            slow: Duration::from_secs(slow),
            shards: Shards::read(reader),
        }
    }

    /// Returns the limit of the whole world. A refusal lets nobody speak for a tenth of a second, so
    /// that a flood does not cost a question each.
    pub(crate) fn rule(&self) -> Rule {
        Rule {
            name: "global_chat",
            most: self.per_second,
            length: Duration::from_secs(1),
            refusals: 1,
            block: Duration::from_millis(100),
        }
    }
}

impl Shards {
    fn read(reader: &mut Reader) -> Self {
        let help = "who hears each other in global chat: one (everybody), language, or area";
        let kind: String = reader.value("GLOBAL_CHAT_SHARDS", "one".to_owned(), help);
        let help = "languages with a global chat of their own, comma separated; the first one is \
                    everybody else's";
        let listed: String = reader.value("GLOBAL_CHAT_LANGUAGES", "en".to_owned(), help);
        match kind.as_str() {
            "one" => Self::One,
            "area" => Self::Area,
            "language" => {
                let languages = listed.split(',').map(|name| primary(name).ok_or(name));
                match languages.collect::<Result<Vec<String>, &str>>() {
                    Ok(languages) if languages.len() <= LANGUAGES_MAX => {
                        return Self::Language(languages);
                    }
                    Ok(_) => reader.problem(format!(
                        "GLOBAL_CHAT_LANGUAGES must name at most {LANGUAGES_MAX}"
                    )),
                    Err(name) => reader.problem(format!(
                        "GLOBAL_CHAT_LANGUAGES must name languages like en,de: {name:?} is none"
                    )),
                }
                Self::One
            }
            _ => {
                let words = "GLOBAL_CHAT_SHARDS must be one, language or area";
                reader.problem(words.to_owned());
                Self::One
            }
        }
    }

    /// Returns the language of a client that has a shard: the one that it names, or else the first
    /// that its browser accepts. `None`: that of everybody else.
    pub(crate) fn language(&self, named: Option<&str>, accepted: Option<&str>) -> Option<String> {
        let Self::Language(languages) = self else {
            return None;
        };
        let accepted = accepted.into_iter().flat_map(|list| list.split(','));
        let accepted = accepted.map(|one| one.split(';').next().unwrap_or_default());
        // A header may be long; nobody reads so many languages.
        let mut all = named.into_iter().chain(accepted).take(LANGUAGES_MAX);
        all.find_map(|name| primary(name).filter(|name| languages.contains(name)))
    }

    /// Returns the channel of a player; `None` if nobody knows where it stands.
    pub(crate) fn channel(&self, language: Option<&str>, tile: Option<Tile>) -> Option<String> {
        match self {
            Self::One => Some(topics::GLOBAL_CHAT.to_owned()),
            Self::Language(languages) => {
                let language = language.or(languages.first().map(String::as_str))?;
                Some(topics::global_chat(language))
            }
            Self::Area => {
                let region = Region::from(tile?);
                let part = |at: i32| (at + AREA_REGIONS / 2).div_euclid(AREA_REGIONS);
                let area = format!("area:{}:{}", part(region.x), part(region.z));
                Some(topics::global_chat(&area))
            }
        }
    }
}

/// Returns whether a channel is one of global chat.
pub(crate) fn is_global(channel: &str) -> bool {
    channel
        .strip_prefix(topics::GLOBAL_CHAT)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with(':'))
}

/// Returns the first part of a language's name in lower case: `de` of `de-CH`.
fn primary(name: &str) -> Option<String> {
    let first = name.trim().split(['-', '_']).next().unwrap_or_default();
    let letters = first.chars().all(|letter| letter.is_ascii_alphabetic());
    (letters && (2..=8).contains(&first.len())).then(|| first.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use service_runtime::config::Env;

    use super::*;

    fn read(settings: &[(&str, &str)]) -> Result<GlobalChat, String> {
        let mut reader = Reader::new(Env::from_pairs(settings.iter().copied()));
        let chat = GlobalChat::read(&mut reader);
        reader
            .finish()
            .map(|_| chat)
            .map_err(|error| error.to_string())
    }

    fn languages(list: &str) -> Shards {
        let settings = [
            ("GLOBAL_CHAT_SHARDS", "language"),
            ("GLOBAL_CHAT_LANGUAGES", list),
        ];
        read(&settings).unwrap().shards
    }

    #[test]
    fn without_settings_the_world_is_one_and_nobody_waits() {
        let chat = read(&[]).unwrap();
        assert_eq!(
            (chat.shards.clone(), chat.slow),
            (Shards::One, Duration::ZERO)
        );
        let channel = chat.shards.channel(Some("de"), None);
        assert_eq!(channel.as_deref(), Some(topics::GLOBAL_CHAT));
        for (name, value) in [
            ("GLOBAL_CHAT_SHARDS", "town"),
            ("GLOBAL_CHAT_PER_SECOND", "0"),
            ("GLOBAL_CHAT_SLOW_SECONDS", "3601"),
        ] {
            assert!(read(&[(name, value)]).unwrap_err().contains(name), "{name}");
        }
        let many = vec!["en"; LANGUAGES_MAX + 1].join(",");
        for list in ["en,", "d3", &many] {
            let settings = [
                ("GLOBAL_CHAT_SHARDS", "language"),
                ("GLOBAL_CHAT_LANGUAGES", list),
            ];
            assert!(
                read(&settings)
                    .unwrap_err()
                    .contains("GLOBAL_CHAT_LANGUAGES"),
                "{list}"
            );
        }
    }

    #[test]
    fn a_client_speaks_the_first_of_its_languages_that_has_a_shard() {
        let shards = languages("en, DE,fr");
        let of = |named, accepted| shards.language(named, accepted);
        assert_eq!(of(Some("de-CH"), Some("fr")).as_deref(), Some("de"));
        assert_eq!(
            of(None, Some("xx,fr;q=0.9,de;q=0.8")).as_deref(),
            Some("fr")
        );
        assert_eq!(of(Some("area:0:0"), Some("pt")), None);
        assert_eq!(Shards::One.language(Some("de"), None), None);
        let channel = |language| shards.channel(language, None);
        assert_eq!(channel(Some("de")), Some("chat:global:de".to_owned()));
        assert_eq!(channel(None), Some("chat:global:en".to_owned()));
    }

    #[test]
    fn an_area_is_a_square_around_the_origin_and_goes_on_below_zero() {
        let at = |x, z| Shards::Area.channel(None, Some(Tile::new(x, z)));
        let middle = at(0, 0);
        assert_eq!(middle.as_deref(), Some("chat:global:area:0:0"));
        for (x, z, same) in [(255, -256, true), (256, 0, false), (0, -257, false)] {
            assert_eq!(at(x, z) == middle, same, "{x}:{z}");
        }
        assert_eq!(Shards::Area.channel(None, None), None);
        assert!(at(i32::MAX, i32::MIN).is_some());
    }

    #[test]
    fn channels_of_global_chat_are_told_from_others() {
        for (channel, global) in [
            ("chat:global", true),
            ("chat:global:de", true),
            ("chat:globality", false),
            ("chat:region:0:0", false),
        ] {
            assert_eq!(is_global(channel), global, "{channel}");
        }
    }
}
