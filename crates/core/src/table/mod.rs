//! Tables: columns in memory, and their rows grouped by query.

pub mod cells;
pub mod columns;
pub mod frame;
pub mod group;
pub mod queue;
pub mod spill;
