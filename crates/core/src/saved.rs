//! The bytes that objects of the core are saved as, such as when Python pickles them.
//!
//! They begin with what they are and the version of the form, and a checksum. Bytes that were cut,
//! damaged or written by another version are an error. No length is believed before the bytes are there,
//! and what could not have been saved is refused by the type that reads it.

use flate2::Crc;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::{Error, Kind, Result};

const MAGIC: &[u8; 8] = b"rankscop";

/// The version of the form. Change it whenever what is written changes.
const VERSION: u32 = 3;

/// What bytes are of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
pub fn damaged() -> Error {
    Error::new(
        Kind::Format,
        "saved_state",
        "expected an object that rankscope saved, found bytes that are cut off or damaged",
    )
    .hint("save it again, such as with pickle.dump")
}

/// Refuses what a reader found.
pub fn require(holds: bool) -> Result<()> {
    if holds { Ok(()) } else { Err(damaged()) }
}

/// Refuses offsets that are not where parts of a whole of this size begin, and the last one ends.
pub fn require_offsets(offsets: &[usize], size: usize) -> Result<()> {
    require(offsets.first() == Some(&0) && offsets.last() == Some(&size) && offsets.is_sorted())
}

/// Refuses codes of which one is not below a number.
pub fn require_codes(codes: &[u32], below: usize) -> Result<()> {
    require(codes.iter().all(|&code| (code as usize) < below))
}

/// The bytes of an object.
///
/// # Panics
/// Where it has a form that can't be saved, which no object of the core has.
pub fn save(what: What, object: &impl Serialize) -> Vec<u8> {
    let mut bytes = MAGIC.to_vec();
    bytes.extend_from_slice(&VERSION.to_le_bytes());
    bytes.extend_from_slice(&[0; 4]);
    bytes.push(what as u8);
    let mut bytes = postcard::to_extend(object, bytes).expect("its lengths are known");
    let sum = checksum(&bytes);
    bytes[12..16].copy_from_slice(&sum.to_le_bytes());
    bytes
}

/// Reads an object, whose type then refuses what could not have been saved.
pub fn restore<T: DeserializeOwned>(what: What, bytes: &[u8]) -> Result<T> {
    let rest = bytes.strip_prefix(MAGIC).ok_or_else(damaged)?;
    let (version, rest) = rest.split_first_chunk().ok_or_else(damaged)?;
    let version = u32::from_le_bytes(*version);
    if version != VERSION {
        let message = format!(
            "expected an object that was saved in form {VERSION}, found form {version} of another \
             version of rankscope"
        );
        return Err(Error::new(Kind::Format, "saved_state", message)
            .hint("save it again with this version, or load it with the version that saved it"));
    }
    let (sum, rest) = rest.split_first_chunk().ok_or_else(damaged)?;
    require(u32::from_le_bytes(*sum) == checksum(bytes))?;
    let (kind, rest) = rest.split_first().ok_or_else(damaged)?;
    require(*kind == what as u8)?;
    let (object, rest) = postcard::take_from_bytes(rest).map_err(|_| damaged())?;
    require(rest.is_empty())?;
    Ok(object)
}

/// A sum over all bytes but itself, to tell damage by accident.
fn checksum(bytes: &[u8]) -> u32 {
    let mut crc = Crc::new();
    crc.update(&bytes[..12]);
    crc.update(&bytes[16..]);
    crc.sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    type Saved = (Vec<String>, Vec<f64>);

    fn write(texts: &[String], values: &[f64]) -> Vec<u8> {
        save(What::Rankings, &(texts, values))
    }

    fn read(bytes: &[u8]) -> Result<Saved> {
        restore(What::Rankings, bytes)
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(
            texts in prop::collection::vec(".{0,6}", 0..20),
            values in prop::collection::vec(-1e9..1e9, 0..20),
        ) {
            prop_assert_eq!(read(&write(&texts, &values)).unwrap(), (texts, values));
        }

        #[test]
        fn damaged_bytes_are_an_error(
            values in prop::collection::vec(-1e9..1e9, 0..9),
            at in any::<prop::sample::Index>(),
            bit in 0..8,
            cut in any::<prop::sample::Index>(),
        ) {
            let mut bytes = write(&[], &values);
            prop_assert!(read(&bytes[..cut.index(bytes.len())]).is_err());
            let at = at.index(bytes.len());
            bytes[at] ^= 1_u8 << bit;
            prop_assert!(read(&bytes).is_err());
        }
    }

    #[test]
    fn lengths_are_not_believed() {
        let bytes = save(What::Rankings, &u64::MAX);
        for error in [
            restore::<Vec<f64>>(What::Rankings, &bytes).unwrap_err(),
            restore::<Vec<(u64, f64)>>(What::Rankings, &bytes).unwrap_err(),
            restore::<String>(What::Rankings, &bytes).unwrap_err(),
            restore::<serde_bytes::ByteBuf>(What::Rankings, &bytes).unwrap_err(),
        ] {
            assert_eq!(error.code(), "saved_state");
        }
    }

    #[test]
    fn another_kind_or_version_is_an_error() {
        let mut bytes = save(What::Rankings, &());
        assert_eq!(restore::<()>(What::Judgments, &bytes).unwrap_err().code(), "saved_state");
        bytes[MAGIC.len()] += 1;
        let error = restore::<()>(What::Rankings, &bytes).unwrap_err();
        assert!(error.message().contains("another version"));
    }
}
