//! Progress callbacks: how a caller follows long work and stops it.

use crate::error::Result;

/// What a caller learns while work is under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// So many bytes of the file were read.
    Read(u64),
    /// Some work was done, without reading.
    Work,
    /// A signal came while waiting for bytes.
    Signal,
}

/// A callback that receives events, and stops the work by returning an error.
pub type Watch<'a> = &'a mut dyn FnMut(Event) -> Result<()>;
