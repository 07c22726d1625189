//! Blocks of a log: columns of logged rankings and labels, and the bytes in which a store keeps them.

pub mod batch;
pub mod body;
#[cfg(test)]
mod cases;
pub mod contexts;
pub mod digest;
pub mod join;
pub mod keys;
pub mod labels;
pub mod list;
pub mod rankings;
pub mod texts;
