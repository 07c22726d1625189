//! The bytes that objects of the core are saved as, such as when Python pickles them.
//!
//! They begin with what they are and the version of the form, and end with a checksum. Numbers are
//! little-endian, and lengths come before what they are lengths of. A reader trusts nothing: bytes that
//! were cut, damaged or written by another version are an error, and no length is believed before the
//! bytes are there.

use crate::error::{Error, Kind, Result};
use crate::notes::Notes;
use crate::policy::Field;

const MAGIC: &[u8; 8] = b"rankscop";

/// The version of the form. Change it whenever what is written changes.
const VERSION: u32 = 2;

const HEADER: usize = MAGIC.len() + 4 + 4;
const CHECKSUM: usize = 8;

/// What bytes are of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum What {
    /// Judgments.
    Judgments = 1,
    /// Rankings.
    Rankings = 2,
    /// An evaluation.
    Evaluation = 3,
    /// The summary of an evaluation.
    Summary = 4,
}

/// The error for bytes that are not what they should be.
#[must_use]
pub fn damaged() -> Error {
    Error::new(
        Kind::Format,
        "saved_state",
        "expected an object that rankscope saved, found bytes that are cut off or damaged",
    )
    .hint("save it again, such as with pickle.dump")
}

/// Refuses what a reader found.
///
/// # Errors
/// Unless it holds.
pub fn require(holds: bool) -> Result<()> {
    if holds { Ok(()) } else { Err(damaged()) }
}

/// Writes an object.
#[derive(Debug)]
pub struct Writer(Vec<u8>);

impl Writer {
    /// Begins to write.
    #[must_use]
    pub fn new(what: What) -> Self {
        let mut bytes = MAGIC.to_vec();
        bytes.extend_from_slice(&VERSION.to_le_bytes());
        bytes.extend_from_slice(&(what as u32).to_le_bytes());
        Self(bytes)
    }

    /// All bytes, with their checksum.
    #[must_use]
    pub fn finish(mut self) -> Vec<u8> {
        let sum = checksum(&self.0);
        self.0.extend_from_slice(&sum.to_le_bytes());
        self.0
    }

    /// Writes a small number.
    pub fn byte(&mut self, value: u8) {
        self.0.push(value);
    }

    /// Writes whether something is so.
    pub fn flag(&mut self, value: bool) {
        self.byte(u8::from(value));
    }

    /// Writes a number.
    pub fn count(&mut self, value: u64) {
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    /// Writes a double.
    pub fn double(&mut self, value: f64) {
        self.count(value.to_bits());
    }

    /// Writes bytes.
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.count(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }

    /// Writes doubles.
    pub fn doubles(&mut self, values: &[f64]) {
        self.each(values.iter().map(|value| value.to_le_bytes()));
    }

    /// Writes numbers.
    pub fn counts(&mut self, values: &[u64]) {
        self.each(values.iter().map(|value| value.to_le_bytes()));
    }

    /// Writes where parts begin, and the last one ends.
    pub fn offsets(&mut self, values: &[usize]) {
        self.each(values.iter().map(|&value| (value as u64).to_le_bytes()));
    }

    /// Writes codes.
    pub fn codes(&mut self, values: &[u32]) {
        self.each(values.iter().map(|value| value.to_le_bytes()));
    }

    /// Writes integers.
    pub fn integers(&mut self, values: &[i64]) {
        self.each(values.iter().map(|value| value.to_le_bytes()));
    }

    /// Writes whether each of many is so.
    pub fn flags(&mut self, values: &[bool]) {
        self.each(values.iter().map(|&value| [u8::from(value)]));
    }

    /// Writes texts one after another, and how long each is.
    pub fn texts<'a>(&mut self, texts: impl ExactSizeIterator<Item = &'a [u8]> + Clone) {
        self.each(texts.clone().map(|text| (text.len() as u64).to_le_bytes()));
        self.count(texts.clone().map(<[u8]>::len).sum::<usize>() as u64);
        texts.for_each(|text| self.0.extend_from_slice(text));
    }

    /// Writes a choice of the policy as its word.
    pub fn word<T: Field + PartialEq>(&mut self, value: T) {
        let known = T::WORDS.iter().find(|known| known.value == value);
        self.bytes(known.map_or("", |known| known.word).as_bytes());
    }

