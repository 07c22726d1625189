//! Rankings logged in production: how they are read and packed, and the labels that belong to them.

pub mod columns;
pub mod digest;
pub mod events;
pub mod json;
pub mod labels;
pub mod list;
pub mod names;
pub mod objects;
pub mod pack;
mod shown;
pub mod times;
