//! Confidence intervals and tests by resampling queries, users, and what else is independent.

pub mod bootstrap;
pub mod bounded;
pub mod flips;
pub mod interval;
pub mod invert;
pub mod reassign;
pub mod student;
pub mod units;
