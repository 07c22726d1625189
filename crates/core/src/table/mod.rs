//! Tables: columns in memory, and their rows grouped by query.

pub mod cells;
pub mod columns;
pub mod group;
