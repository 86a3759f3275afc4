//! Bits in bytes, the highest bit of a byte first.

/// Writes bits.
#[derive(Debug, Default)]
pub struct BitWriter {
    bytes: Vec<u8>,
    /// The last bits, which are no whole byte yet; above them bits that are written.
    last: u64,
    /// Number of the last bits.
    count: u32,
}

impl BitWriter {
    /// Appends the lowest `count` bits of `value`, at most 32, the highest of them first.
    pub fn put(&mut self, value: u32, count: u32) {
        let bits = u64::from(value) & ((1 << count) - 1);
        self.last = self.last << count | bits;
        self.count += count;
        while self.count >= 8 {
            self.count -= 8;
            self.bytes.push((self.last >> self.count) as u8);
        }
    }

    /// Returns the bytes; the rest of the last one is zero.
    pub fn finish(mut self) -> Vec<u8> {
        if self.count > 0 {
            self.bytes.push((self.last << (8 - self.count)) as u8);
        }
        self.bytes
    }
}

/// Reads what [`BitWriter`] wrote.
#[derive(Debug)]
pub struct BitReader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> BitReader<'a> {
    /// Reads from the first bit on.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// Returns the next `count` bits, at most 32; `None`: there are fewer.
    pub fn take(&mut self, count: u32) -> Option<u32> {
        let (first, inside) = (self.at / 8, self.at % 8);
        let end = inside + count as usize;
        let bytes = self.bytes.get(first..first + end.div_ceil(8))?;
        let whole = bytes
            .iter()
            .fold(0_u64, |whole, byte| whole << 8 | u64::from(*byte));
        self.at += count as usize;
        let value = whole >> (8 * bytes.len() - end) & ((1 << count) - 1);
        u32::try_from(value).ok()
    }

    /// Returns the bytes behind the last one of which a bit was taken.
    pub fn rest(&self) -> &'a [u8] {
        self.bytes.get(self.at.div_ceil(8)..).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_come_back_as_they_went() {
        let mut writer = BitWriter::default();
        for (value, count) in [(0, 1), (0b101, 3), (0x3f, 6), (0xdead_beef, 32)] {
            writer.put(value, count);
        }
        let mut bytes = writer.finish();
        assert_eq!(bytes.len(), 6);
        bytes.push(7);
        let mut reader = BitReader::new(&bytes);
        assert_eq!(reader.take(1), Some(0));
        assert_eq!(reader.take(3), Some(0b101));
        assert_eq!(reader.take(6), Some(0x3f));
        assert_eq!(reader.take(32), Some(0xdead_beef));
        assert_eq!(reader.rest(), [7]);
        assert_eq!(reader.take(32), None);
    }
}