    /// Writes notes.
    pub fn notes(&mut self, notes: &Notes) {
        self.counts(notes.numbers().as_flattened());
    }

    fn each<const N: usize>(&mut self, values: impl ExactSizeIterator<Item = [u8; N]>) {
        self.count(values.len() as u64);
        self.0.reserve(N * values.len());
        values.for_each(|value| self.0.extend_from_slice(&value));
    }
}

/// Reads an object.
#[derive(Debug)]
pub struct Reader<'a>(&'a [u8]);

#[expect(clippy::missing_errors_doc, reason = "each fails where the bytes can't be what it reads")]
impl<'a> Reader<'a> {
    /// Begins to read bytes, which may be damaged, of another version, or of something else.
    pub fn new(bytes: &'a [u8], what: What) -> Result<Self> {
        require(bytes.len() >= HEADER + CHECKSUM && bytes.starts_with(MAGIC))?;
        let (bytes, sum) = bytes.split_at(bytes.len() - CHECKSUM);
        let mut header = Reader(&bytes[MAGIC.len()..]);
        let version = u32::from_le_bytes(header.array()?);
        if version != VERSION {
            return Err(Error::new(
                Kind::Format,
                "saved_state",
                format!(
                    "expected an object that was saved in form {VERSION}, found form {version} of \
                     another version of rankscope"
                ),
            )
            .hint("save it again with this version, or load it with the version that saved it"));
        }
        require(sum == checksum(bytes).to_le_bytes())?;
        require(u32::from_le_bytes(header.array()?) == what as u32)?;
        Ok(header)
    }

    /// Ends reading, and fails where there are bytes left.
    pub fn finish(self) -> Result<()> {
        require(self.0.is_empty())
    }

    /// Reads a small number.
    pub fn byte(&mut self) -> Result<u8> {
        Ok(self.array::<1>()?[0])
    }

    /// Reads whether something is so.
    pub fn flag(&mut self) -> Result<bool> {
        let value = self.byte()?;
        require(value < 2)?;
        Ok(value == 1)
    }

    /// Reads a number.
    pub fn count(&mut self) -> Result<u64> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    /// Reads a double.
    pub fn double(&mut self) -> Result<f64> {
        Ok(f64::from_bits(self.count()?))
    }

    /// Reads bytes.
    pub fn bytes(&mut self) -> Result<&'a [u8]> {
        let count = self.count()?;
        self.take(count, 1)
    }

    /// Reads text.
    pub fn text(&mut self) -> Result<&'a str> {
        std::str::from_utf8(self.bytes()?).map_err(|_| damaged())
    }

    /// Reads doubles.
    pub fn doubles(&mut self) -> Result<Vec<f64>> {
        self.each(f64::from_le_bytes)
    }

    /// Reads numbers.
    pub fn counts(&mut self) -> Result<Vec<u64>> {
        self.each(u64::from_le_bytes)
    }

    /// Reads where parts of a whole begin, and the last one ends, which is the size of the whole.
    pub fn offsets(&mut self, size: usize) -> Result<Vec<usize>> {
        let offsets = self.each(|bytes| usize::try_from(u64::from_le_bytes(bytes)))?;
        let offsets = offsets.into_iter().collect::<std::result::Result<Vec<_>, _>>();
        let offsets = offsets.map_err(|_| damaged())?;
        require(offsets.first() == Some(&0) && offsets.last() == Some(&size))?;
        require(offsets.is_sorted())?;
        Ok(offsets)
    }

    /// Reads codes, each of which is less than a number.
    pub fn codes(&mut self, below: usize) -> Result<Vec<u32>> {
        let codes = self.each(u32::from_le_bytes)?;
        require(codes.iter().all(|&code| (code as usize) < below))?;
        Ok(codes)
    }

    /// Reads integers.
    pub fn integers(&mut self) -> Result<Vec<i64>> {
        self.each(i64::from_le_bytes)
    }

    /// Reads whether each of many is so.
    pub fn flags(&mut self) -> Result<Vec<bool>> {
        let flags = self.bytes()?;
        require(flags.iter().all(|&flag| flag < 2))?;
        Ok(flags.iter().map(|&flag| flag == 1).collect())
    }

    /// Reads texts.
    pub fn texts(&mut self) -> Result<impl Iterator<Item = Result<&'a [u8]>> + use<'a>> {
        let lengths = self.counts()?;
        let mut rest = Reader(self.bytes()?);
        let total = lengths.iter().try_fold(0_u64, |sum, &length| sum.checked_add(length));
        require(total == Some(rest.0.len() as u64))?;
        Ok(lengths.into_iter().map(move |length| {
            let text = rest.take(length, 1)?;
            require(std::str::from_utf8(text).is_ok())?;
            Ok(text)
        }))
    }

    /// Reads a choice of the policy.
    pub fn word<T: Field>(&mut self) -> Result<T> {
        T::read(self.text()?).ok_or_else(damaged)
    }

    /// Reads notes.
    pub fn notes(&mut self) -> Result<Notes> {
        Notes::from_numbers(&self.counts()?).ok_or_else(damaged)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let (first, rest) = self.0.split_first_chunk().ok_or_else(damaged)?;
        self.0 = rest;
        Ok(*first)
    }

    fn take(&mut self, count: u64, width: usize) -> Result<&'a [u8]> {
        let bytes = usize::try_from(count).ok().and_then(|count| count.checked_mul(width));
        let taken = bytes.and_then(|bytes| self.0.split_at_checked(bytes));
        let (taken, rest) = taken.ok_or_else(damaged)?;
        self.0 = rest;
        Ok(taken)
    }

    fn each<const N: usize, T>(&mut self, read: impl Fn([u8; N]) -> T) -> Result<Vec<T>> {
        let count = self.count()?;
        let (chunks, _) = self.take(count, N)?.as_chunks::<N>();
        Ok(chunks.iter().map(|&chunk| read(chunk)).collect())
    }
}

