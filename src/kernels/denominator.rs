//! What measures of relevant documents are divided by.

use super::Query;

/// The number that a sum over relevant documents is divided by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Denominator {
    /// All relevant documents, retrieved or not.
    Relevant,
    /// As many of them as there are ranks down to the cutoff.
    Reachable,
    /// The cutoff.
    Cutoff,
    /// The retrieved documents down to the cutoff.
    Retrieved,
    /// The relevant ones among these: a number that varies with the order of a tie.
    Found,
}

impl Denominator {
    /// The number, of which `relevant` is the first kind; none where it varies.
    pub(super) fn count(self, query: &Query<'_>, k: usize, relevant: usize) -> Option<usize> {
        match self {
            Self::Relevant => Some(relevant),
            Self::Reachable => Some(relevant.min(k)),
            Self::Cutoff => Some(k),
            Self::Retrieved => Some(query.retrieved.min(k)),
            Self::Found => None,
        }
    }
}
