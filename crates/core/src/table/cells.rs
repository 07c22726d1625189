//! Columns of numbers, read in blocks from wherever they are stored.

use std::fmt::Debug;
use std::ops::Range;

/// A column of numbers that is read piece by piece: it may lie where others write, or hold another
/// type.
pub trait Cells<T>: Debug + Sync {
    /// How many rows there are.
    fn len(&self) -> usize;

    /// Whether there are none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Copies the rows from `start` on.
    fn read(&self, start: usize, out: &mut [T]);
}

impl<T: Copy + Debug, C: AsRef<[T]> + Debug + Sync> Cells<T> for C {
    fn len(&self) -> usize {
        self.as_ref().len()
    }

    fn read(&self, start: usize, out: &mut [T]) {
        out.copy_from_slice(&self.as_ref()[start..start + out.len()]);
    }
}

/// So many rows are read at once, which stay close to the processor.
pub const BLOCK: usize = 512;

/// Looks at rows in order, in blocks, each with its first row, until a look has an answer.
pub fn look_through<T: Copy + Default, A>(
    cells: &dyn Cells<T>,
    rows: Range<usize>,
    mut look: impl FnMut(usize, &[T]) -> Option<A>,
) -> Option<A> {
    let mut room = [T::default(); BLOCK];
    rows.clone().step_by(BLOCK).find_map(|start| {
        let block = &mut room[..BLOCK.min(rows.end - start)];
        cells.read(start, block);
        look(start, block)
    })
}
