//! Writes sections. Numbers stand as LEB128, signed ones in zigzag.

use bytes::{BufMut, BytesMut};
use world::{Chunk, Field, Tile, geometry::tile::CHUNK_TILES};

use super::{BitWriter, ELSEWHERE, FIELDS, KINDS, NEAR_TILES, UPDATE, list, section, step, value};

/// A changed field; `None`: it goes.
pub type Change<'a> = (&'a str, Option<&'a Field>);

/// One chunk's section. Numbers grow within each list.
#[derive(Debug, Default)]
pub struct ChunkSection<'a> {
    /// The chunk.
    pub at: Chunk,
    /// `enter` is all that is in the chunk.
    pub full: bool,
    /// Numbers no longer in it.
    pub leave: Vec<u32>,
    /// Numbers new in it.
    pub enter: Vec<(u32, Tile)>,
    /// Numbers that moved within it.
    pub moved: Vec<(u32, Tile)>,
    /// Numbers with changed fields.
    pub fields: Vec<(u32, Vec<Change<'a>>)>,
    /// Hits, shown once.
    pub hits: Vec<Vec<Change<'a>>>,
}

/// A player as a client of a near section knows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Near {
    /// Its number.
    pub number: u32,
    /// Its tile.
    pub tile: Tile,
}

/// Appends an unsigned number.
pub fn number(out: &mut BytesMut, mut number: u64) {
    while number >= 0x80 {
        out.put_u8((number & 0x7f) as u8 | 0x80);
        number >>= 7;
    }
    out.put_u8(number as u8);
}

/// Appends a signed number.
pub fn signed(out: &mut BytesMut, value: i64) {
    number(out, ((value << 1) ^ (value >> 63)).cast_unsigned());
}

/// Appends the begin of a frame with an update, whose tick and sections follow.
pub fn begin(out: &mut BytesMut, seq: u64) {
    out.put_u8(UPDATE);
    number(out, seq);
}

fn count(out: &mut BytesMut, items: usize) {
    number(out, items as u64);
}

fn text(out: &mut BytesMut, text: &str) {
    count(out, text.len());
    out.put_slice(text.as_bytes());
}

/// Returns the bytes of a UUID in its usual text: lower case, with hyphens.
fn uuid(text: &str) -> Option<[u8; 16]> {
    let bytes = text.as_bytes();
    if bytes.len() != 36 {
        return None;
    }
    let mut out = [0; 16];
    let mut digits = 0;
    for (at, byte) in bytes.iter().enumerate() {
        let digit = match (at, byte) {
            (8 | 13 | 18 | 23, b'-') => continue,
            (8 | 13 | 18 | 23, _) => return None,
            (_, b'0'..=b'9') => byte - b'0',
            (_, b'a'..=b'f') => byte - b'a' + 10,
            _ => return None,
        };
        out[digits / 2] = out[digits / 2] << 4 | digit;
        digits += 1;
    }
    Some(out)
}

fn text_value(out: &mut BytesMut, of: &str) {
    if let Some(bytes) = uuid(of) {
        out.put_u8(value::UUID);
        out.put_slice(&bytes);
    } else {
        out.put_u8(value::TEXT);
        text(out, of);
    }
}

/// Appends a word by its place in `table`, or 0 and its text.
fn word(out: &mut BytesMut, table: &[&str], word: &str) {
    let known = table.iter().skip(1).position(|known| *known == word);
    match known {
        Some(at) => count(out, at + 1),
        None => {
            out.put_u8(0);
            text(out, word);
        }
    }
}

