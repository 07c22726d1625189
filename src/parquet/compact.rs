//! The compact protocol of Thrift, in which Parquet writes its metadata.
//!
//! No length is believed before the bytes are there, and no type before it is the one that the field has.

use super::source::{damaged, require};
use crate::error::Result;
use crate::memory::Vec;

/// How deep values that are skipped may be nested.
const MOST_DEPTH: usize = 32;

/// The type of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// A boolean that is true. In a list, any boolean.
    True = 1,
    /// A boolean that is false.
    False = 2,
    /// An integer of 8 bits.
    Byte = 3,
    /// An integer of 16 bits.
    Short = 4,
    /// An integer of 32 bits.
    Int = 5,
    /// An integer of 64 bits.
    Long = 6,
    /// A double.
    Double = 7,
    /// Bytes or text.
    Binary = 8,
    /// A list.
    List = 9,
    /// A set.
    Set = 10,
    /// A map.
    Map = 11,
    /// A struct.
    Struct = 12,
    /// 16 bytes.
    Uuid = 13,
}

impl Kind {
    fn of(nibble: u8) -> Result<Self> {
        const ALL: [Kind; 13] = [
            Kind::True,
            Kind::False,
            Kind::Byte,
            Kind::Short,
            Kind::Int,
            Kind::Long,
            Kind::Double,
            Kind::Binary,
            Kind::List,
            Kind::Set,
            Kind::Map,
            Kind::Struct,
            Kind::Uuid,
        ];
        let found = usize::from(nibble).checked_sub(1).and_then(|at| ALL.get(at));
        found.copied().ok_or_else(|| damaged("its metadata has a value of no type"))
    }
}

/// A field of a struct.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// Its number.
    pub id: i16,
    /// The type of its value.
    pub kind: Kind,
}

/// What becomes of a field in a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// The copy gets the bytes of the value.
    Copied,
    /// The reader of the value has written it already.
    Written,
    /// The copy doesn't get the field.
    Dropped,
}

/// Reads values from bytes.
#[derive(Clone, Debug)]
pub struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

#[expect(clippy::missing_errors_doc, reason = "each fails where the bytes can't be what it reads")]
impl<'a> Reader<'a> {
    /// Begins to read bytes.
    #[must_use]
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// How many bytes are read.
    #[must_use]
    pub fn position(&self) -> usize {
        self.at
    }

