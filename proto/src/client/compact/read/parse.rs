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

/// Reads values from the begin of what is left of a frame.
pub(super) struct Reader<'a> {
    rest: &'a [u8],
}

type Read<T> = Result<T, Fault>;

/// Reads a whole frame for a client whose near list has `listed` players.
pub(super) fn frame(bytes: &[u8], listed: usize) -> Read<(u64, Frame)> {
    let mut reader = Reader::new(bytes);
    let (seq, tick) = reader.begin()?;
    let mut frame = Frame {
        tick,
        ..Frame::default()
    };
    while let Some(section) = reader.section()? {
        match section {
            section::GONE => reader.gone(|chunk| frame.gone.push(chunk))?,
            section::FORGET => reader.forget(|number| frame.forget.push(number))?,
            section::NAME => frame.names.push(reader.name()?),
            section::CHUNK => frame.chunks.push(reader.chunk_news()?),
            section::NEAR if frame.near.is_none() => frame.near = Some(reader.near(listed)?),
            other => return Err(Fault::Unknown("section", u64::from(other))),
        }
    }
    Ok((seq, frame))
}

impl<'a> Reader<'a> {
    /// Reads a frame from its first byte on.
    pub(super) fn new(frame: &'a [u8]) -> Self {
        Self { rest: frame }
    }

    /// Reads the begin of a frame. Returns its `seq` and tick.
    pub(super) fn begin(&mut self) -> Read<(u64, u64)> {
        let first = self.byte()?;
        if first != UPDATE {
            return Err(Fault::Unknown("first byte", u64::from(first)));
        }
        Ok((self.number()?, self.number()?))
    }

    /// Reads the first byte of the next section; `None`: there is none.
    pub(super) fn section(&mut self) -> Read<Option<u8>> {
        match self.rest.is_empty() {
            true => Ok(None),
            false => self.byte().map(Some),
        }
    }

    pub(super) fn gone(&mut self, mut each: impl FnMut(Chunk)) -> Read<()> {
        for _ in 0..self.count()? {
            each(self.chunk()?);
        }
        Ok(())
    }

    pub(super) fn forget(&mut self, mut each: impl FnMut(u32)) -> Read<()> {
        for _ in 0..self.count()? {
            each(self.small()?);
        }
        Ok(())
    }

    /// Reads a name section. Returns its number, and whether it names the thing with this id.
    pub(super) fn is_name(&mut self, id: &str) -> Read<(u32, bool)> {
        let number = self.small()?;
        let named = match self.byte()? {
            value::TEXT => {
                let length = self.count()?;
                self.bytes(length)? == id.as_bytes()
            }
            value::UUID => uuid(self.bytes(16)?).eq(id.chars()),
            other => return Err(Fault::Unknown("text", u64::from(other))),
        };
        self.pass_word(&KINDS)?;
        self.pass_fields()?;
        Ok((number, named))
    }

    /// Reads a chunk section. Returns the place of a number in it.
    pub(super) fn find_in_chunk(&mut self, number: Option<u32>) -> Read<Option<Tile>> {
        let at = self.chunk()?;
        let flags = self.flags()?;
        let mut found = None;
        if flags & list::LEAVE != 0 {
            self.things(|_, _| Ok(()))?;
        }
        for places in [list::ENTER, list::MOVED] {
            if flags & places != 0 {
                self.things(|reader, of| {
                    let tile = reader.place(at)?;
                    if Some(of) == number {
                        found = Some(tile);
                    }
                    Ok(())
                })?;
            }
        }
        if flags & list::FIELDS != 0 {
            self.things(|reader, _| reader.pass_fields())?;
        }
        if flags & list::HITS != 0 {
            for _ in 0..self.count()? {
                self.pass_fields()?;
            }
        }
        Ok(found)
    }

    fn pass_text(&mut self) -> Read<()> {
        let length = self.count()?;
        self.bytes(length).map(|_| ())
    }

    fn pass_word(&mut self, table: &[&str]) -> Read<()> {
        match self.number()? {
            0 => self.pass_text(),
            at if at < table.len() as u64 => Ok(()),
            at => Err(Fault::Unknown("word", at)),
        }
    }

    fn pass_fields(&mut self) -> Read<()> {
        for _ in 0..self.count()? {
            self.pass_word(&FIELDS)?;
            match self.byte()? {
                value::REMOVED | value::FALSE | value::TRUE => {}
                value::INT => drop(self.signed()?),
                value::TEXT => self.pass_text()?,
                value::UUID => drop(self.bytes(16)?),
                other => return Err(Fault::Unknown("value", u64::from(other))),
            }
        }
        Ok(())
    }

    fn byte(&mut self) -> Read<u8> {
        let (first, rest) = self.rest.split_first().ok_or(Fault::Short)?;
        self.rest = rest;
        Ok(*first)
    }

    fn bytes(&mut self, length: usize) -> Read<&'a [u8]> {
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
        Ok(uuid(self.bytes(16)?).collect())
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

    fn flags(&mut self) -> Read<u8> {
        let flags = self.byte()?;
        let lists = list::LEAVE | list::ENTER | list::MOVED | list::FIELDS | list::HITS;
        match flags & !(list::FULL | lists) {
            0 => Ok(flags),
            unknown => Err(Fault::Unknown("flag", u64::from(unknown))),
        }
    }

    fn chunk_news(&mut self) -> Read<ChunkNews> {
        let at = self.chunk()?;
        let flags = self.flags()?;
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

    pub(super) fn near(&mut self, listed: usize) -> Read<NearNews> {
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

/// Returns the usual text of a UUID.
fn uuid(bytes: &[u8]) -> impl Iterator<Item = char> {
    bytes.iter().enumerate().flat_map(|(at, byte)| {
        let hyphen = matches!(at, 4 | 6 | 8 | 10).then_some('-');
        let digit = |half: u8| char::from_digit(u32::from(half), 16);
        let halves = [digit(byte >> 4), digit(byte & 15)];
        hyphen.into_iter().chain(halves.into_iter().flatten())
    })
}
