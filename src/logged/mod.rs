//! Rankings logged in production: their packed documents, and the labels that belong to them.

pub mod labels;
pub mod pack;
