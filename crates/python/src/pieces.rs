//! Evaluates a run in columns of Python piece by piece, so that its texts are copied into memory that
//! stays close to the processor.

use std::ops::Range;

use rankscope_core::evaluate::plan::Plan;
use rankscope_core::evaluate::run_parts::RunParts;
use rankscope_core::rank::join_columns::RunColumns;
use rankscope_core::table::cells::Cells;

use super::cells::Doubles;
use super::id_cells::{Copied, IdCells};

/// So many rows are read at once, which are worth several threads.
const ROWS: usize = 1 << 17;

/// A run where Python has it.
pub(super) struct RunCells<'a> {
    pub(super) queries: IdCells<'a>,
    pub(super) docs: IdCells<'a>,
    pub(super) scores: Doubles<'a>,
    pub(super) are_ranks: bool,
    pub(super) ranks: Option<Doubles<'a>>,
}

/// Some rows of a column of numbers.
#[derive(Debug)]
struct Rows<'a>(&'a Doubles<'a>, Range<usize>);

impl Cells<f64> for Rows<'_> {
    fn len(&self) -> usize {
        self.1.len()
    }

    fn read(&self, start: usize, out: &mut [f64]) {
        self.0.read(self.1.start + start, out);
    }
}

impl RunCells<'_> {
    /// Whether pieces pay: documents that are integers are numbered, once for all rows.
    pub(super) fn are_many_texts(&self) -> bool {
        self.docs.are_texts() && self.docs.len() > ROWS
    }

    /// Adds the run to parts that have no rows yet; says whether that went well. Otherwise the run is
    /// read anew as a whole, which finds what is wrong with it, if anything is: a query whose rows are
    /// apart is enough.
    pub(super) fn push_to(&self, parts: &mut RunParts, plan: &Plan, threads: usize) -> bool {
        self.try_push_to(parts, plan, threads).is_some()
    }

    fn try_push_to(&self, parts: &mut RunParts, plan: &Plan, threads: usize) -> Option<()> {
        let (mut queries, mut docs) = (Copied::default(), Copied::default());
        let count = self.scores.len();
        let ranks = self.ranks.as_ref();
        let lengths = [self.queries.len(), self.docs.len(), ranks.map_or(count, Cells::len)];
        if lengths != [count; 3] {
            return None;
        }
        let (mut start, mut rows) = (0, ROWS);
        while start < count {
            let end = count.min(start + rows);
            self.queries.copy(start..end, &mut queries)?;
            let end = if end == count { end } else { start + queries.last_start() };
            if end == start {
                rows *= 2;
                continue;
            }
            queries.truncate(end - start);
            self.docs.copy(start..end, &mut docs)?;
            let ranks = ranks.map(|ranks| Rows(ranks, start..end));
            let run = RunColumns {
                queries: queries.column(),
                docs: docs.column(),
                scores: &Rows(&self.scores, start..end),
                are_ranks: self.are_ranks,
                ranks: ranks.as_ref().map(|ranks| ranks as _),
            };
            if !parts.push(plan, &run, threads, None).ok()? {
                return None;
            }
            start = end;
        }
        Some(())
    }
}
