//! Evaluates a run while reading it, on several threads, with one block per thread in memory.
//!
//! Blocks end where the query changes, so a query is complete when its block is. If a query comes
//! back in a later block, others read the run again and bring its rows together; all ways give the same
//! values and the same errors.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::error::{Error, Result};
use crate::evaluate::evaluation::Evaluation;
use crate::evaluate::held::finish_run;
use crate::evaluate::plan::Plan;
use crate::evaluate::scorer::Scorer;
use crate::ids::interner::Ids;
use crate::ids::vocabulary::Vocabulary;
use crate::notes::{Lines, Note, Notes};
use crate::qrels::judgments::Judgments;
use crate::text::blocks::{Block, Blocks};
use crate::text::list::List;
use crate::text::source::Input;
use crate::text::split::Tape;
use crate::text::trec::{self, RunNotes};
use crate::threads::on_threads;
use crate::watch::{Event, Watch};

/// Inputs smaller than this are not worth a thread.
const SMALL: u64 = 1 << 20;

/// Evaluates a run from a source; nothing if that can't be read twice, or a query's rows are apart.
pub fn evaluate(
    plan: &Plan,
    judgments: &Judgments,
    input: &Input,
    threads: usize,
    watch: Watch<'_>,
) -> Result<Option<Evaluation>> {
    plan.check_lists(judgments.axis())?;
    if !input.is_rereadable() {
        return Ok(None);
    }
    let threads = if input.size().is_some_and(|size| size < SMALL) { 1 } else { threads };
    let blocks = Blocks::new(input.open(watch)?, watch)?;
    evaluate_grouped(plan, judgments, blocks, threads, watch)
}

/// What all threads share while a run streams past.
struct Shared<'a> {
    plan: &'a Plan,
    judgments: &'a Judgments,
    blocks: Mutex<Blocks>,
    /// By judged query, whether its list was seen.
    is_seen: Vec<AtomicBool>,
    run_only: Mutex<Ids>,
    comes_back: AtomicBool,
    stop: AtomicBool,
}

/// What one thread made of its blocks.
struct Part<'a> {
    scorer: Scorer<'a>,
    notes: RunNotes,
    lines: Vec<(u64, u64)>,
    /// The block in which it stopped, and why.
    error: Option<(u64, Error)>,
}

/// Evaluates a run whose queries' rows are adjacent; nothing if they are not.
fn evaluate_grouped(
    plan: &Plan,
    judgments: &Judgments,
    blocks: Blocks,
    threads: usize,
    watch: Watch<'_>,
) -> Result<Option<Evaluation>> {
    let name = blocks.name().to_owned();
    let had_bom = blocks.had_bom;
    let shared = Shared {
        plan,
        judgments,
        blocks: Mutex::new(blocks),
        is_seen: (0..judgments.axis().len()).map(|_| AtomicBool::new(false)).collect(),
        run_only: Mutex::default(),
        comes_back: AtomicBool::new(false),
        stop: AtomicBool::new(false),
    };
    let parts = on_threads(threads, watch, |watch| shared.work(watch));
    if shared.comes_back.load(Ordering::Relaxed) {
        return Ok(None);
    }
    let mut lines = Lines::default();
    let mut notes = RunNotes::default();
    if had_bom {
        notes.notes.add(Note::Bom, (0, 1));
    }
    let mut scored = Vec::with_capacity(parts.len());
    let mut first_error: Option<(u64, Error)> = None;
    for part in parts {
        for (block, count) in part.lines {
            lines.set(block, count);
        }
        notes.merge(&part.notes);
        scored.push(part.scorer.finish());
        if let Some((block, error)) = part.error
            && first_error.as_ref().is_none_or(|&(first, _)| block < first)
        {
            first_error = Some((block, error));
        }
    }
    if let Some((block, error)) = first_error {
        return Err(error.after_lines(lines.before(block)).file(&name));
    }
    let dropped = scored.iter().map(|scored| scored.dropped).sum();
    let run_only = shared.run_only.into_inner().unwrap_or_else(PoisonError::into_inner);
    let mut evaluation = finish_run(plan, judgments.axis(), scored, &Vocabulary::Texts(run_only))
        .map_err(|error| error.file(&name))?;
    evaluation.notes.merge(&notes.finish(&lines));
    evaluation.notes.add_many(Note::DuplicatesResolved, dropped, (0, 0));
    Ok(Some(evaluation))
}

impl<'a> Shared<'a> {
    fn work(&self, watch: Watch<'_>) -> Part<'a> {
        let mut part = Part {
            scorer: Scorer::new(self.plan, self.judgments.axis()),
            notes: RunNotes::default(),
            lines: Vec::new(),
            error: None,
        };
        let mut block = Block::default();
        let mut tape = Tape::default();
        while !self.stop.load(Ordering::Relaxed) {
            let (outcome, number, consumed) = {
                let mut blocks = self.blocks.lock().unwrap_or_else(PoisonError::into_inner);
                let number = blocks.count();
                (blocks.next(&mut block, watch), number, blocks.consumed())
            };
            let outcome = outcome.and_then(|is_there| {
                watch(Event::Read(consumed))?;
                if is_there { self.read(&block, &mut tape, &mut part).map(Some) } else { Ok(None) }
            });
            match outcome {
                Ok(Some(lines)) => part.lines.push((number, lines)),
                Ok(None) => break,
                Err(error) => {
                    part.error = Some((number, error));
                    self.stop.store(true, Ordering::Relaxed);
                }
            }
        }
        part
    }

    fn read(&self, block: &Block, tape: &mut Tape, part: &mut Part<'a>) -> Result<u64> {
        let Part { scorer, notes, .. } = part;
        let mut odd_ranks = Notes::default();
        let each = |list: &mut List<'_>| {
            let judged = self.judgments.find_query(list.query);
            if !self.is_new(judged, list.query) {
                self.comes_back.store(true, Ordering::Relaxed);
                self.stop.store(true, Ordering::Relaxed);
                return Ok(());
            }
            list.ranks.note(&mut odd_ranks, (block.number, list.rows[0].line));
            scorer.score(self.judgments, judged, list)?;
            scorer.compute_held();
            Ok(())
        };
        let score_type = self.plan.score_type;
        let lines = trec::read_run(block.text(), block.number, tape, score_type, notes, each);
        notes.notes.merge(&odd_ranks);
        lines
    }

