//! Ranking evaluation at native speed: parsing, joining, ranking, and the arithmetic of measures.
//!
//! Data flows through the folders in one order, and each folder uses only those before it: [`number`],
//! [`text`] and [`table`] read rows, [`ids`] numbers their identifiers, [`qrels`] holds the judgments,
//! [`items`] what is known of items besides, [`kernels`] turn one query into one value, [`rank`] sorts
//! runs into rank order, [`resample`] computes confidence intervals, [`evaluate`] computes all values,
//! [`explain`] says what they consist of, [`agreement`] compares rankings with each other, and [`fuse`]
//! makes one run of several. The test `test_rust_layers.py` checks the order.
//!
//! The files beside this one come before all folders: [`error`], [`notes`], [`watch`], [`threads`],
//! [`policy`] and [`saved`]. The crate knows nothing of Python.

#![forbid(unsafe_code)]

pub mod agreement;
pub mod error;
pub mod evaluate;
pub mod explain;
pub mod fuse;
pub mod ids;
pub mod items;
pub mod kernels;
pub mod notes;
pub mod number;
pub mod policy;
pub mod qrels;
pub mod rank;
pub mod resample;
pub mod saved;
pub mod table;
pub mod text;
pub mod threads;
pub mod watch;
