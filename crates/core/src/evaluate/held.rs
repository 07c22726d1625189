//! Evaluates a run that is held in memory, and puts together what its lists came to.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::error::{Error, Kind, Result, earlier, show};
use crate::evaluate::evaluation::{Evaluation, finish};
use crate::evaluate::plan::Plan;
use crate::evaluate::scorer::{Scored, Scorer};
use crate::ids::folded::Folded;
use crate::ids::interner::{Arena, Ids};
use crate::ids::vocabulary::Vocabulary;
use crate::notes::{Note, Notes};
use crate::qrels::axis::Axis;
use crate::qrels::judgments::{Judgments, count_common};
use crate::rank::run::{Run, no_rows};
use crate::text::list::List;
use crate::threads::{FEW_ROWS, on_threads};
use crate::watch::{Event, Watch};

/// Evaluates a run that is in memory.
pub fn evaluate_run(
    plan: &Plan,
    judgments: &Judgments,
    run: &Run,
    threads: usize,
    watch: Watch<'_>,
) -> Result<Evaluation> {
    plan.check_lists(judgments.axis())?;
    match score_run((plan, judgments), run, Vec::new(), threads, watch) {
        (_, Some(error)) => Err(error),
        (scored, None) => finish_all((plan, judgments), run.queries(), run.notes(), scored),
    }
}

/// Scores the lists of a run on several threads, beside what others came to; returns all of that, and
/// the first mistake.
pub(super) fn score_run(
    (plan, judgments): (&Plan, &Judgments),
    run: &Run,
    scored: Vec<Scored>,
    threads: usize,
    watch: Watch<'_>,
) -> (Vec<Scored>, Option<Error>) {
    let queries = run.queries().len();
    let threads = if run.rows() < FEW_ROWS { 1 } else { threads.min(queries) };
    let known = Mutex::new(scored);
    let next = Mutex::new(0..queries);
    let stop = AtomicBool::new(false);
    let work = |watch: Watch<'_>| {
        let before = known.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut scorer = Scorer::resume(plan, judgments.axis(), before.unwrap_or_default());
        let mut list = List::default();
        let mut first_error = None;
        while !stop.load(Ordering::Relaxed) {
            let query = next.lock().unwrap_or_else(PoisonError::into_inner).next();
            let Some(query) = query else { break };
            run.fill(query, &mut list);
            let judged = judgments.find_query(list.query);
            // All queries are looked at, so that the first mistake is the same for any threads.
            if let Err(error) = scorer.score(judgments, judged, &mut list) {
                first_error = earlier(first_error, Some(error));
            }
            scorer.compute_held();
            if let Err(stopped) = watch(Event::Work) {
                stop.store(true, Ordering::Relaxed);
                return (scorer.finish(), Some(stopped));
            }
        }
        (scorer.finish(), first_error)
    };
    let (used, errors): (Vec<_>, Vec<_>) = on_threads(threads, watch, work).into_iter().unzip();
    let mut scored = known.into_inner().unwrap_or_else(PoisonError::into_inner);
    scored.extend(used);
    (scored, errors.into_iter().fold(None, earlier))
}

/// Puts together what all lists came to.
pub(super) fn finish_all(
    (plan, judgments): (&Plan, &Judgments),
    queries: &Arena,
    notes: &Notes,
    parts: Vec<Scored>,
) -> Result<Evaluation> {
    let dropped = parts.iter().map(|scored| scored.dropped).sum();
    let mut run_only = Ids::default();
    for query in queries.iter().filter(|query| judgments.find_query(query).is_none()) {
        run_only.number(query);
    }
    let mut evaluation = finish_run(plan, judgments.axis(), parts, &Vocabulary::Texts(run_only))?;
    evaluation.notes.merge(notes);
    evaluation.notes.add_many(Note::DuplicatesResolved, dropped, (0, 0));
    Ok(evaluation)
}

/// Puts together what lists came to, and refuses a run that has nothing to do with the judgments.
pub fn finish_run(
    plan: &Plan,
    axis: &Axis,
    parts: Vec<Scored>,
    run_only: &Vocabulary,
) -> Result<Evaluation> {
    let is_any_common = parts.iter().any(|scored| !scored.is_empty());
    if !is_any_common {
        return Err(if run_only.is_empty() { no_rows() } else { nothing_common(axis, run_only) });
    }
    let mut evaluation = finish(plan, axis, parts)?;
    evaluation.counts.run_only = run_only.len() as u64;
    let names: Vec<_> = (0..run_only.len()).map(|query| run_only.get(query)).collect();
    let missing = (0..axis.len()).filter(|&query| !evaluation.is_present[query]);
    let missing: Vec<_> = missing.map(|query| axis.name(query)).collect();
    let (names, missing) = (names.iter().map(|name| &**name), missing.iter().map(|name| &**name));
    let sizes = (names.len(), missing.len());
    let alike = count_common(&mut Folded::default(), (names, sizes.0), (missing, sizes.1));
    evaluation.notes.add_many(Note::EqualAfterNormalisation, alike, (0, 0));
    Ok(evaluation)
}

fn nothing_common(axis: &Axis, run_only: &Vocabulary) -> Error {
    let shown = |id: &[u8]| format!("`{}`", show(id));
    let judged: Vec<String> = axis.names().take(3).map(|name| shown(&name)).collect();
    let retrieved: Vec<String> =
        (0..run_only.len().min(3)).map(|query| shown(&run_only.get(query))).collect();
    let bare = |id: &[u8]| {
        let zeros = id.iter().take_while(|&&byte| byte == b'0').count();
        id[zeros..].to_vec()
    };
    let bared: Vec<Vec<u8>> = axis.names().take(1000).map(|name| bare(&name)).collect();
    let is_padded =
        (0..run_only.len().min(1000)).any(|query| bared.contains(&bare(&run_only.get(query))));
    let hint = if is_padded {
        "the ids differ by leading zeros: ids are text, so write them alike"
    } else {
        "do both files belong to one collection?"
    };
    Error::new(
        Kind::Format,
        "no_common_queries",
        format!(
            "expected queries that are both judged and in the run, found none: judged are {}, in \
             the run are {}",
            judged.join(", "),
            retrieved.join(", ")
        ),
    )
    .hint(hint)
}