/// A sum over all bytes, eight at once, to tell damage by accident.
fn checksum(bytes: &[u8]) -> u64 {
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    let (words, rest) = bytes.as_chunks::<8>();
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    words.iter().chain([&last]).fold(bytes.len() as u64, |sum, &word| {
        ((sum ^ u64::from_le_bytes(word)).wrapping_mul(FACTOR)).rotate_left(29)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn write(texts: &[String], values: &[f64]) -> Vec<u8> {
        let mut writer = Writer::new(What::Rankings);
        writer.texts(texts.iter().map(String::as_bytes));
        writer.doubles(values);
        writer.finish()
    }

    fn read(bytes: &[u8]) -> Result<(Vec<String>, Vec<f64>)> {
        let mut reader = Reader::new(bytes, What::Rankings)?;
        let texts =
            reader.texts()?.map(|text| text.map(|text| String::from_utf8_lossy(text).into_owned()));
        let texts = texts.collect::<Result<_>>()?;
        let values = reader.doubles()?;
        reader.finish()?;
        Ok((texts, values))
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(
            texts in prop::collection::vec(".{0,6}", 0..20),
            values in prop::collection::vec(-1e9..1e9, 0..20),
        ) {
            let (found, numbers) = read(&write(&texts, &values)).unwrap();
            prop_assert_eq!(found, texts);
            prop_assert_eq!(numbers, values);
        }

        #[test]
        fn damaged_bytes_are_an_error(
            values in prop::collection::vec(-1e9..1e9, 0..9),
            at in any::<prop::sample::Index>(),
            bit in 0..8,
            cut in any::<prop::sample::Index>(),
        ) {
            let bytes = write(&[], &values);
            prop_assert!(read(&bytes[..cut.index(bytes.len())]).is_err());
            let mut bytes = bytes;
            let at = at.index(bytes.len());
            bytes[at] ^= 1_u8 << bit;
            prop_assert!(read(&bytes).is_err());
        }
    }

    #[test]
    fn lengths_are_not_believed() {
        let mut writer = Writer::new(What::Rankings);
        writer.count(u64::MAX);
        let bytes = writer.finish();
        let mut reader = Reader::new(&bytes, What::Rankings).unwrap();
        assert_eq!(reader.doubles().unwrap_err().code(), "saved_state");
    }

    #[test]
    fn another_kind_or_version_is_an_error() {
        let bytes = Writer::new(What::Rankings).finish();
        assert_eq!(Reader::new(&bytes, What::Judgments).unwrap_err().code(), "saved_state");
        let mut newer = bytes.clone();
        newer[MAGIC.len()] += 1;
        let error = Reader::new(&newer, What::Rankings).unwrap_err();
        assert!(error.message().contains("another version"));
    }
}
