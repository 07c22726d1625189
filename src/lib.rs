//! Ranking evaluation at native speed: parsing, joining, ranking, and the arithmetic of measures.
//!
//! Data flows one way: [`source`] and [`blocks`] give text, [`trec`] gives lines, [`judgments`] and
//! [`rankings`] hold columns, [`kernels`] turn one query into one value, [`evaluate`] runs them all.
//! Nothing here knows Python, except for the optional module `python`. What grows with the input is
//! allocated by [`memory`], which reports that memory has run out.

// Tests may run out of memory as they like.
#![cfg_attr(
    test,
    allow(clippy::disallowed_macros, clippy::disallowed_methods, clippy::disallowed_types)
)]

pub mod aggregate;
pub mod attributes;
pub mod axis;
pub mod blocks;
pub mod bounds;
pub mod cells;
pub mod columns;
pub mod error;
pub mod evaluate;
pub mod finder;
pub mod folded;
pub mod grades;
pub mod ids;
pub mod join;
pub mod join_columns;
pub mod judgments;
pub mod kernels;
pub mod levels;
pub mod log2;
pub mod matrix;
pub mod memory;
pub mod notes;
pub mod number;
pub mod numbered;
pub mod order;
pub mod pieces;
#[cfg(feature = "python")]
pub mod python;
pub mod rank;
pub mod rankings;
pub mod regrets;
pub mod resample;
pub mod run;
pub mod shares;
pub mod shown;
pub mod sorter;
pub mod source;
pub mod split;
pub mod stream;
pub mod sum;
pub mod table;
pub mod table_stream;
pub mod tie_audit;
pub mod trec;
pub mod trial;
pub mod views;
pub mod vocabulary;
