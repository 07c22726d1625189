//! Counts identifiers that differ only by case or Unicode form.

use unicode_normalization::UnicodeNormalization;

use crate::ids::interner::{self, IdHasher, Slots};
use crate::ids::vocabulary::Vocabulary;

/// Working memory for finding them.
#[derive(Debug, Default)]
pub struct Folded {
    hasher: IdHasher,
    slots: Slots,
    room: Vec<u8>,
}

impl Folded {
    /// How many of at most `count` different texts a person would take for an earlier one.
    pub fn count_alike<'a>(&mut self, texts: impl Iterator<Item = &'a [u8]>, count: usize) -> u64 {
        self.slots.reset(count);
        let is_again = |(index, text): (usize, &[u8])| {
            fold(text, &mut self.room);
            let hash = self.hasher.hash(&self.room);
            interner::insert(self.slots.as_mut_slice(), hash, index, |_| true).is_some()
        };
        texts.enumerate().map(is_again).filter(|&is_again| is_again).count() as u64
    }
}

impl Vocabulary {
    /// How many identifiers a person would take for an earlier one.
    pub fn count_alike(&self) -> u64 {
        match self {
            Self::Texts(ids) if ids.texts().is_of_one_case() => 0,
            Self::Texts(ids) => Folded::default().count_alike(ids.texts().iter(), self.len()),
            Self::Integers(_) => 0,
        }
    }
}

/// Puts an identifier into `room`, without the differences that a person overlooks.
fn fold(id: &[u8], room: &mut Vec<u8>) {
    room.clear();
    if id.is_ascii() {
        room.extend_from_slice(id);
        room.make_ascii_lowercase();
        return;
    }
    let text: String = String::from_utf8_lossy(id).nfc().flat_map(char::to_lowercase).collect();
    room.extend_from_slice(text.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::interner::Ids;

    #[test]
    fn texts_that_differ_by_case_or_form_are_alike() {
        let count = |texts: &[&str]| {
            let mut ids = Ids::default();
            for text in texts {
                ids.number(text.as_bytes());
            }
            Vocabulary::Texts(ids).count_alike()
        };
        assert_eq!(count(&["d1", "d2", "e1"]), 0);
        assert_eq!(count(&["D1", "D2", "E1"]), 0);
        assert_eq!(count(&["d1", "D1", "d2"]), 1);
        assert_eq!(count(&["d1", "d2", "D2", "D1"]), 2);
        assert_eq!(count(&["\u{e4}", "a\u{308}", "b"]), 1);
    }
}
