//! What lies behind a value: its bounds, its ties, and what each document cost.

pub mod bounds;
pub mod regrets;
pub mod ties;
