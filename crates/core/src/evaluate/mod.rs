//! Evaluation: the values of all measures for every query, and their aggregates.

pub mod averaging;
mod batches;
pub mod candidates;
pub mod evaluation;
pub mod held;
pub mod lines;
pub mod matrix;
pub mod plan;
pub mod rankings;
pub mod run_parts;
pub mod samples;
pub mod scorer;
pub mod stream;
pub mod summary;
pub mod table_stream;
pub mod trial;
