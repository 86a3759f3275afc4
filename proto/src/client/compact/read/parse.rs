//! Bytes to sections. Nothing here knows what the client has.

use serde_json::{Map, Value};
use world::{Chunk, Tile, geometry::tile::CHUNK_TILES};

use super::{
    super::{BitReader, ELSEWHERE, FIELDS, KINDS, UPDATE, list, section, step, value},
    Fault, Named,
};

/// Chunk section as it came.
#[derive(Debug, Default)]
pub(super) struct ChunkNews {
    pub(super) at: Chunk,
    pub(super) full: bool,
    pub(super) leave: Vec<u32>,
    pub(super) enter: Vec<(u32, Tile)>,
    pub(super) moved: Vec<(u32, Tile)>,
    pub(super) fields: Vec<(u32, Map<String, Value>)>,
    pub(super) hits: Vec<Map<String, Value>>,
}

/// Move of one listed player.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    Stands,
    By(i32, i32),
    Goes,
    To(Tile),
}

/// Near section as it came.
#[derive(Debug, Default)]
pub(super) struct NearNews {
    pub(super) anew: bool,
    pub(super) steps: Vec<Step>,
    pub(super) added: Vec<(u32, Tile)>,
}

/// A frame as it came.
#[derive(Debug, Default)]
pub(super) struct Frame {
    pub(super) tick: u64,
    pub(super) gone: Vec<Chunk>,
    pub(super) forget: Vec<u32>,
    pub(super) names: Vec<(u32, Named)>,
    pub(super) chunks: Vec<ChunkNews>,
    pub(super) near: Option<NearNews>,
}

struct Reader<'a> {
    rest: &'a [u8],
}

type Read<T> = Result<T, Fault>;

/// Reads a whole frame for a client whose near list has `listed` players.
pub(super) fn frame(bytes: &[u8], listed: usize) -> Read<(u64, Frame)> {
    let mut reader = Reader { rest: bytes };
    let first = reader.byte()?;
    if first != UPDATE {
        return Err(Fault::Unknown("first byte", u64::from(first)));
    }
    let seq = reader.number()?;
    let mut frame = Frame {
        tick: reader.number()?,
        ..Frame::default()
    };
    while !reader.rest.is_empty() {
        match reader.byte()? {
            section::GONE => {
                let chunks = reader.count()?;
                for _ in 0..chunks {
                    frame.gone.push(reader.chunk()?);
                }
            }
            section::FORGET => {
                for _ in 0..reader.count()? {
                    frame.forget.push(reader.small()?);
                }
            }
            section::NAME => frame.names.push(reader.name()?),
            section::CHUNK => frame.chunks.push(reader.chunk_news()?),
            section::NEAR if frame.near.is_none() => frame.near = Some(reader.near(listed)?),
            other => return Err(Fault::Unknown("section", u64::from(other))),
        }
    }
    Ok((seq, frame))
}

