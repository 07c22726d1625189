//! Evaluates a run whose rows come in any order, in bounded memory: what exceeds it is partitioned by
//! query in files, and one partition after another is evaluated in memory.
//!
//! Values, their order, notes and errors are those of a [`Run`] in memory.

use crate::error::{Error, Kind, Result, earlier};
use crate::evaluate::evaluation::Evaluation;
use crate::evaluate::held::{evaluate_run, finish_all, score_run};
use crate::evaluate::plan::Plan;
use crate::evaluate::scorer::Scored;
use crate::notes::Notes;
use crate::qrels::judgments::Judgments;
use crate::rank::run::Run;
use crate::rank::spilled_lists::SpilledLists;
use crate::table::queue::Room;
use crate::text::list::{List, Ranks};
use crate::watch::Watch;

/// The rows of a run, in memory as long as they fit.
pub struct SpilledRun<'a> {
    room: Room<'a>,
    held: Run,
    partitioned: Option<Partitioned>,
}

/// Rows by query on disk.
#[derive(Debug)]
struct Partitioned {
    rows: SpilledLists,
    /// Of each query, what its ranks say, and its first line.
    ranks: Vec<(Ranks, u64)>,
}

impl<'a> SpilledRun<'a> {
    /// A run without rows, which may hold so many.
    pub fn new(room: Room<'a>) -> Self {
        Self { room, held: Run::default(), partitioned: None }
    }

    /// Adds adjacent rows of one query, whose lines follow `lines_before` others.
    pub fn add(&mut self, list: &List<'_>, lines_before: u64) -> Result<()> {
        if let Some(partitioned) = &mut self.partitioned {
            return partitioned.add(list, lines_before);
        }
        self.held.add(list, lines_before);
        if let Some(room) = self.room.spill(self.held.size())? {
            let rows = SpilledLists::new(room.clone());
            let mut partitioned = Partitioned { rows, ranks: Vec::new() };
            std::mem::take(&mut self.held).each_stretch(|list| partitioned.add(list, 0))?;
            self.partitioned = Some(partitioned);
        }
        Ok(())
    }

    /// Evaluates all rows, and tells how many bytes were written to files.
    pub fn evaluate(
        self,
        plan: &Plan,
        judgments: &Judgments,
        notes: Notes,
        threads: usize,
        watch: Watch<'_>,
    ) -> Result<(Evaluation, u64)> {
        let Some(partitioned) = self.partitioned else {
            let run = self.held.finish(notes)?;
            let made = evaluate_run(plan, judgments, &run, threads, watch)?;
            return Ok((made, 0));
        };
        partitioned.evaluate((plan, judgments), notes, threads, watch)
    }
}

impl Partitioned {
    fn add(&mut self, list: &List<'_>, lines_before: u64) -> Result<()> {
        let query = self.rows.add(list, lines_before)?;
        if let Some((ranks, _)) = self.ranks.get_mut(query) {
            ranks.merge(&list.ranks);
        } else {
            let line = list.rows.first().map_or(0, |row| lines_before + row.line);
            self.ranks.push((list.ranks, line));
        }
        Ok(())
    }

    fn evaluate(
        self,
        (plan, judgments): (&Plan, &Judgments),
        mut notes: Notes,
        threads: usize,
        watch: Watch<'_>,
    ) -> Result<(Evaluation, u64)> {
        let Self { mut rows, ranks } = self;
        let mut scored: Vec<Scored> = Vec::new();
        // All partitions are looked at, for the first mistake may be in the last one.
        let mut first_error: Option<Error> = None;
        while let Some(run) = rows.take_next()? {
            let error;
            (scored, error) = score_run((plan, judgments), &run, scored, threads, watch);
            match error {
                Some(error) if error.kind() == Kind::Interrupted => return Err(error),
                error => first_error = earlier(first_error, error),
            }
        }
        if let Some(error) = first_error {
            return Err(error);
        }
        for (ranks, line) in &ranks {
            ranks.note(&mut notes, (0, *line));
        }
        let made = finish_all((plan, judgments), rows.queries().texts(), &notes, scored)?;
        Ok((made, rows.written()))
    }
}
