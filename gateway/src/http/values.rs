//! Values in requests and answers. Each checks a client's input and writes its own schema, by the
//! same numbers.

use std::borrow::Cow;

use proto::client::limits::{NAME_CHARS_MAX, NAME_CHARS_MIN};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

use super::problem::Problem;
use crate::clock;

/// Gives a type a schema that stands where it is used.
macro_rules! schema {
    ($name:ident $(<$(const $limit:ident: $kind:ty),+>)?, $schema:expr) => {
        impl $(<$(const $limit: $kind),+>)? JsonSchema for $name $(<$($limit),+>)? {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                $schema
            }
        }
    };
}

/// A moment in ISO 8601, UTC.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Time(String);

schema!(
    Time,
    json_schema!({"type": "string", "format": "date-time"})
);

impl Time {
    /// Returns the moment so many milliseconds after 1970.
    pub(crate) fn of(ms: u64) -> Self {
        Self(clock::iso(ms))
    }

    /// Returns the moment so many milliseconds after 1970; 0: never.
    pub(crate) fn unless_never(ms: u64) -> Option<Self> {
        (ms != 0).then(|| Self::of(ms))
    }

    /// Returns this moment.
    pub(crate) fn now() -> Self {
        Self(clock::now_iso())
    }
}

/// Always `true`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Yes;

schema!(Yes, json_schema!({"type": "boolean", "const": true}));

impl Serialize for Yes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bool(true)
    }
}

/// The answer, and `success: true`.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
pub(crate) struct Success<T> {
    success: Yes,
    #[serde(flatten)]
    answer: T,
}

/// Adds `success: true` to an answer.
pub(crate) fn success<T>(answer: T) -> axum::Json<Success<T>> {
    axum::Json(Success::of(answer))
}

impl<T> Success<T> {
    /// Adds `success: true` to an answer.
    pub(crate) fn of(answer: T) -> Self {
        Self {
            success: Yes,
            answer,
        }
    }
}

/// A sentence for people.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Message {
    #[schemars(example = &"Done.")]
    pub(crate) message: String,
}

/// A whole number within limits, both included.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Within<const LEAST: u32, const MOST: u32>(u32);

schema!(
    Within<const LEAST: u32, const MOST: u32>,
    json_schema!({"type": "integer", "minimum": LEAST, "maximum": MOST})
);

impl<const LEAST: u32, const MOST: u32> Within<LEAST, MOST> {
    pub(crate) const fn get(self) -> u32 {
        self.0
    }
}

impl<'de, const LEAST: u32, const MOST: u32> Deserialize<'de> for Within<LEAST, MOST> {
    fn deserialize<D: Deserializer<'de>>(value: D) -> Result<Self, D::Error> {
        let number = u32::deserialize(value)?;
        if (LEAST..=MOST).contains(&number) {
            return Ok(Self(number));
        }
        Err(D::Error::custom(format!("must be {LEAST} to {MOST}")))
    }
}

/// A whole number that is at most so far from 0, both sides included.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Around<const MOST: i32>(i32);

schema!(
    Around<const MOST: i32>,
    json_schema!({"type": "integer", "minimum": -MOST, "maximum": MOST, "examples": [0]})
);

impl<const MOST: i32> Around<MOST> {
    pub(crate) const fn get(self) -> i32 {
        self.0
    }
}

impl<'de, const MOST: i32> Deserialize<'de> for Around<MOST> {
    fn deserialize<D: Deserializer<'de>>(value: D) -> Result<Self, D::Error> {
        let number = i32::deserialize(value)?;
        if (-MOST..=MOST).contains(&number) {
            return Ok(Self(number));
        }
        Err(D::Error::custom(format!("must be {} to {MOST}", -MOST)))
    }
}

/// A text of at most so many characters.
#[derive(Debug, Clone, Default)]
pub(crate) struct Short<const MOST: usize>(pub(crate) String);

schema!(
    Short<const MOST: usize>,
    json_schema!({"type": "string", "maxLength": MOST})
);

impl<'de, const MOST: usize> Deserialize<'de> for Short<MOST> {
    fn deserialize<D: Deserializer<'de>>(value: D) -> Result<Self, D::Error> {
        let text = String::deserialize(value)?;
        if text.chars().count() > MOST {
            let why = format!("may have at most {MOST} characters");
            return Err(D::Error::custom(why));
        }
        Ok(Self(text))
    }
}

/// A text of at most so many characters, without line ends and other controls.
#[derive(Debug, Clone, Default)]
pub(crate) struct Line<const MOST: usize>(pub(crate) String);

schema!(
    Line<const MOST: usize>,
    json_schema!({
        "type": "string",
        "maxLength": MOST,
        "pattern": r"^[^\x00-\x1f\x7f-\x9f]*$",
    })
);

impl<'de, const MOST: usize> Deserialize<'de> for Line<MOST> {
    fn deserialize<D: Deserializer<'de>>(value: D) -> Result<Self, D::Error> {
        let text = String::deserialize(value)?;
        if text.chars().count() > MOST || text.chars().any(char::is_control) {
            let why = format!("at most {MOST} characters of one line");
            return Err(D::Error::custom(why));
        }
        Ok(Self(text))
    }
}

/// A name that a client wants for a character.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct CharacterName(String);

schema!(
    CharacterName,
    json_schema!({
        "type": "string",
        "minLength": NAME_CHARS_MIN,
        "maxLength": NAME_CHARS_MAX,
        "examples": ["Ann"],
        "description": format!(
            "{NAME_CHARS_MIN} to {NAME_CHARS_MAX} letters, digits, spaces, - and _, two of them \
             letters or digits; letters are those of one script of any language, and no name of \
             staff. Kept in Unicode's form NFKC, trimmed, with single spaces. Unique whatever the \
             case, and none that looks like another."
        ),
    })
);

impl CharacterName {
    /// Returns the name as the store keeps it.
    ///
    /// # Errors
    /// `invalid_name` where no character can have it.
    pub(crate) fn checked(&self) -> Result<String, Problem> {
        let name = proto::client::names::character_name(&self.0);
        name.map_err(|why| Problem::invalid_name(why.to_string()))
    }

    /// Returns the name as the client wrote it.
    pub(crate) fn into_text(self) -> String {
        self.0
    }
}