    /// The bytes between a position and this one.
    #[must_use]
    pub fn since(&self, start: usize) -> &'a [u8] {
        &self.bytes[start..self.at]
    }

    /// Reads a struct: each field with a function, which reads or skips its value. Fields come in the
    /// order of their numbers, as all writers have them.
    pub fn walk(&mut self, mut read: impl FnMut(&mut Self, Field) -> Result<()>) -> Result<()> {
        let mut last = 0;
        loop {
            let head = self.byte()?;
            if head == 0 {
                return Ok(());
            }
            let kind = Kind::of(head & 15)?;
            let id = match head >> 4 {
                0 => i16::try_from(self.zigzag()?).ok(),
                more => i16::checked_add(last, i16::from(more)),
            };
            let id = id.filter(|&id| id > last);
            last = id.ok_or_else(|| damaged("a field of its metadata is out of order"))?;
            read(self, Field { id: last, kind })?;
        }
    }

    /// Reads a struct and copies the fields that the function keeps.
    pub fn copy(
        &mut self,
        out: &mut Vec<u8>,
        mut read: impl FnMut(&mut Self, &mut Vec<u8>, Field) -> Result<Keep>,
    ) -> Result<()> {
        let mut last = 0;
        self.walk(|reader, field| {
            let (mark, start) = (out.len(), reader.at);
            if let Ok(more @ 1..=15) = u8::try_from(field.id - last) {
                out.push(more << 4 | field.kind as u8);
            } else {
                out.push(field.kind as u8);
                write_zigzag(out, field.id);
            }
            match read(reader, out, field)? {
                Keep::Copied => out.extend_from_slice(reader.since(start)),
                Keep::Written => {}
                Keep::Dropped => {
                    out.truncate(mark);
                    return Ok(());
                }
            }
            last = field.id;
            Ok(())
        })?;
        out.push(0);
        Ok(())
    }

    /// Reads a list, each value with a function, and copies how many there are.
    pub fn copy_list(
        &mut self,
        kind: Kind,
        out: &mut Vec<u8>,
        mut read: impl FnMut(&mut Self, &mut Vec<u8>, usize) -> Result<()>,
    ) -> Result<usize> {
        let start = self.at;
        let count = self.list(kind, Kind::Struct)?;
        out.extend_from_slice(self.since(start));
        for number in 0..count {
            read(self, out, number)?;
        }
        Ok(count)
    }

    /// Reads a boolean, which the type of the field contains.
    pub fn flag(&self, kind: Kind) -> Result<bool> {
        require(matches!(kind, Kind::True | Kind::False), WRONG)?;
        Ok(kind == Kind::True)
    }

    /// Reads an integer of 8 bits.
    pub fn small(&mut self, kind: Kind) -> Result<u8> {
        require(kind == Kind::Byte, WRONG)?;
        self.byte()
    }

    /// Reads an integer of 32 bits.
    pub fn int(&mut self, kind: Kind) -> Result<i32> {
        require(kind == Kind::Int, WRONG)?;
        i32::try_from(self.zigzag()?).map_err(|_| damaged("a number of its metadata is too large"))
    }

    /// Reads an integer of 64 bits.
    pub fn long(&mut self, kind: Kind) -> Result<i64> {
        require(kind == Kind::Long, WRONG)?;
        self.zigzag()
    }

    /// Reads bytes.
    pub fn binary(&mut self, kind: Kind) -> Result<&'a [u8]> {
        require(kind == Kind::Binary, WRONG)?;
        let count = self.varint()?;
        self.take(count)
    }

    /// Reads text.
    pub fn text(&mut self, kind: Kind) -> Result<&'a str> {
        let found = self.binary(kind)?;
        std::str::from_utf8(found).map_err(|_| damaged("a name of its metadata is no UTF-8"))
    }

    /// Reads how many values a list has, each of which is at least one byte.
    pub fn list(&mut self, kind: Kind, of: Kind) -> Result<usize> {
        require(kind == Kind::List, WRONG)?;
        let (found, count) = self.list_head()?;
        require(count == 0 || found == Some(of), WRONG)?;
        Ok(count)
    }

    /// Skips a value.
    pub fn skip(&mut self, kind: Kind) -> Result<()> {
        self.skip_at(kind, 0)
    }

    fn skip_at(&mut self, kind: Kind, depth: usize) -> Result<()> {
        require(depth < MOST_DEPTH, "its metadata is nested too deeply")?;
        match kind {
            Kind::True | Kind::False => Ok(()),
            Kind::Byte => self.byte().map(drop),
            Kind::Short | Kind::Int | Kind::Long => self.varint().map(drop),
            Kind::Double => self.take(8).map(drop),
            Kind::Uuid => self.take(16).map(drop),
            Kind::Binary => self.binary(kind).map(drop),
            Kind::List | Kind::Set => {
                let (of, count) = self.list_head()?;
                for _ in 0..count {
                    match of {
                        Some(Kind::True | Kind::False) => self.byte().map(drop)?,
                        Some(of) => self.skip_at(of, depth + 1)?,
                        None => return Err(damaged(WRONG)),
                    }
                }
                Ok(())
            }
            Kind::Map => Err(damaged("its metadata contains a map, which no Parquet file has")),
            Kind::Struct => self.walk(|reader, field| reader.skip_at(field.kind, depth + 1)),
        }
    }

    fn list_head(&mut self) -> Result<(Option<Kind>, usize)> {
        let head = self.byte()?;
        let count = if head >> 4 == 15 { self.varint()? } else { u64::from(head >> 4) };
        let rest = self.bytes.len() - self.at;
        let count = usize::try_from(count).ok().filter(|&count| count <= rest);
        let count = count.ok_or_else(|| damaged(CUT))?;
        Ok((Kind::of(head & 15).ok(), count))
    }

    fn byte(&mut self) -> Result<u8> {
        Ok(self.take(1)?[0])
    }

    fn take(&mut self, count: u64) -> Result<&'a [u8]> {
        let taken =
            usize::try_from(count).ok().and_then(|count| self.bytes[self.at..].get(..count));
        let taken = taken.ok_or_else(|| damaged(CUT))?;
        self.at += taken.len();
        Ok(taken)
    }

    fn varint(&mut self) -> Result<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            let part = u64::from(byte & 127);
            require(part << shift >> shift == part, "a number of its metadata is too large")?;
            value |= part << shift;
            if byte < 128 {
                return Ok(value);
            }
        }
        Err(damaged("a number of its metadata is too large"))
    }

    fn zigzag(&mut self) -> Result<i64> {
        let value = self.varint()?;
        Ok((value >> 1).cast_signed() ^ -(value & 1).cast_signed())
    }
}

const WRONG: &str = "a field of its metadata has another type";
const CUT: &str = "its metadata is cut off";

fn write_zigzag(out: &mut Vec<u8>, id: i16) {
    // Fields are numbered from 1.
    let mut rest = u32::from(id.unsigned_abs()) << 1;
    while rest > 127 {
        out.push(rest.to_le_bytes()[0] | 128);
        rest >>= 7;
    }
    out.push(rest.to_le_bytes()[0]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_are_skipped_are_nested_32_deep_at_most() {
        for depth in [31, 32, 33] {
            // Lists of one list each; the last one has no values.
            let mut lists = crate::memory::vec![1 << 4 | Kind::List as u8; depth];
            lists[depth - 1] = Kind::List as u8;
            let skipped = Reader::new(&lists).skip(Kind::List);
            assert_eq!(skipped.is_ok(), depth <= 32);
        }
    }
}
