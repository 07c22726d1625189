//! Reads the rows of a file whose columns are simple, some at a time.

use super::footer::Footer;
use super::source::Source;
use super::values::{ColumnReader, Role, unknown};
use crate::error::Result;
use crate::ids::interner::Ids;
use crate::memory::Vec;
use crate::table::frame::{Column, Frame};

/// Reads rows in frames: the first column is the query, the second one has the numbers of the rows.
#[derive(Debug)]
pub struct RowReader {
    footer: Footer,
    columns: Vec<ColumnReader>,
    empty: Frame,
    /// Rows of a query that may have more.
    begun: Frame,
    rows: u64,
    /// The most bytes that all values may have, and those that were read.
    most: u64,
    size: u64,
}

impl RowReader {
    /// A reader of columns by name; nothing if one of them can't be read here.
    #[must_use]
    pub fn open(footer: &Footer, columns: &[(String, Role)], most: u64) -> Option<Self> {
        let (mut readers, mut empty) = (Vec::new(), Vec::new());
        for (name, role) in columns {
            let (reader, column) = ColumnReader::open(footer, name, *role)?;
            readers.push(reader);
            empty.push(column);
            if empty.len() == 1 {
                empty.push(Column::of_row_numbers(0, 0));
            }
        }
        let begun = empty.clone();
        let footer = footer.clone();
        Some(Self { footer, columns: readers, empty, begun, rows: 0, most, size: 0 })
    }

    /// The texts of the first column that were numbered.
    pub fn take_known(&mut self) -> Ids {
        self.columns[0].take_known()
    }

    /// How many rows were read.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Reads about so many rows, or the last ones; none after those. Where `are_queries`, no rows of the
    /// last query are left.
    ///
    /// # Errors
    /// The file can't be read here.
    pub fn read(
        &mut self,
        source: &mut impl Source,
        rows: usize,
        are_queries: bool,
    ) -> Result<Frame> {
        let mut frame = std::mem::replace(&mut self.begun, self.empty.clone());
        let mut known = frame[0].len();
        while self.rows < self.footer.rows {
            self.append(source, rows, &mut frame)?;
            if !are_queries {
                break;
            }
            let last = find_last(&frame[0], known);
            if self.rows < self.footer.rows && last > 0 {
                self.begun = frame.iter_mut().map(|column| column.split_off(last)).collect();
                break;
            }
            known = frame[0].len();
        }
        Ok(frame)
    }

    fn append(&mut self, source: &mut impl Source, rows: usize, frame: &mut Frame) -> Result<()> {
        let left = self.footer.rows - self.rows;
        let rows = usize::try_from(left).map_or(rows, |left| left.min(rows));
        let (first, rest) = frame.split_at_mut(1);
        let columns = first.iter_mut().chain(&mut rest[1..]);
        for (reader, column) in self.columns.iter_mut().zip(columns) {
            let before = column.bytes();
            reader.read(&self.footer, source, rows, column)?;
            self.size += column.bytes() - before;
        }
        if self.size > self.most {
            return Err(unknown());
        }
        if let Column::Ints(numbers) = &mut rest[0] {
            numbers.extend((self.rows.cast_signed()..).zip(0..rows).map(|(number, _)| number));
        }
        self.rows += rows as u64;
        Ok(())
    }
}

/// The first row of the last query, of which the first so many rows are.
fn find_last(queries: &Column, known: usize) -> usize {
    let last = queries.len().saturating_sub(1);
    let first = (known.max(1)..=last).rev().find(|&row| !queries.is_same(row - 1, last));
    first.unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Dictionaries and plain texts in row groups of 8 rows, the rows of a query together.
    const SIMPLE: &[u8] = include_bytes!("../../fuzz/seeds/parquet/simple");
    const PLAIN: &[u8] = include_bytes!("../../fuzz/seeds/parquet/plain");

    fn columns(names: &[(&str, Role)]) -> Vec<(String, Role)> {
        names.iter().map(|&(name, role)| (name.to_owned(), role)).collect()
    }

    /// All rows of a file, so many at once.
    fn read(mut bytes: &[u8], names: &[(&str, Role)], at_once: usize) -> Option<Vec<Frame>> {
        let size = bytes.len() as u64;
        let footer = Footer::read(&mut bytes, size).ok()?;
        let mut reader = RowReader::open(&footer, &columns(names), 1 << 20)?;
        let mut frames = Vec::new();
        loop {
            let frame = reader.read(&mut bytes, at_once, true).ok()?;
            if frame[0].is_empty() {
                return Some(frames);
            }
            frames.push(frame);
        }
    }

    const ROLES: [(&str, Role); 3] =
        [("query_id", Role::Ids), ("doc_id", Role::Ids), ("score", Role::Scores)];

    #[test]
    fn frames_have_whole_queries_and_all_rows() {
        for file in [SIMPLE, PLAIN] {
            let whole = read(file, &ROLES, usize::MAX).unwrap();
            let [all] = &whole[..] else { panic!("all rows fit into one frame") };
            for at_once in 1..=all[0].len() {
                let frames = read(file, &ROLES, at_once).unwrap();
                let rows: usize = frames.iter().map(|frame| frame[0].len()).sum();
                assert_eq!(rows, all[0].len());
                let mut row = 0;
                for frame in &frames {
                    assert_eq!(frame[1].ints()[0], i64::try_from(row).unwrap());
                    assert!(row == 0 || !all[0].is_same(row - 1, row));
                    assert_eq!(frame[3].doubles(), &all[3].doubles()[row..][..frame[3].len()]);
                    row += frame[0].len();
                }
            }
        }
    }

    #[test]
    fn numbered_queries_are_those_of_the_texts() {
        let numbered = [("query_id", Role::Numbered), ROLES[1], ROLES[2]];
        let (texts, numbers) =
            (read(SIMPLE, &ROLES, 9).unwrap(), read(SIMPLE, &numbered, 9).unwrap());
        for (texts, numbers) in texts.iter().zip(&numbers) {
            for row in 1..texts[0].len() {
                let are_same = texts[0].is_same(row - 1, row);
                assert_eq!(numbers[0].is_same(row - 1, row), are_same);
            }
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(
            is_plain in any::<bool>(),
            places in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
        ) {
            let mut bytes = crate::memory::copy(if is_plain { PLAIN } else { SIMPLE });
            for (at, byte) in places {
                let at = at.index(bytes.len());
                bytes[at] = byte;
            }
            let _ = read(&bytes, &ROLES, 7);
        }
    }
}
