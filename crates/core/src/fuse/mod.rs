//! Fuses the runs of several systems into one.
//!
//! Every method but Condorcet's gives each document points for its place in each list and combines
//! them: [`points`] computes the points of a list, [`combine`] combines them, and [`condorcet`] counts
//! votes. [`queries`] does so for some queries, on several threads, and [`fuse`](fuse()) for all.

pub mod choices;
mod chunk;
mod combine;
mod condorcet;
mod points;
mod queries;
mod query;
mod runs;

pub use runs::{Given, fuse};
