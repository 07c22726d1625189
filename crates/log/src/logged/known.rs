//! What is known of ids: the rows that a store has of them, and those that a batch adds.

use std::collections::HashMap;

use flate2::Crc;

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
    places: HashMap<Key, usize, foldhash::fast::RandomState>,
    pub(super) rows: Vec<(Key, Entry)>,
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
        self.places.get(&key).copied()
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
    pub(super) fn push(&mut self, key: Key, entry: Entry) {
        self.places.insert(key, self.rows.len());
        self.rows.push((key, entry));
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
