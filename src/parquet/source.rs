//! The bytes of a file, and the error for what they can't be.

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
