//! Hashes columns of identifiers.

use crate::ids::interner::IdHasher;
use crate::table::columns::{IdColumn, slice};

/// The hashes of a column of identifiers.
pub fn hash_column(ids: &IdColumn<'_>) -> Vec<i64> {
    let hasher = IdHasher::default();
    match *ids {
        IdColumn::Ints(cells) => {
            let mut values = vec![0; cells.len()];
            cells.read(0, &mut values);
            for value in &mut values {
                *value = hasher.hash_integer(*value).cast_signed();
            }
            values
        }
        IdColumn::Texts { offsets, bytes } => {
            let text = |ends: &[i64]| slice(bytes, ends[0], ends[1]).unwrap_or_default();
            offsets.windows(2).map(|ends| hasher.hash(text(ends)).cast_signed()).collect()
        }
    }
}
