//! MessagePack to JSON text, so that one reader judges both encodings.
//!
//! Always: the reader takes only values that JSON has. It refuses binary data, extensions, keys
//! that are not texts, a key that stands twice, and numbers that are not finite. A declared length
//! allocates nothing.

use std::collections::BTreeSet;

use super::{decode::too_deep, limits::CLIENT_NESTING_MAX};

/// An envelope: all but its data as JSON text, and its data as they are.
pub(super) struct Envelope<'a> {
    /// The text has null for the data. It ends at the fault, if there is one.
    pub(super) json: Vec<u8>,
    pub(super) data: Option<&'a [u8]>,
    pub(super) fault: Option<String>,
}

/// Reads an envelope. The data are checked like the rest, and not translated.
pub(super) fn envelope(bytes: &[u8]) -> Envelope<'_> {
    let mut writer = Writer {
        rest: bytes,
        out: Vec::with_capacity(128),
        keeps_data: true,
        mute: false,
        data: None,
    };
    let mut fault = writer.value(1).err();
    if fault.is_none() && !writer.rest.is_empty() {
        fault = Some("something follows the message".to_owned());
    }
    Envelope {
        json: writer.out,
        data: writer.data,
        fault,
    }
}

/// Returns the data of a message as JSON text.
///
/// # Errors
/// Says what JSON cannot say, or what ends too early.
pub(super) fn data_to_json(bytes: &[u8]) -> Result<Vec<u8>, String> {
    let mut writer = Writer {
        rest: bytes,
        out: Vec::with_capacity(bytes.len() * 2),
        keeps_data: false,
        mute: false,
        data: None,
    };
    writer.value(2)?;
    if !writer.rest.is_empty() {
        return Err("something follows the data".to_owned());
    }
    Ok(writer.out)
}

struct Writer<'a> {
    rest: &'a [u8],
    out: Vec<u8>,
    /// Whether the value of `data` in the outermost map is kept as it is.
    keeps_data: bool,
    /// Whether nothing is written just now.
    mute: bool,
    data: Option<&'a [u8]>,
}

type Written = Result<(), String>;

impl<'a> Writer<'a> {
    fn value(&mut self, depth: usize) -> Written {
        let [marker] = self.array()?;
        match marker {
            0x00..=0x7f => self.put(marker),
            0xe0..=0xff => self.put(marker.cast_signed()),
            0x80..=0x8f => self.map(usize::from(marker & 0x0f), depth),
            0x90..=0x9f => self.list(usize::from(marker & 0x0f), depth),
            0xa0..=0xbf => self.put_text(usize::from(marker & 0x1f)),
            0xc0 => self.raw(b"null"),
            0xc1 => Err("0xc1 is no MessagePack".to_owned()),
            0xc2 => self.raw(b"false"),
            0xc3 => self.raw(b"true"),
            0xc4..=0xc6 => Err("binary data are not taken".to_owned()),
            0xc7..=0xc9 | 0xd4..=0xd8 => Err("extension types are not taken".to_owned()),
            0xca => {
                let number = f32::from_be_bytes(self.array()?);
                self.float(f64::from(number))
            }
            0xcb => {
                let number = f64::from_be_bytes(self.array()?);
                self.float(number)
            }
            0xcc..=0xd3 => self.integer(marker),
            0xd9..=0xdb => {
                let length = self.length(marker - 0xd9)?;
                self.put_text(length)
            }
            0xdc | 0xdd => {
                let length = self.length(marker - 0xdb)?;
                self.list(length, depth)
            }
            0xde | 0xdf => {
                let length = self.length(marker - 0xdd)?;
                self.map(length, depth)
            }
        }
    }

    fn integer(&mut self, marker: u8) -> Written {
        macro_rules! number {
            ($type:ty) => {{
                let number = <$type>::from_be_bytes(self.array()?);
                self.put(number)
            }};
        }
        match marker {
            0xcc => number!(u8),
            0xcd => number!(u16),
            0xce => number!(u32),
            0xcf => number!(u64),
            0xd0 => number!(i8),
            0xd1 => number!(i16),
            0xd2 => number!(i32),
            _ => number!(i64),
        }
    }

    fn float(&mut self, number: f64) -> Written {
        if !number.is_finite() {
            return Err("a number must be finite".to_owned());
        }
        self.put(number)
    }

    fn list(&mut self, length: usize, depth: usize) -> Written {
        self.enter(b'[', depth)?;
        for index in 0..length {
            self.comma(index)?;
            self.value(depth + 1)?;
        }
        self.raw(b"]")
    }

    fn map(&mut self, length: usize, depth: usize) -> Written {
        self.enter(b'{', depth)?;
        let mut keys = BTreeSet::new();
        for index in 0..length {
            self.comma(index)?;
            let key = self.key()?;
            if !keys.insert(key) {
                return Err(format!("{key:?} stands twice"));
            }
            self.put(key)?;
            self.raw(b":")?;
            if self.keeps_data && depth == 1 && key == "data" {
                self.keep_data()?;
            } else {
                self.value(depth + 1)?;
            }
        }
        self.raw(b"}")
    }

    fn keep_data(&mut self) -> Written {
        let before = self.rest;
        self.mute = true;
        self.value(2)?;
        self.mute = false;
        self.data = before.get(..before.len() - self.rest.len());
        self.raw(b"null")
    }

    fn enter(&mut self, bracket: u8, depth: usize) -> Written {
        if depth > CLIENT_NESTING_MAX {
            return Err(too_deep());
        }
        self.raw(&[bracket])
    }

    fn comma(&mut self, index: usize) -> Written {
        if index > 0 { self.raw(b",") } else { Ok(()) }
    }

    fn key(&mut self) -> Result<&'a str, String> {
        let [marker] = self.array()?;
        let length = match marker {
            0xa0..=0xbf => usize::from(marker & 0x1f),
            0xd9..=0xdb => self.length(marker - 0xd9)?,
            _ => return Err("a key must be a string".to_owned()),
        };
        self.text(length)
    }

    fn put_text(&mut self, length: usize) -> Written {
        let text = self.text(length)?;
        self.put(text)
    }

    fn text(&mut self, length: usize) -> Result<&'a str, String> {
        let bytes = self.take(length)?;
        std::str::from_utf8(bytes).map_err(|_| "a string must be UTF-8".to_owned())
    }

    /// Reads a length of one, two or four bytes.
    fn length(&mut self, size: u8) -> Result<usize, String> {
        let length = match size {
            0 => u32::from(u8::from_be_bytes(self.array()?)),
            1 => u32::from(u16::from_be_bytes(self.array()?)),
            _ => u32::from_be_bytes(self.array()?),
        };
        usize::try_from(length).map_err(|_| early())
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], String> {
        let (head, rest) = self.rest.split_first_chunk().ok_or_else(early)?;
        self.rest = rest;
        Ok(*head)
    }

    fn take(&mut self, length: usize) -> Result<&'a [u8], String> {
        let (head, rest) = self.rest.split_at_checked(length).ok_or_else(early)?;
        self.rest = rest;
        Ok(head)
    }

    fn put(&mut self, value: impl serde::Serialize) -> Written {
        if self.mute {
            return Ok(());
        }
        serde_json::to_writer(&mut self.out, &value).map_err(|error| error.to_string())
    }

    fn raw(&mut self, text: &[u8]) -> Written {
        if !self.mute {
            self.out.extend_from_slice(text);
        }
        Ok(())
    }
}

fn early() -> String {
    "the message ends too early".to_owned()
}
