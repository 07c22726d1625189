//! A set of identifiers that are only asked whether they are in it.

use std::hash::{BuildHasher, Hasher};

/// Identifiers by hashes of 128 bits, two of 64 with keys of their own, which are drawn anew for each
/// set: for 10^9 identifiers, the probability that any two share one is about 10^-21. A lookup reads one
/// place in memory, where comparing texts would read three.
///
/// ```
/// use rankscope_log::logged::id_set::IdSet;
/// let mut set = IdSet::default();
/// let a = set.key(b"a");
/// set.add(a);
/// assert!(set.has(a) && !set.has(set.key(b"b")));
/// ```
#[derive(Debug, Default)]
pub struct IdSet {
    /// An open-addressing table; 0 is an empty slot.
    slots: Vec<u128>,
    count: usize,
    keys: [foldhash::quality::RandomState; 2],
}

impl IdSet {
    /// The hash of an identifier.
    pub fn key(&self, id: &[u8]) -> u128 {
        let [high, low] = self.keys.each_ref().map(|key| {
            let mut hasher = key.build_hasher();
            hasher.write(id);
            hasher.finish()
        });
        (u128::from(high) << 64 | u128::from(low)).max(1)
    }

    /// Whether it has the identifier of a hash.
    pub fn has(&self, key: u128) -> bool {
        !self.slots.is_empty() && self.slots[self.find(key)] == key
    }

    /// Adds the identifier of a hash.
    pub fn add(&mut self, key: u128) {
        if 2 * (self.count + 1) > self.slots.len() {
            self.grow();
        }
        let at = self.find(key);
        if self.slots[at] == 0 {
            self.slots[at] = key;
            self.count += 1;
        }
    }

    /// The slot of a hash, or the empty one where it belongs.
    #[allow(clippy::cast_possible_truncation)] // the low bits are what is wanted
    fn find(&self, key: u128) -> usize {
        let mask = self.slots.len() - 1;
        let mut at = key as usize & mask;
        while self.slots[at] != 0 && self.slots[at] != key {
            at = (at + 1) & mask;
        }
        at
    }

    fn grow(&mut self) {
        let size = (4 * (self.count + 1)).next_power_of_two();
        let before = std::mem::replace(&mut self.slots, vec![0; size]);
        for key in before.into_iter().filter(|&key| key != 0) {
            let at = self.find(key);
            self.slots[at] = key;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_has_what_was_added(
            added in prop::collection::hash_set("[abc]{0,5}", 0..100),
            asked in prop::collection::vec("[abc]{0,5}", 0..50),
        ) {
            let mut set = IdSet::default();
            for id in added.iter().chain(&added) {
                let key = set.key(id.as_bytes());
                set.add(key);
            }
            for id in &asked {
                prop_assert_eq!(set.has(set.key(id.as_bytes())), added.contains(id));
            }
        }
    }
}
