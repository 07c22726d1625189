//! Numbers: decimal text, exact sums, logarithms, random numbers, sorting, and aggregates of values.

pub mod aggregate;
pub mod decimal;
pub mod distributions;
pub mod ends;
pub mod levels;
pub mod log2;
pub mod network;
pub mod random;
pub mod sorter;
pub mod sum;
