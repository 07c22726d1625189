//! What is known of ids: the rows that a store has of them, and those that a batch adds.

use flate2::Crc;
use rankscope_core::ids::interner::IdHasher;

use crate::blocks::digest::Digest;
use crate::blocks::keys::other_key;

/// The role of the id of an event.
pub const EVENT: u8 = 1;
/// The role of the id of a ranking, which labels name.
pub const RANKING: u8 = 2;
/// Above the roles is the place of the environment of a ranking.
pub const SHIFT: u8 = 2;

/// The halves of a hash.
pub type Key = (i64, i64);

/// What is known of an id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry {
    /// The number of its event.
    pub seq: i64,
    /// 8 bytes of what identifies its content.
    pub digest: i64,
    /// The time of a ranking; 0 where it is no ranking's.
    pub time: i64,
    /// Its roles, and the environment of a ranking.
    pub role: u8,
}

impl Entry {
    /// The checksum of a row.
    pub fn checksum(&self, (high, low): Key) -> u32 {
        let mut row = [0; 41];
        let numbers = [high, low, self.seq, self.digest, self.time];
        for (place, number) in row.chunks_exact_mut(8).zip(numbers) {
            place.copy_from_slice(&number.to_le_bytes());
        }
        row[40] = self.role;
        let mut crc = Crc::new();
        crc.update(&row);
        crc.sum()
    }
}

/// The 8 bytes of a digest that are stored.
pub fn shorten(digest: &Digest) -> i64 {
    digest.first_chunk().map_or(0, |bytes| i64::from_le_bytes(*bytes))
}

/// Rows by their keys.
#[derive(Debug, Default)]
pub struct Known {
    /// An open-addressing table of the places of rows, from 1; 0 is empty.
    slots: Vec<u32>,
    pub(super) rows: Vec<(Key, Entry)>,
    hasher: IdHasher,
}

impl Known {
    /// Adds a row that is stored; none where it is damaged.
    pub fn add(&mut self, key: Key, entry: Entry, checksum: i64) -> Option<()> {
        if i64::from(entry.checksum(key)) != checksum {
            return None;
        }
        if self.get(key).is_none() {
            self.push(key, entry);
        }
        Some(())
    }

    /// The place of the row of a key.
    pub(super) fn get(&self, key: Key) -> Option<usize> {
        if self.slots.is_empty() {
            return None;
        }
        (self.slots[self.slot(key)] as usize).checked_sub(1)
    }

    /// The place of the row of a text in a role.
    pub(super) fn find(&self, project: i64, key: Key, text: &[u8], role: u8) -> Option<usize> {
        let row = self.get(key)?;
        if self.has(row, role) {
            return Some(row);
        }
        self.get(other_key(project, text)).filter(|&row| self.has(row, role))
    }

    pub(super) fn has(&self, row: usize, role: u8) -> bool {
        self.rows[row].1.role & role != 0
    }

    /// Adds a row whose key is not there.
    #[allow(clippy::cast_possible_truncation)] // so many rows don't fit into memory
    pub(super) fn push(&mut self, key: Key, entry: Entry) {
        if 2 * (self.rows.len() + 1) > self.slots.len() {
            let size = (4 * (self.rows.len() + 1)).next_power_of_two();
            self.slots = vec![0; size];
            for row in 0..self.rows.len() {
                let at = self.slot(self.rows[row].0);
                self.slots[at] = row as u32 + 1;
            }
        }
        let at = self.slot(key);
        self.rows.push((key, entry));
        self.slots[at] = self.rows.len() as u32;
    }

    /// The slot of a key, or the empty one where it belongs.
    #[allow(clippy::cast_possible_truncation)] // the low bits are what is wanted
    fn slot(&self, key: Key) -> usize {
        let mask = self.slots.len() - 1;
        let mut at = self.hasher.hash_integer(key.0) as usize & mask;
        while self.slots[at] != 0 && self.rows[self.slots[at] as usize - 1].0 != key {
            at = (at + 1) & mask;
        }
        at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_that_differs_from_its_checksum_is_damaged() {
        let (key, entry) = ((1, 2), Entry { seq: 3, digest: 4, time: 5, role: 6 });
        let checksum = i64::from(entry.checksum(key));
        assert!(Known::default().add(key, entry, checksum).is_some());
        assert!(Known::default().add((1, 3), entry, checksum).is_none());
        assert!(Known::default().add(key, Entry { role: 7, ..entry }, checksum).is_none());
    }
}
