//! Fuses the lists of all queries.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::choices::{Choices, Method};
use super::combine::Combiner;
use super::condorcet;
use super::query::{Given, Query};
use crate::error::{Error, Kind, Result, show};
use crate::ids::interner::{Arena, Ids};
use crate::memory::{Vec, vec};
use crate::notes::Notes;
use crate::rank::run::Run;
use crate::text::list::{List, Ranks, Row};
use crate::threads::on_threads;
use crate::watch::{Event, Watch};

/// How many queries a thread takes at a time.
const AT_ONCE: usize = 16;

/// The fused lists of adjacent queries.
#[derive(Default)]
struct Part {
    /// The number of the first.
    first: usize,
    docs: Arena,
    scores: Vec<f64>,
    /// Where the list of each query ends.
    ends: Vec<usize>,
}

/// Fuses runs; queries are in the order in which they first occur.
///
/// # Errors
/// Where a document occurs twice in a list, scores do not fit the scale, or it is stopped.
pub fn fuse(
    runs: &[Given<'_>],
    choices: &Choices,
    threads: usize,
    watch: Watch<'_>,
) -> Result<Run> {
    let mut queries = Ids::default();
    let mut places: Vec<Vec<Option<usize>>> = vec![];
    for (number, run) in runs.iter().enumerate() {
        for place in 0..run.lists.len() {
            let query = queries.number(&run.lists.query(place));
            if query == places.len() {
                places.push(vec![None; runs.len()]);
            }
            places[query][number] = Some(place);
        }
    }
    let next = AtomicUsize::new(0);
    let most = places.len().div_ceil(AT_ONCE);
    let outcomes = on_threads(threads.min(most), watch, |watch: Watch<'_>| {
        let mut made = vec![];
        let (mut query, mut combiner) = (Query::default(), Combiner::default());
        loop {
            let first = next.fetch_add(1, Ordering::Relaxed) * AT_ONCE;
            if first >= places.len() {
                return Ok(made);
            }
            watch(Event::Work)?;
            let mut part = Part { first, ..Part::default() };
            for number in first..places.len().min(first + AT_ONCE) {
                query.read(runs, &places[number], choices)?;
                let name = queries.texts().get(number);
                fuse_query(&mut query, &mut combiner, runs, choices, &mut part)
                    .map_err(|error| of_query(&error, name))?;
            }
            made.push(part);
        }
    });
    let mut parts = vec![];
    for outcome in outcomes {
        let outcome: Result<Vec<Part>> = outcome;
        parts.extend(outcome?);
    }
    parts.sort_unstable_by_key(|part| part.first);
    join(&parts, queries.texts())
}

fn fuse_query(
    query: &mut Query,
    combiner: &mut Combiner,
    runs: &[Given<'_>],
    choices: &Choices,
    part: &mut Part,
) -> Result<()> {
    let of_condorcet;
    let scores = if choices.method == Method::Condorcet {
        let by_borda = Choices { method: Method::Borda, depth: usize::MAX, ..choices.clone() };
        let borda = combiner.combine(query, runs, &by_borda)?;
        let start: Vec<u32> = query.order(borda, &by_borda).iter().copied().collect();
        of_condorcet = condorcet::score(query, &choices.weights, &start);
        &of_condorcet[..]
    } else {
        combiner.combine(query, runs, choices)?
    };
    if let Some(wrong) = scores.iter().find(|score| !score.is_finite()) {
        return Err(too_large(*wrong));
    }
    let order: Vec<u32> = query.order(scores, choices).iter().copied().collect();
    for doc in order {
        part.docs.push(query.docs.texts().get(doc as usize));
        part.scores.push(scores[doc as usize]);
    }
    part.ends.push(part.scores.len());
    Ok(())
}

fn join(parts: &[Part], queries: &Arena) -> Result<Run> {
    let mut run = Run::default();
    let mut list = List::default();
    for part in parts {
        let mut start = 0;
        for (number, &end) in part.ends.iter().enumerate() {
            list.query = queries.get(part.first + number);
            list.rows.clear();
            list.rows.extend((start..end).map(|row| Row {
                doc: part.docs.get(row),
                score: part.scores[row],
                line: 0,
            }));
            list.ranks = Ranks::default();
            run.add(&list, 0);
            start = end;
        }
    }
    run.finish(Notes::default())
}

/// Says in which query scores could not be fused.
fn of_query(error: &Error, query: &[u8]) -> Error {
    let message = format!("{} in query {}", error.message(), show(query));
    let named = Error::new(error.kind(), error.code(), message).hint(error.hint_text());
    match &error.place().file {
        Some(file) => named.file(file),
        None => named,
    }
}

fn too_large(score: f64) -> Error {
    Error::new(
        Kind::Format,
        "bad_scale",
        format!("expected scores that can be added, found a fused score of {score}"),
    )
    .hint("scores are too large or infinite; use a method that goes by ranks, such as rrf")
}
