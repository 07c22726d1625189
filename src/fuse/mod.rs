//! Fuses the runs of several systems into one.
//!
//! Every method but Condorcet's gives each document points for its place in each list and combines
//! them: [`points`] computes the points of a list, [`combine`] combines them, and [`condorcet`] counts
//! votes. [`queries`] does so for some queries, on several threads.
//!
//! [`fuse`](fuse()) fuses runs in memory. Runs of any size are fused in the same order of queries: by
//! [`grouped`] while they are read side by side, or by [`scattered`] where that is not possible. What
//! comes of it is written as [`lines`], or [`held`] as a run.

pub mod choices;
mod chunk;
mod combine;
mod condorcet;
pub mod grouped;
mod held;
mod lines;
pub mod output;
pub mod pieces;
mod points;
mod queries;
mod query;
mod runs;
pub mod scattered;
pub mod sources;
mod turns;

pub use runs::{Given, fuse};
