//! How far two rankings of the same query agree: their overlap by depth, and their correlation.

pub mod choices;
pub mod compare;
mod correlation;
mod overlap;
mod pair;