fn changes(out: &mut BytesMut, fields: &[Change<'_>]) {
    count(out, fields.len());
    for (name, field) in fields {
        word(out, &FIELDS, name);
        match field {
            None => out.put_u8(value::REMOVED),
            Some(Field::Bool(false)) => out.put_u8(value::FALSE),
            Some(Field::Bool(true)) => out.put_u8(value::TRUE),
            Some(Field::Int(number)) => {
                out.put_u8(value::INT);
                signed(out, *number);
            }
            Some(Field::Text(text)) => text_value(out, text),
        }
    }
}

fn chunk_of(out: &mut BytesMut, chunk: Chunk) {
    signed(out, i64::from(chunk.x));
    signed(out, i64::from(chunk.z));
}

fn place(out: &mut BytesMut, chunk: Chunk, tile: Tile) {
    if Chunk::from(tile) == chunk {
        let inside = tile.z.rem_euclid(CHUNK_TILES) * CHUNK_TILES + tile.x.rem_euclid(CHUNK_TILES);
        out.put_u8(inside as u8);
    } else {
        out.put_u8(ELSEWHERE);
        signed(out, i64::from(tile.x));
        signed(out, i64::from(tile.z));
    }
}

/// Appends the section that says which chunks are out of sight.
pub fn gone(out: &mut BytesMut, chunks: &[Chunk]) {
    out.put_u8(section::GONE);
    count(out, chunks.len());
    for chunk in chunks {
        chunk_of(out, *chunk);
    }
}

/// Appends the section that says what a number stands for.
pub fn name(out: &mut BytesMut, of: u32, id: &str, kind: &str, fields: &[Change<'_>]) {
    out.put_u8(section::NAME);
    number(out, u64::from(of));
    text_value(out, id);
    word(out, &KINDS, kind);
    changes(out, fields);
}

/// Appends the section that says which names are no longer true.
pub fn forget(out: &mut BytesMut, numbers: &[u32]) {
    out.put_u8(section::FORGET);
    count(out, numbers.len());
    for of in numbers {
        number(out, u64::from(*of));
    }
}

/// Appends a list of things, each with the distance of its number from the one before.
fn things<T>(
    out: &mut BytesMut,
    items: &[T],
    of: impl Fn(&T) -> u32,
    mut write: impl FnMut(&mut BytesMut, &T),
) {
    if items.is_empty() {
        return;
    }
    count(out, items.len());
    let mut before = 0;
    for item in items {
        let now = of(item);
        number(out, u64::from(now.wrapping_sub(before)));
        before = now;
        write(out, item);
    }
}

impl ChunkSection<'_> {
    /// Returns whether the section says nothing.
    pub fn is_empty(&self) -> bool {
        !self.full
            && self.leave.is_empty()
            && self.enter.is_empty()
            && self.moved.is_empty()
            && self.fields.is_empty()
            && self.hits.is_empty()
    }

    /// Appends the section.
    pub fn write(&self, out: &mut BytesMut) {
        out.put_u8(section::CHUNK);
        chunk_of(out, self.at);
        let mut flags = 0;
        let lists = [
            (self.full, list::FULL),
            (!self.leave.is_empty(), list::LEAVE),
            (!self.enter.is_empty(), list::ENTER),
            (!self.moved.is_empty(), list::MOVED),
            (!self.fields.is_empty(), list::FIELDS),
            (!self.hits.is_empty(), list::HITS),
        ];
        for (there, bit) in lists {
            if there {
                flags |= bit;
            }
        }
        out.put_u8(flags);
        things(out, &self.leave, |of| *of, |_, _| {});
        for list in [&self.enter, &self.moved] {
            things(
                out,
                list,
                |(of, _)| *of,
                |out, (_, tile)| {
                    place(out, self.at, *tile);
                },
            );
        }
        things(
            out,
            &self.fields,
            |(of, _)| *of,
            |out, (_, fields)| {
                changes(out, fields);
            },
        );
        if !self.hits.is_empty() {
            count(out, self.hits.len());
            for hit in &self.hits {
                changes(out, hit);
            }
        }
    }
}

/// Returns the place of a tile in the square of a near section; `None`: outside.
fn in_square(origin: Tile, tile: Tile) -> Option<(u32, u32)> {
    let side = |at: i32, from: i32| {
        let distance = at.checked_sub(from)?;
        (0..NEAR_TILES)
            .contains(&distance)
            .then_some(distance.cast_unsigned())
    };
    Some((side(tile.x, origin.x)?, side(tile.z, origin.z)?))
}

/// Appends the section of the nearest players. `before` is the client's list and `now` the tile of
/// each of them; `None`: it goes from the list. `added` comes behind the list. Every tile lies in
/// the square of [`NEAR_TILES`] whose south-west tile is `origin`; a listed player elsewhere goes
/// from the list. `anew`: the client forgets the list that it has, and `before` is empty.
///
/// Returns the client's list afterwards.
pub fn near(
    out: &mut BytesMut,
    origin: Tile,
    anew: bool,
    before: &[(Near, Option<Tile>)],
    added: &[Near],
) -> Vec<Near> {
    out.put_u8(section::NEAR);
    signed(out, i64::from(origin.x));
    signed(out, i64::from(origin.z));
    out.put_u8(u8::from(anew));
    let mut list = Vec::with_capacity(before.len() + added.len());
    let mut bits = BitWriter::default();
    for (was, now) in before {
        let place = now.and_then(|tile| Some((tile, in_square(origin, tile)?)));
        let Some((tile, (x, z))) = place else {
            bits.put(step::GOES, 3);
            continue;
        };
        let number = was.number;
        list.push(Near { number, tile });
        let by = (
            tile.x.wrapping_sub(was.tile.x),
            tile.z.wrapping_sub(was.tile.z),
        );
        if by == (0, 0) {
            bits.put(step::STANDS, 1);
        } else if let Some(direction) = step::DIRECTIONS.iter().position(|way| *way == by) {
            bits.put(step::ONE << 3 | direction as u32, 5);
        } else {
            bits.put(step::FAR << 12 | x << 6 | z, 15);
        }
    }
    out.put_slice(&bits.finish());
    let fits = |near: &&Near| in_square(origin, near.tile).is_some();
    let added: Vec<&Near> = added.iter().filter(fits).collect();
    count(out, added.len());
    for near in added {
        number(out, u64::from(near.number));
        if let Some((x, z)) = in_square(origin, near.tile) {
            out.put_u8(x as u8);
            out.put_u8(z as u8);
        }
        list.push(*near);
    }
    list
}
