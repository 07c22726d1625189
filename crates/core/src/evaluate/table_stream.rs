//! Evaluates a table batch by batch: in memory are one batch, and one value per query and measure.

use crate::error::Result;
use crate::evaluate::evaluation::Evaluation;
use crate::evaluate::plan::Plan;
use crate::ids::vocabulary::Vocabulary;
use crate::policy::{Duplicates, Ties};
use crate::qrels::attributes::{Attributes, pick};
use crate::rank::rankings::Rankings;
use crate::rank::rows::Table;

/// What was evaluated so far.
#[derive(Debug, Default)]
pub struct TableStream {
    names: Vocabulary,
    attributes: Attributes,
    made: Option<Evaluation>,
    rows: u64,
}

impl TableStream {
    /// Evaluates the rows of some more queries, all rows of each; says whether none of the queries
    /// came before and, if `is_grouped` asks for it, whether the rows of each are together. If not,
    /// nothing was taken, for rows of a query are evaluated together.
    ///
    /// # Errors
    /// As [`Rankings::from_table`] and [`Rankings::evaluate`]; lines are 1-based rows of the stream.
    pub fn push(
        &mut self,
        plan: &Plan,
        table: &Table<'_>,
        choices: (Ties, Duplicates),
        is_grouped: bool,
        threads: usize,
    ) -> Result<bool> {
        let evaluated = evaluate(plan, table, choices, is_grouped, threads);
        self.append(evaluated, table.scores.len())
    }

    fn append(&mut self, evaluated: Evaluated, rows: usize) -> Result<bool> {
        let evaluated = evaluated.map_err(|error| error.after_lines(self.rows))?;
        let Some((rankings, evaluation)) = evaluated else { return Ok(false) };
        if let Some(names) = rankings.axis().ids()
            && !self.names.append_new(names)
        {
            return Ok(false);
        }
        self.attributes.append(rankings.attributes());
        match &mut self.made {
            Some(made) => made.append(evaluation),
            None => self.made = Some(evaluation),
        }
        self.rows += rows as u64;
        Ok(true)
    }

    /// The evaluation of all, what the queries are called, and what is known of them besides, in another
    /// order where there is one; nothing if there was no row.
    pub fn finish(
        self,
        plan: &Plan,
        order: Option<&[u32]>,
    ) -> Option<(Evaluation, Vocabulary, Attributes)> {
        let Self { mut names, mut attributes, made, .. } = self;
        let mut made = made?;
        if let Some(order) = order {
            names = pick(&names, order);
            attributes.reorder(order);
            made.reorder(order);
        }
        made.aggregate(&plan.averaging());
        Some((made, names, attributes))
    }
}

/// What some queries came to; nothing where the rows of one are not together, but have to be.
type Evaluated = Result<Option<(Rankings, Evaluation)>>;

fn evaluate(
    plan: &Plan,
    table: &Table<'_>,
    choices: (Ties, Duplicates),
    is_grouped: bool,
    threads: usize,
) -> Evaluated {
    let rankings = Rankings::from_table(table, choices, false, threads)?;
    if is_grouped && !rankings.is_grouped() {
        return Ok(None);
    }
    let evaluation = rankings.evaluate(plan, threads)?;
    Ok(Some((rankings, evaluation)))
}
