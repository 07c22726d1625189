//! Confidence intervals by resampling queries.

pub mod interval;
