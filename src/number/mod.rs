//! Numbers: decimal text, exact sums, logarithms, sorting, and aggregates of values.

pub mod aggregate;
pub mod decimal;
pub mod levels;
pub mod log2;
pub mod sorter;
pub mod sum;
