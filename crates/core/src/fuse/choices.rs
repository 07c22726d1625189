//! How runs are fused.

use crate::policy::Ties;

/// What each document gets from each list, and how that becomes one score.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Method {
    /// The sum of its scores.
    Sum,
    /// Their sum, times the number of lists that have it.
    Mnz,
    /// Their mean over the lists that have it.
    Anz,
    /// Their median over the lists that have it.
    Median,
    /// The largest.
    Max,
    /// The smallest over the lists that have it.
    Min,
    /// The sum of 1 / (k + rank).
    ReciprocalRank(f64),
    /// The sum of 1 / rank², times the number of lists that have it.
    InverseSquare,
    /// The sum of 1 / rank², times the logarithm of the number of lists that have it, plus a constant.
    LogInverseSquare(f64),
    /// The sum of (1 - p) p^(rank - 1).
    RankBiased(f64),
    /// The sum of how many documents of all lists are not above it; those that a list does not have
    /// share what is left of its points.
    Borda,
    /// An order in which no document loses to the next one by a majority of lists.
    Condorcet,
}

/// How the scores of a list are brought to a scale that lists share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// They are kept.
    Scores,
    /// From 0 for the smallest to 1 for the largest; 1 if all are equal.
    MinMax,
    /// Divided by the largest, which is positive.
    Max,
    /// Their distance to the smallest, divided by the sum of all distances; equal shares if all are
    /// equal.
    Sum,
    /// Their distance to the mean in standard deviations; 0 if all are equal.
    Zmuv,
    /// 1 - (rank - 1) / the length of the list.
    Rank,
    /// 1 - (rank - 1) / the number of documents in all lists; those that a list does not have share
    /// the mean of what is left.
    Borda,
}

/// All choices of a fusion.
#[derive(Clone, Debug)]
pub struct Choices {
    /// The method.
    pub method: Method,
    /// The scale of scores, which methods that go by ranks do not see.
    pub scale: Scale,
    /// How much each run counts.
    pub weights: Vec<f64>,
    /// The order of documents with equal scores, in lists and in the result.
    pub ties: Ties,
    /// How many documents a query keeps.
    pub depth: usize,
}
