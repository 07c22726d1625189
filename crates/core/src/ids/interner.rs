//! Interns identifiers, which are UTF-8 bytes stored end to end in one arena.

use std::hash::{BuildHasher, Hasher};
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::saved::require;

/// How the core hashes identifiers: seeded anew in each process, so that nobody can prepare
/// identifiers that collide. No result depends on the seed.
#[derive(Clone, Debug)]
pub struct IdHasher(foldhash::fast::RandomState);

static SEEDED: LazyLock<foldhash::fast::RandomState> = LazyLock::new(Default::default);

impl Default for IdHasher {
    fn default() -> Self {
        Self(SEEDED.clone())
    }
}

impl IdHasher {
    /// The hash of an identifier.
    #[inline]
    pub fn hash(&self, id: &[u8]) -> u64 {
        let mut hasher = self.0.build_hasher();
        hasher.write(id);
        hasher.finish()
    }

    /// The hash of an integer.
    #[inline]
    pub fn hash_integer(&self, value: i64) -> u64 {
        self.0.hash_one(value)
    }
}

/// Texts end to end, and where each one ends.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Arena {
    #[serde(with = "serde_bytes")]
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Arena {
    /// Appends a text.
    pub fn push(&mut self, text: &[u8]) {
        self.bytes.extend_from_slice(text);
        self.ends.push(self.bytes.len());
    }

    /// Texts that lie end to end between offsets into these bytes, which fit them.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // they fit
    pub fn copied(offsets: &[i64], bytes: &[u8]) -> Self {
        let (Some(&first), Some(&last)) = (offsets.first(), offsets.last()) else {
            return Self::default();
        };
        let ends = offsets[1..].iter().map(|end| (end - first) as usize).collect();
        Self { bytes: bytes[first as usize..last as usize].to_vec(), ends }
    }

    /// Removes all texts, and keeps their memory.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }

    /// The text at an index.
    #[inline]
    pub fn get(&self, index: usize) -> &[u8] {
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        &self.bytes[start..self.ends[index]]
    }

    /// How many texts there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// How many bytes all texts have.
    pub fn size(&self) -> usize {
        self.bytes.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Whether they are ASCII without letters of both cases, so that those that differ look different.
    pub fn is_of_one_case(&self) -> bool {
        let has = |is: fn(&u8) -> bool| self.bytes.iter().fold(false, |any, byte| any | is(byte));
        self.bytes.is_ascii() && !(has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase))
    }

    /// The texts in order.
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.len()).map(|index| self.get(index))
    }
}

/// An open-addressing table from hashes to small numbers, each slot with a piece of the hash, so
/// that most misses are told without looking at the text.
#[derive(Clone, Debug, Default)]
pub struct Slots {
    slots: Vec<u64>,
}

const INDEX_MASK: u64 = u32::MAX as u64;

impl Slots {
    /// How many slots to use for `count` texts: a power of two, at most half full.
    pub fn size_for(count: usize) -> usize {
        (2 * count).next_power_of_two().max(2)
    }

    /// Empties it, with room for `count` texts.
    pub fn reset(&mut self, count: usize) {
        let size = Self::size_for(count);
        self.slots.clear();
        self.slots.resize(size, 0);
    }

    /// Whether another text still fits.
    pub fn has_room(&self, count: usize) -> bool {
        2 * count <= self.slots.len()
    }

    /// All slots, to be searched with [`find`] and [`insert`].
    pub fn as_mut_slice(&mut self) -> &mut [u64] {
        &mut self.slots
    }
}

/// Looks a hash up; `is_same` compares the text at an index with the text sought.
#[inline]
pub fn find(slots: &[u64], hash: u64, mut is_same: impl FnMut(usize) -> bool) -> Option<usize> {
    let mask = slots.len() - 1;
    #[allow(clippy::cast_possible_truncation)] // the low bits are what is wanted
    let mut at = hash as usize & mask;
    loop {
        let slot = slots[at];
        if slot == 0 {
            return None;
        }
        let index = (slot & INDEX_MASK) as usize - 1;
        if (slot ^ hash) & !INDEX_MASK == 0 && is_same(index) {
            return Some(index);
        }
        at = (at + 1) & mask;
    }
}

