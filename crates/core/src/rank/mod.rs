//! Rankings: retrieved documents joined with their judgments, in rank order.

pub mod integers;
pub mod join;
pub mod join_columns;
pub mod lists;
pub mod order;
pub mod ranked;
pub mod rankings;
pub mod ranks;
pub mod rows;
pub mod run;
