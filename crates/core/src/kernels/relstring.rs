//! The grades of the first documents as text, for `relstring` of `trec_eval`: no measure, but computed
//! along with measures.

use super::kernel::{Kernel, Make};
use super::params::Params;
use super::query::Query;

/// How many characters a value holds: so many bytes are a whole number that a double holds exactly.
pub const CHARACTERS: u32 = 6;

/// The kernel by its name.
pub(super) const TEXT: (&str, Make) = ("relstring", |params| Box::new(Relstring::new(params)));

/// The characters of the documents from a rank on, as the bytes of a whole number, the first one in its
/// last byte.
pub(super) struct Relstring {
    first: u32,
}

impl Relstring {
    /// The cutoff is the first rank.
    pub(super) fn new(params: &Params) -> Self {
        Self { first: params.k.and_then(|k| k.try_into().ok()).unwrap_or(1) }
    }
}

impl Kernel for Relstring {
    #[allow(clippy::cast_precision_loss)] // six bytes
    fn value(&self, query: &Query<'_>) -> f64 {
        let start = query.ranks.partition_point(|&rank| rank < self.first);
        let mut judged = query.ranks[start..].iter().zip(&query.grades[start..]).peekable();
        let mut text = 0_u64;
        for place in 0..CHARACTERS {
            let rank = self.first.saturating_add(place);
            if rank as usize > query.retrieved {
                break;
            }
            let grade = judged.next_if(|&(&at, _)| at == rank).map(|(_, &grade)| grade);
            text |= u64::from(grade.map_or(b'-', character)) << (8 * place);
        }
        text as f64
    }

    fn averages_ties(&self) -> bool {
        false
    }
}

/// The character of a grade.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // from 0 to 9
fn character(grade: f64) -> u8 {
    if grade < 0.0 {
        b'.'
    } else if grade >= 10.0 {
        b'>'
    } else {
        b'0' + grade as u8
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // six bytes
    fn a_value_has_six_characters_at_most() {
        for (retrieved, text) in [(5, "-----\0\0\0"), (6, "------\0\0"), (7, "------\0\0")] {
            let value = Relstring { first: 1 }.value(&Query { retrieved, ..Query::EMPTY });
            assert_eq!((value as u64).to_le_bytes(), text.as_bytes());
        }
    }

    #[test]
    fn grades_from_0_to_9_are_digits() {
        let grades = [-1.0, -0.5, 0.0, 9.0, 9.5, 10.0, 11.0];
        assert_eq!(grades.map(character), *b"..099>>");
    }
}
