//! Identifiers of queries and documents, numbered in first-seen order.

pub mod columns;
pub mod finder;
pub mod folded;
pub mod interner;
pub mod vocabulary;
