//! Fuses the runs of several systems into one.
//!
//! Every method but Condorcet's gives each document points for its place in each list and combines
//! them: [`points`] computes the points of a list, [`combine`] combines them, and [`condorcet`] counts
//! votes. [`fuse`](fuse()) does so for all queries.

pub mod choices;
mod combine;
mod condorcet;
mod points;
mod query;
mod runs;

pub use query::Given;
pub use runs::fuse;