    /// Whether a query is seen for the first time.
    fn is_new(&self, judged: Option<usize>, query: &[u8]) -> bool {
        if let Some(query) = judged {
            return !self.is_seen[query].swap(true, Ordering::Relaxed);
        }
        let mut run_only = self.run_only.lock().unwrap_or_else(PoisonError::into_inner);
        let count = run_only.texts().len();
        run_only.number(query) == count
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluate::held::evaluate_run;
    use crate::evaluate::plan::Measure;
    use crate::kernels::Needs;
    use crate::kernels::{self, Params};
    use crate::policy::{Aggregate, Duplicates, Policy, ScoreType};
    use crate::rank::run::Run;
    use crate::text::source::{Encoding, Origin};
    use proptest::prelude::*;

    fn bytes(text: &str) -> Input {
        Input { origin: Origin::Bytes(text.as_bytes().into()), encoding: Encoding::Utf8 }
    }

    fn judge(qrels: &str) -> Judgments {
        Judgments::read(&bytes(qrels), Duplicates::Error, &mut |_| Ok(())).unwrap()
    }

    fn plan(duplicates: Duplicates) -> Plan {
        let params = Params { k: Some(3), ..Params::default() };
        // The judgments of these tests have no subtopics.
        let made = kernels::kernels().map(|(name, make)| (name, make(&params)));
        let plain = made.filter(|(_, kernel)| kernel.needs() == Needs::Grades);
        let measures = plain.map(|(name, kernel)| Measure {
            name: name.to_owned(),
            kernel: kernel.into(),
            judged_only: false,
            aggregate: Aggregate::Mean,
        });
        Plan {
            measures: measures.collect(),
            cutoffs: vec![3],
            policy: Policy::default(),
            duplicates,
            score_type: ScoreType::Float64,
            weights: None,
            depth: usize::MAX,
            items: None,
            judged: None,
        }
    }

    /// What can be told of an evaluation: bits of all values, counts and notes.
    type Told = (Vec<Vec<u64>>, crate::evaluate::evaluation::Counts, Vec<(&'static str, u64, u64)>);

    fn tell(evaluation: &Evaluation) -> Told {
        let bits = |column: &Vec<f64>| column.iter().map(|value| value.to_bits()).collect();
        let values = evaluation.values.iter().map(bits).collect();
        (values, evaluation.counts.clone(), evaluation.notes.iter().collect())
    }

    fn in_memory(plan: &Plan, judgments: &Judgments, text: &str) -> Result<Told> {
        let run = Run::read(&bytes(text), plan.score_type, plan.duplicates, &mut |_| Ok(()))?;
        let outcome = evaluate_run(plan, judgments, &run, 1, &mut |_| Ok(()));
        outcome.map_err(|error| error.file("<bytes>")).map(|evaluation| tell(&evaluation))
    }

    fn streamed(
        plan: &Plan,
        judgments: &Judgments,
        text: &str,
        size: usize,
        threads: usize,
    ) -> Result<Option<Told>> {
        let watch: Watch<'_> = &mut |_| Ok(());
        let blocks = Blocks::with_size(bytes(text).open(watch)?, size, watch)?;
        let outcome = evaluate_grouped(plan, judgments, blocks, threads, watch)?;
        Ok(outcome.map(|evaluation| tell(&evaluation)))
    }

    /// Lines of a run, most of them well-formed; queries may come back.
    fn run_text() -> impl Strategy<Value = String> {
        let line = prop_oneof![
            60 => (0u8..6, 0u16..400, 0u8..5).prop_map(|(query, doc, score)| {
                format!("q{query} Q0 d{doc} 1 {score} tag\n")
            }),
            1 => Just("\n".to_owned()),
            1 => Just("q1 Q0 d1 1 0.5\n".to_owned()),
            1 => Just("q2  Q0\td2 1 -1e3 other\r\n".to_owned()),
            1 => Just("q3 Q0 d\u{e9} 1 nan tag\n".to_owned()),
        ];
        (prop::collection::vec(line, 1..60), any::<bool>()).prop_map(|(mut lines, grouped)| {
            if grouped {
                lines.sort_by(|a, b| a.split(' ').next().cmp(&b.split(' ').next()));
            }
            lines.concat()
        })
    }

    proptest! {
        #[test]
        fn streams_and_memory_tell_the_same(
            text in run_text(), size in 1usize..400, threads in 1usize..5, first in any::<bool>(),
        ) {
            let judgments = judge("q0 0 d1 2\nq1 0 d1 1\nq1 0 d2 0\nq2 0 d3 -1\nq4 0 d5 3\nq9 0 d1 1\n");
            let plan = plan(if first { Duplicates::First } else { Duplicates::Error });
            let expected = in_memory(&plan, &judgments, &text);
            match streamed(&plan, &judgments, &text, size, threads) {
                // The caller reads the run again, into memory.
                Ok(None) => {}
                Ok(Some(told)) => prop_assert_eq!(Ok(told), expected),
                Err(error) => prop_assert_eq!(Err(error), expected),
            }
        }
    }
}
