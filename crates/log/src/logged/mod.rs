//! Rankings logged in production: how they are read and packed, the labels that belong to them, and the
//! sums of their values.

pub mod clusters;
pub mod columns;
pub mod costs;
pub mod events;
pub mod grading;
pub mod id_set;
pub mod identity;
pub mod json;
pub mod known;
pub mod label_columns;
pub mod labels;
pub mod names;
pub mod objects;
pub mod settle;
mod shown;
pub mod times;
pub mod values;
