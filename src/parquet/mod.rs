//! Checks the metadata of Parquet files, and decodes simple columns; another library decodes all others.
//!
//! That library ends the process for some damage. What is checked here is copied, and the copy is all
//! of the metadata that it sees.

pub mod compact;
pub mod footer;
pub mod pages;
pub mod rows;
pub mod schema;
pub mod source;
pub mod values;
