//! What lies behind a value: its bounds, its ties, and what each document cost; and which slices changed.

pub mod bounds;
pub mod regrets;
pub mod slices;
pub mod ties;