/// Adds an index below 2^32 - 1 under a hash, or finds the index of the same text.
#[inline]
pub fn insert(
    slots: &mut [u64],
    hash: u64,
    new: usize,
    mut is_same: impl FnMut(usize) -> bool,
) -> Option<usize> {
    let mask = slots.len() - 1;
    #[allow(clippy::cast_possible_truncation)] // the low bits are what is wanted
    let mut at = hash as usize & mask;
    loop {
        let slot = slots[at];
        if slot == 0 {
            slots[at] = (hash & !INDEX_MASK) | (new as u64 + 1);
            return None;
        }
        let index = (slot & INDEX_MASK) as usize - 1;
        if (slot ^ hash) & !INDEX_MASK == 0 && is_same(index) {
            return Some(index);
        }
        at = (at + 1) & mask;
    }
}

/// Identifiers numbered in the order in which they were first seen.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(try_from = "Arena")]
pub struct Ids {
    texts: Arena,
    #[serde(skip_serializing)]
    slots: Slots,
    #[serde(skip_serializing)]
    hasher: IdHasher,
}

impl TryFrom<Arena> for Ids {
    type Error = Error;

    /// Identifiers that were saved, which are texts of which none is there twice.
    fn try_from(texts: Arena) -> Result<Self> {
        let end = texts.ends.last().copied().unwrap_or(0);
        require(end == texts.bytes.len() && texts.ends.is_sorted())?;
        let mut ids = Self::default();
        for (number, text) in texts.iter().enumerate() {
            require(std::str::from_utf8(text).is_ok() && ids.number(text) == number)?;
        }
        Ok(ids)
    }
}

impl Ids {
    /// Removes all identifiers, and keeps their memory.
    pub fn clear(&mut self) {
        self.texts.clear();
        self.slots.slots.fill(0);
    }

    /// Texts in the order in which they come, which may repeat and are seldom looked for.
    pub fn listed(texts: Arena) -> Self {
        Self { texts, ..Self::default() }
    }

    /// The number of an identifier, if it was seen.
    pub fn find(&self, id: &[u8]) -> Option<usize> {
        if self.slots.slots.is_empty() {
            return self.texts.iter().position(|text| text == id);
        }
        find(&self.slots.slots, self.hasher.hash(id), |index| self.texts.get(index) == id)
    }

    /// The number of an identifier, new if it was not seen before.
    pub fn number(&mut self, id: &[u8]) -> usize {
        let count = self.texts.len();
        if !self.slots.has_room(count + 1) {
            self.slots.reset(2 * count + 16);
            for index in 0..count {
                let hash = self.hasher.hash(self.texts.get(index));
                insert(&mut self.slots.slots, hash, index, |_| false);
            }
        }
        let hash = self.hasher.hash(id);
        let texts = &self.texts;
        let seen = insert(&mut self.slots.slots, hash, count, |index| texts.get(index) == id);
        seen.unwrap_or_else(|| {
            self.texts.push(id);
            count
        })
    }

    /// The identifiers in order.
    pub fn texts(&self) -> &Arena {
        &self.texts
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn ids_are_numbered_in_first_seen_order(ids in prop::collection::vec("[ab]{0,3}", 0..60)) {
            let mut numbered = Ids::default();
            let mut seen: Vec<String> = Vec::new();
            for id in &ids {
                let expected = seen.iter().position(|known| known == id).unwrap_or_else(|| {
                    seen.push(id.clone());
                    seen.len() - 1
                });
                prop_assert_eq!(numbered.number(id.as_bytes()), expected);
            }
            for (index, id) in seen.iter().enumerate() {
                prop_assert_eq!(numbered.find(id.as_bytes()), Some(index));
                prop_assert_eq!(numbered.texts().get(index), id.as_bytes());
            }
            prop_assert_eq!(numbered.find(b"c"), None);
        }
    }
}