impl Reader<'_> {
    fn byte(&mut self) -> Read<u8> {
        let (first, rest) = self.rest.split_first().ok_or(Fault::Short)?;
        self.rest = rest;
        Ok(*first)
    }

    fn bytes(&mut self, length: usize) -> Read<&[u8]> {
        let (bytes, rest) = self.rest.split_at_checked(length).ok_or(Fault::Short)?;
        self.rest = rest;
        Ok(bytes)
    }

    fn number(&mut self) -> Read<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7f);
            if shift == 63 && bits > 1 {
                return Err(Fault::Large);
            }
            number |= bits << shift;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err(Fault::Large)
    }

    fn small(&mut self) -> Read<u32> {
        u32::try_from(self.number()?).map_err(|_| Fault::Large)
    }

    fn signed(&mut self) -> Read<i64> {
        let number = self.number()?;
        Ok((number >> 1).cast_signed() ^ -(number & 1).cast_signed())
    }

    fn coordinate(&mut self) -> Read<i32> {
        i32::try_from(self.signed()?).map_err(|_| Fault::Large)
    }

    /// Reads a number of items, each of which takes a byte at least.
    fn count(&mut self) -> Read<usize> {
        let count = usize::try_from(self.number()?).map_err(|_| Fault::Large)?;
        if count > self.rest.len() {
            return Err(Fault::Short);
        }
        Ok(count)
    }

    fn text(&mut self) -> Read<String> {
        let length = self.count()?;
        let bytes = self.bytes(length)?.to_vec();
        String::from_utf8(bytes).map_err(|_| Fault::Text)
    }

    fn uuid(&mut self) -> Read<String> {
        let mut text = String::with_capacity(36);
        for (at, byte) in self.bytes(16)?.iter().enumerate() {
            if matches!(at, 4 | 6 | 8 | 10) {
                text.push('-');
            }
            for half in [byte >> 4, byte & 15] {
                text.extend(char::from_digit(u32::from(half), 16));
            }
        }
        Ok(text)
    }

    fn text_value(&mut self) -> Read<String> {
        match self.byte()? {
            value::TEXT => self.text(),
            value::UUID => self.uuid(),
            other => Err(Fault::Unknown("text", u64::from(other))),
        }
    }

    fn word(&mut self, table: &[&str]) -> Read<String> {
        let at = self.number()?;
        if at == 0 {
            return self.text();
        }
        let word = usize::try_from(at).ok().and_then(|at| table.get(at));
        word.map(|word| (*word).to_owned())
            .ok_or(Fault::Unknown("word", at))
    }

    fn fields(&mut self) -> Read<Map<String, Value>> {
        let mut fields = Map::new();
        for _ in 0..self.count()? {
            let name = self.word(&FIELDS)?;
            let value = match self.byte()? {
                value::REMOVED => Value::Null,
                value::FALSE => Value::Bool(false),
                value::TRUE => Value::Bool(true),
                value::INT => Value::from(self.signed()?),
                value::TEXT => Value::String(self.text()?),
                value::UUID => Value::String(self.uuid()?),
                other => return Err(Fault::Unknown("value", u64::from(other))),
            };
            fields.insert(name, value);
        }
        Ok(fields)
    }

    fn chunk(&mut self) -> Read<Chunk> {
        Ok(Chunk {
            x: self.coordinate()?,
            z: self.coordinate()?,
        })
    }

    fn name(&mut self) -> Read<(u32, Named)> {
        let number = self.small()?;
        let named = Named {
            id: self.text_value()?,
            kind: self.word(&KINDS)?,
            fields: self.fields()?,
        };
        Ok((number, named))
    }

    fn place(&mut self, chunk: Chunk) -> Read<Tile> {
        match self.byte()? {
            ELSEWHERE => Ok(Tile {
                x: self.coordinate()?,
                z: self.coordinate()?,
            }),
            inside if inside < ELSEWHERE => {
                let (x, z) = (
                    i32::from(inside) % CHUNK_TILES,
                    i32::from(inside) / CHUNK_TILES,
                );
                let from = |at: i32| at.checked_mul(CHUNK_TILES).ok_or(Fault::Large);
                Ok(Tile {
                    x: from(chunk.x)?.checked_add(x).ok_or(Fault::Large)?,
                    z: from(chunk.z)?.checked_add(z).ok_or(Fault::Large)?,
                })
            }
            other => Err(Fault::Unknown("place", u64::from(other))),
        }
    }

    fn things<T>(&mut self, mut item: impl FnMut(&mut Self, u32) -> Read<T>) -> Read<Vec<T>> {
        let mut items = Vec::new();
        let mut number = 0_u32;
        for _ in 0..self.count()? {
            number = number.wrapping_add(self.small()?);
            items.push(item(self, number)?);
        }
        Ok(items)
    }

    fn chunk_news(&mut self) -> Read<ChunkNews> {
        let at = self.chunk()?;
        let flags = self.byte()?;
        let known =
            list::FULL | list::LEAVE | list::ENTER | list::MOVED | list::FIELDS | list::HITS;
        if flags & !known != 0 {
            return Err(Fault::Unknown("flag", u64::from(flags & !known)));
        }
        let mut news = ChunkNews {
            at,
            full: flags & list::FULL != 0,
            ..ChunkNews::default()
        };
        if flags & list::LEAVE != 0 {
            news.leave = self.things(|_, number| Ok(number))?;
        }
        if flags & list::ENTER != 0 {
            news.enter = self.things(|reader, number| Ok((number, reader.place(at)?)))?;
        }
        if flags & list::MOVED != 0 {
            news.moved = self.things(|reader, number| Ok((number, reader.place(at)?)))?;
        }
        if flags & list::FIELDS != 0 {
            news.fields = self.things(|reader, number| Ok((number, reader.fields()?)))?;
        }
        if flags & list::HITS != 0 {
            for _ in 0..self.count()? {
                news.hits.push(self.fields()?);
            }
        }
        Ok(news)
    }

    fn near(&mut self, listed: usize) -> Read<NearNews> {
        let origin = Tile {
            x: self.coordinate()?,
            z: self.coordinate()?,
        };
        let anew = match self.byte()? {
            0 => false,
            1 => true,
            other => return Err(Fault::Unknown("flag", u64::from(other))),
        };
        let from = |x: u32, z: u32| -> Read<Tile> {
            let side = |from: i32, by: u32| {
                let by = i32::try_from(by).map_err(|_| Fault::Large)?;
                from.checked_add(by).ok_or(Fault::Large)
            };
            Ok(Tile {
                x: side(origin.x, x)?,
                z: side(origin.z, z)?,
            })
        };
        let mut news = NearNews {
            anew,
            ..NearNews::default()
        };
        let mut bits = BitReader::new(self.rest);
        let mut take = |count| bits.take(count).ok_or(Fault::Short);
        for _ in 0..if anew { 0 } else { listed } {
            let step = if take(1)? == 0 {
                Step::Stands
            } else if take(1)? == 0 {
                let way = usize::try_from(take(3)?).map_err(|_| Fault::Large)?;
                let (x, z) = step::DIRECTIONS[way];
                Step::By(x, z)
            } else if take(1)? == 0 {
                Step::Goes
            } else {
                Step::To(from(take(6)?, take(6)?)?)
            };
            news.steps.push(step);
        }
        self.rest = bits.rest();
        for _ in 0..self.count()? {
            let number = self.small()?;
            let (x, z) = (self.byte()?, self.byte()?);
            news.added.push((number, from(x.into(), z.into())?));
        }
        Ok(news)
    }
}
