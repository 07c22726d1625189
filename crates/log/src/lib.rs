//! Rankings that were logged in production: [`blocks`] are the columns in which a store keeps them, and
//! [`logged`] reads events, grades them, and sums their values.

#![forbid(unsafe_code)]

pub mod blocks;
pub mod logged;
