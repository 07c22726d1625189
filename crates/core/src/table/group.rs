//! Groups the rows of a table by query.

use std::sync::OnceLock;

use crate::table::cells::{BLOCK, Cells, look_through};
use crate::threads;

/// The rows of each group, one group after another, each in the order of the table.
#[derive(Debug)]
pub struct Grouped {
    /// Where each row goes; none where rows are so already.
    places: Option<Vec<u32>>,
    /// Which row went to each place, once somebody asked.
    rows: OnceLock<Vec<u32>>,
    /// Rows of group g go to places `offsets[g]..offsets[g + 1]`.
    pub offsets: Vec<usize>,
}

/// So many rows a group are worth counting all groups once more.
const ROWS_TO_COUNT: usize = 4;

/// Brings the rows of each of `groups` groups together.
#[allow(clippy::cast_possible_truncation)] // rows are counted in 32 bits
pub fn group(codes: Vec<u32>, groups: usize, threads: usize) -> Grouped {
    let is_sorted = codes.is_sorted();
    // Each thread counts all groups, which few rows are not worth.
    let threads = threads.min(1 + codes.len() / groups.max(1) / ROWS_TO_COUNT);
    let ranges = threads::cut_rows(codes.len(), threads);
    let counted = threads::on_each(ranges.clone(), |range| {
        let mut counts = vec![0u32; groups];
        for &code in &codes[range] {
            counts[code as usize] += 1;
        }
        counts
    });
    // The rows of a group that one thread has come after those that the threads before it have.
    let mut next = counted;
    let mut offsets = Vec::with_capacity(groups + 1);
    let mut end = 0;
    offsets.push(0);
    for group in 0..groups {
        for counts in &mut next {
            let start = end;
            end += counts[group] as usize;
            counts[group] = start as u32;
        }
        offsets.push(end);
    }
    if is_sorted {
        return Grouped { places: None, rows: OnceLock::new(), offsets };
    }
    let mut places = codes;
    let parts = threads::split_rows(&mut places, &ranges).into_iter().zip(next).collect();
    threads::on_each(parts, |(codes, mut next): (&mut [u32], Vec<u32>)| {
        for code in codes {
            let next = &mut next[*code as usize];
            *code = *next;
            *next += 1;
        }
    });
    Grouped { places: Some(places), rows: OnceLock::new(), offsets }
}

impl Grouped {
    /// Whether the rows of each group were together, in the order of the groups.
    pub fn is_grouped(&self) -> bool {
        self.places.is_none()
    }

    /// A column in the order of the groups; `read` makes what is kept of a block of rows, of which it
    /// is given the first.
    pub fn arrange<T: Copy + Default, U: Copy + Default, E>(
        &self,
        column: &dyn Cells<T>,
        mut read: impl FnMut(usize, &[T], &mut [U]) -> std::result::Result<(), E>,
    ) -> std::result::Result<Vec<U>, E> {
        let mut arranged = vec![U::default(); column.len()];
        let mut room = [U::default(); BLOCK];
        let refused = look_through(column, 0..column.len(), |start, block| {
            let Some(places) = &self.places else {
                return read(start, block, &mut arranged[start..start + block.len()]).err();
            };
            let made = &mut room[..block.len()];
            if let Err(refused) = read(start, block, made) {
                return Some(refused);
            }
            for (&place, &value) in places[start..].iter().zip(&*made) {
                arranged[place as usize] = value;
            }
            None
        });
        refused.map_or(Ok(arranged), Err)
    }

    /// A column in the order of the groups, as it is.
    pub fn arrange_all<T: Copy + Default>(&self, column: &dyn Cells<T>) -> Vec<T> {
        let copied = self.arrange(column, |_, block, out| {
            out.copy_from_slice(block);
            Ok::<_, std::convert::Infallible>(())
        });
        match copied {
            Ok(arranged) => arranged,
        }
    }

    /// The row of the table at each place.
    #[allow(clippy::cast_possible_truncation)] // rows are counted in 32 bits
    pub fn all_rows(&self) -> Vec<u32> {
        let places = 0..self.offsets.last().copied().unwrap_or(0);
        places.map(|place| self.row(place) as u32).collect()
    }

    /// The row of the table that stands at a place.
    #[allow(clippy::cast_possible_truncation)] // rows are counted in 32 bits
    pub fn row(&self, place: usize) -> usize {
        let Some(places) = &self.places else { return place };
        let rows = self.rows.get_or_init(|| {
            let mut rows = vec![0; places.len()];
            for (row, &place) in (0..).zip(places) {
                rows[place as usize] = row;
            }
            rows
        });
        rows[place] as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn groups_hold_their_rows_in_order(
            codes in prop::collection::vec(0u32..6, 0..100),
            threads in 1usize..4,
        ) {
            let rows: Vec<usize> = (0..codes.len()).collect();
            let grouped = group(codes.clone(), 6, threads);
            let arranged = grouped.arrange_all(&rows);
            for group in 0..6 {
                let range = grouped.offsets[group]..grouped.offsets[group + 1];
                let expected: Vec<usize> =
                    rows.iter().copied().filter(|&row| codes[row] as usize == group).collect();
                prop_assert_eq!(&arranged[range.clone()], &expected[..]);
                let found: Vec<usize> = range.map(|place| grouped.row(place)).collect();
                prop_assert_eq!(found, expected);
            }
        }
    }
}
