//! Confidence intervals and tests by resampling queries, users, and what else is independent.

pub mod betting;
pub mod bootstrap;
pub mod flips;
pub mod interval;
pub mod max_t;
pub mod reassign;
pub mod shift;
pub mod shuffle;
pub mod units;
