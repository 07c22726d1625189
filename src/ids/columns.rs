//! Hashes columns of identifiers.

use crate::ids::interner::IdHasher;
use crate::memory::Vec;
use crate::table::frame::Column;

/// Replaces `hashes` by those of identifiers.
pub fn hash_ids(column: &Column, hashes: &mut Vec<u64>) {
    let hasher = IdHasher::default();
    hashes.clear();
    match column {
        Column::Texts { offsets, bytes } => {
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // checked offsets
            let text = |ends: &[i64]| &bytes[ends[0] as usize..ends[1] as usize];
            hashes.extend(offsets.windows(2).map(|ends| hasher.hash(text(ends))));
        }
        _ => hashes.extend(column.ints().iter().map(|&value| hasher.hash_integer(value))),
    }
}
