//! Fuses the runs of several systems into one.
//!
//! Every method but Condorcet's gives each document points for its place in each list and combines
//! them: [`points`] computes the points of a list, [`combine`] combines them, and [`condorcet`] counts
//! votes. [`queries`] does so for some queries, on several threads.
//!
//! [`fuse`](fuse()) makes a run in memory of others. A run of any size is written as text in the same
//! order of queries: by [`grouped`] while runs are read side by side, or by [`scattered`] where that is
//! not possible.

pub mod choices;
mod chunk;
mod combine;
mod condorcet;
pub mod grouped;
pub mod lines;
pub mod pieces;
mod points;
mod queries;
mod query;
mod runs;
pub mod scattered;
pub mod sources;

pub use runs::{Given, fuse};
