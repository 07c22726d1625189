//! Rankings logged in production: their packed documents, the labels that belong to them, and the sums
//! of their values.

pub mod clusters;
pub mod costs;
pub mod grading;
pub mod id_set;
pub mod labels;
pub mod pack;
pub mod values;
