//! Keys under which events are found, whatever the length of their ids.

use blake2::digest::consts::U16;
use blake2::{Blake2b, Digest as _};

/// The key of an id in a project: 16 bytes of `BLAKE2b` as two numbers.
#[must_use]
pub fn key(project: i64, text: &[u8]) -> (i64, i64) {
    hash(project, [text, b""])
}

/// Another key of an id. No id contains NUL, so that it is the key of no other id.
#[must_use]
pub fn other_key(project: i64, text: &[u8]) -> (i64, i64) {
    hash(project, [text, b"\0"])
}

fn hash(project: i64, parts: [&[u8]; 2]) -> (i64, i64) {
    let mut hash = Blake2b::<U16>::new();
    hash.update(project.to_le_bytes());
    for part in parts {
        hash.update(part);
    }
    let digest = i128::from_le_bytes(hash.finalize().into());
    #[allow(clippy::cast_possible_truncation)] // one half after the other
    (digest as i64, (digest >> 64) as i64)
}
