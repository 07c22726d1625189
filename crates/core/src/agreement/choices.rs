//! What is computed of two rankings, and what a tie means.

/// What a tie means, as Corsi and Urbano distinguish (*The treatment of ties in rank-biased overlap*,
/// SIGIR 2024).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ties {
    /// The order is unknown: the expected value over all orders.
    Expected,
    /// The order is unknown, and the value is corrected for what ties hide.
    Corrected,
    /// Tied documents have the same rank.
    Equal,
}

/// What is computed of each query.
#[derive(Clone, Debug)]
pub struct Choices {
    /// The persistence of rank-biased overlap, between 0 and 1.
    pub persistence: f64,
    /// What a tie means.
    pub ties: Ties,
    /// The depths at which the overlap is computed, each at least 1.
    pub depths: Vec<usize>,
}
