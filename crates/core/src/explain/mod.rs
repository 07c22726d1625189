//! What lies behind a value: its bounds, its ties, and what each document cost; and which slices changed.

pub mod bounds;
mod labels;
mod quotient;
pub mod regrets;
mod rows;
pub mod slices;
mod staircase;
pub mod ties;
