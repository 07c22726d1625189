//! Checks the metadata of Parquet files before another library decodes them.
//!
//! That library ends the process for some damage. What is checked here is copied, and the copy is all
//! of the metadata that it sees.

pub mod compact;
pub mod footer;
pub mod pages;
pub mod schema;

use crate::error::{Error, Kind, Result};
use crate::memory::{self, Vec};

/// Where the bytes of a file come from.
pub trait Source {
    /// Reads so many bytes from an offset, fewer only where the file ends.
    ///
    /// # Errors
    /// The operating system refuses, or the caller wants to stop.
    fn read(&mut self, offset: u64, count: usize) -> Result<Vec<u8>>;
}

impl Source for &[u8] {
    fn read(&mut self, offset: u64, count: usize) -> Result<Vec<u8>> {
        let rest = usize::try_from(offset).ok().and_then(|offset| self.get(offset..));
        let rest = rest.unwrap_or_default();
        Ok(memory::copy(&rest[..count.min(rest.len())]))
    }
}

/// The error for damage of some kind.
#[must_use]
pub fn damaged(what: &str) -> Error {
    Error::new(
        Kind::Format,
        "parquet_invalid",
        format!("expected a whole Parquet file, found something else ({what})"),
    )
    .hint("fetch or write it again; nothing was taken from it")
}

/// Refuses a file for damage of some kind.
///
/// # Errors
/// Unless it holds.
pub fn require(holds: bool, what: &str) -> Result<()> {
    if holds { Ok(()) } else { Err(damaged(what)) }
}

/// A number that can't be negative.
pub(crate) fn count<T: TryInto<u64>>(value: T, what: &str) -> Result<u64> {
    value.try_into().map_err(|_| damaged(what))
}

#[cfg(test)]
mod tests {
    use super::footer::Footer;
    use super::pages;
    use proptest::prelude::*;

    const GOOD: &[u8] = include_bytes!("../../fuzz/seeds/parquet/lists");

    #[test]
    fn a_copy_says_what_was_checked() {
        let footer = Footer::read(&mut &GOOD[..], GOOD.len() as u64).unwrap();
        let copied = &footer.copy[4..footer.copy.len() - 8];
        let again = Footer::parse(copied, footer.start).unwrap();
        assert_eq!(again.copy, footer.copy);
        assert_eq!(again.rows, 4);
        assert_eq!(again.estimate(&[1]), (6, 6 * 24));
    }

    #[test]
    fn a_cut_file_is_an_error() {
        for end in 0..GOOD.len() {
            assert!(Footer::read(&mut &GOOD[..end], end as u64).is_err());
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_checked_or_an_error(
            places in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
        ) {
            let mut bytes = crate::memory::copy(GOOD);
            for (at, byte) in places {
                let at = at.index(GOOD.len());
                bytes[at] = byte;
            }
            if let Ok(footer) = Footer::read(&mut &bytes[..], bytes.len() as u64) {
                let leaves: Vec<usize> = (0..footer.schema.leaves.len()).collect();
                let _ = footer.estimate(&leaves);
                let _ = pages::check(&footer, &leaves, &mut &bytes[..]);
            }
        }
    }
}
