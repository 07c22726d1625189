//! Text: reading a file or bytes, cutting them into blocks and lines, and parsing the TREC formats.

pub mod blocks;
mod continued;
pub mod fields;
mod lines;
pub mod list;
pub mod source;
pub mod split;
pub mod trec;
pub mod written;
