//! Evaluates a run whose rows come in any order, in bounded memory: what exceeds it is partitioned by
//! query in files, and one partition after another is evaluated in memory.
//!
//! Values, their order, notes and errors are those of a [`Run`] in memory.

use crate::error::{Error, Kind, Result, earlier, show};
use crate::evaluate::evaluation::Evaluation;
use crate::evaluate::held::{evaluate_run, finish_all, score_run};
use crate::evaluate::plan::Plan;
use crate::evaluate::scorer::Scored;
use crate::evaluate::spilled_rows::hash_ids;
use crate::ids::interner::Ids;
use crate::memory::{Vec, vec};
use crate::notes::Notes;
use crate::qrels::judgments::Judgments;
use crate::rank::run::Run;
use crate::table::frame::{Column, Frame};
use crate::table::queue::{Next, Queue, Spill};
use crate::table::spill::{Partition, Partitions};
use crate::text::list::{List, Ranks, Row};
use crate::watch::Watch;

/// What evaluating a row takes in memory besides its values.
const ROW: u64 = 128;
/// How many rows are partitioned at once.
const AT_ONCE: usize = 1 << 16;

/// Says how much memory there is, which takes a while to find out.
pub type FindRoom<'a> = &'a (dyn Fn() -> Result<Spill> + Sync);

/// The rows of a run, in memory as long as they fit.
pub struct SpilledRun<'a> {
    find_room: FindRoom<'a>,
    /// How many bytes to hold before asking for the room.
    unasked: usize,
    room: Option<Spill>,
    held: Run,
    partitioned: Option<Partitioned>,
}

/// Rows by query on disk.
#[derive(Debug)]
struct Partitioned {
    room: Spill,
    queries: Ids,
    /// Of each query, what its ranks say, and its first line.
    ranks: Vec<(Ranks, u64)>,
    /// Rows that are not in a partition yet: numbers of queries, lines, scores and documents.
    next: Frame,
    partitions: Partitions,
}

impl<'a> SpilledRun<'a> {
    /// A run without rows, which asks for room once it holds more than `unasked` bytes.
    #[must_use]
    pub fn new(unasked: usize, find_room: FindRoom<'a>) -> Self {
        Self { find_room, unasked, room: None, held: Run::default(), partitioned: None }
    }

    /// Adds adjacent rows of one query, whose lines follow `lines_before` others.
    ///
    /// # Errors
    /// Where a file can't be written.
    pub fn add(&mut self, list: &List<'_>, lines_before: u64) -> Result<()> {
        if let Some(partitioned) = &mut self.partitioned {
            return partitioned.add(list, lines_before);
        }
        self.held.add(list, lines_before);
        let size = self.held.size();
        if size <= self.unasked {
            return Ok(());
        }
        let room = match self.room.take() {
            Some(room) => room,
            None => (self.find_room)()?,
        };
        if size > room.most_held() {
            let mut partitioned = Partitioned::new(room);
            std::mem::take(&mut self.held).each_stretch(|list| partitioned.add(list, 0))?;
            self.partitioned = Some(partitioned);
        } else {
            self.unasked = room.most_held();
            self.room = Some(room);
        }
        Ok(())
    }

    /// Evaluates all rows, and tells how many bytes were written to files.
    ///
    /// # Errors
    /// As [`evaluate_run`], or where a file can't be read, or a
    /// single query takes more memory than there may be used.
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
    fn new(room: Spill) -> Self {
        let partitions = room.open();
        Self { room, queries: Ids::default(), ranks: Vec::new(), next: empty(), partitions }
    }

    fn add(&mut self, list: &List<'_>, lines_before: u64) -> Result<()> {
        let query = self.queries.number(list.query);
        if let Some((ranks, _)) = self.ranks.get_mut(query) {
            ranks.merge(&list.ranks);
        } else {
            let line = list.rows.first().map_or(0, |row| lines_before + row.line);
            self.ranks.push((list.ranks, line));
        }
        for row in &list.rows {
            push(&mut self.next, query, row, lines_before);
        }
        if self.next[0].len() < AT_ONCE { Ok(()) } else { self.partition() }
    }

    /// Moves rows to their partitions.
    fn partition(&mut self) -> Result<()> {
        let mut hashes = Vec::new();
        hash_ids(&self.next[0], &mut hashes);
        self.partitions.push(&self.next, &hashes)?;
        self.next.iter_mut().for_each(Column::clear);
        Ok(())
    }

    fn evaluate(
        mut self,
        (plan, judgments): (&Plan, &Judgments),
        mut notes: Notes,
        threads: usize,
        watch: Watch<'_>,
    ) -> Result<(Evaluation, u64)> {
        self.partition()?;
        let Self { room, queries, ranks, partitions, .. } = self;
        let mut queue = Queue::default();
        queue.fill(partitions);
        let needed = |partition: &Partition| partition.needed(ROW);
        let name = |number: String| {
            number.parse().map_or(number, |query: usize| show(queries.texts().get(query)))
        };
        let mut scored: Vec<Scored> = Vec::new();
        // All partitions are looked at, for the first mistake may be in the last one.
        let mut first_error: Option<Error> = None;
        loop {
            let frame = match queue.next(&room, needed, hash_ids, name)? {
                Next::Whole(frame) => frame,
                Next::Split => continue,
                Next::End => break,
            };
            let run = collect(&frame, &queries)?;
            drop(frame);
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
        let made = finish_all((plan, judgments), queries.texts(), &notes, scored)?;
        Ok((made, queue.written()))
    }
}

fn empty() -> Frame {
    let texts = Column::Texts { offsets: vec![0], bytes: Vec::new() };
    vec![Column::Ints(Vec::new()), Column::Ints(Vec::new()), Column::Doubles(Vec::new()), texts]
}

fn push(frame: &mut Frame, query: usize, row: &Row<'_>, lines_before: u64) {
    let [Column::Ints(queries), Column::Ints(lines), Column::Doubles(scores), docs] =
        &mut frame[..]
    else {
        unreachable!("a frame of a run has these columns")
    };
    queries.push(query.cast_signed() as i64);
    lines.push((lines_before + row.line).cast_signed());
    scores.push(row.score);
    docs.push_text(row.doc);
}

/// The rows of a partition as a run.
fn collect(frame: &Frame, queries: &Ids) -> Result<Run> {
    let [numbers, lines, scores, Column::Texts { offsets, bytes }] = &frame[..] else {
        unreachable!("a frame of a run has these columns")
    };
    let mut run = Run::default();
    let values = numbers.ints().iter().zip(lines.ints()).zip(scores.doubles());
    for (((&query, &line), &score), ends) in values.zip(offsets.windows(2)) {
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // as they were written
        let (query, doc) = (query as usize, &bytes[ends[0] as usize..ends[1] as usize]);
        run.add_row(queries.texts().get(query), &Row { doc, score, line: line.cast_unsigned() });
    }
    run.finish(Notes::default())
}
