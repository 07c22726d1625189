//! Confidence intervals and tests by resampling queries, users, and what else is independent.

pub mod interval;
pub mod max_t;
pub mod reassign;
