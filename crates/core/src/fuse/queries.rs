//! Fuses the lists of some queries, on several threads.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::choices::{Choices, Method};
use super::chunk::Chunk;
use super::combine::Combiner;
use super::condorcet;
use super::query::{Place, Query};
use crate::error::{Error, Kind, Result, show};
use crate::threads::on_threads;
use crate::watch::{Event, Watch};

/// How many queries a thread takes at a time.
const AT_ONCE: usize = 16;

/// A query, and its list in each run that has it.
pub(super) struct Asked<'a> {
    pub name: &'a [u8],
    pub places: Vec<Option<Place<'a>>>,
}

/// Fuses queries, and gives their lists in their order.
///
/// # Errors
/// Where a document occurs twice in a list, scores do not fit the scale, or it is stopped; that of the
/// first such query.
pub(super) fn fuse_all(
    asked: &[Asked<'_>],
    (names, choices): (&[&str], &Choices),
    threads: usize,
    watch: Watch<'_>,
) -> Result<Vec<Chunk>> {
    let next = AtomicUsize::new(0);
    let most = asked.len().div_ceil(AT_ONCE);
    let work = |watch: Watch<'_>| -> std::result::Result<Vec<(usize, Chunk)>, (usize, Error)> {
        let mut made = Vec::new();
        let mut fuser =
            Fuser { names, choices, query: Query::default(), combiner: Combiner::default() };
        loop {
            let first = next.fetch_add(1, Ordering::Relaxed) * AT_ONCE;
            if first >= asked.len() {
                return Ok(made);
            }
            watch(Event::Work).map_err(|stopped| (0, stopped))?;
            let mut part = Chunk::default();
            for (query, number) in asked[first..].iter().zip(first..).take(AT_ONCE) {
                fuser.fuse(query, &mut part).map_err(|error| (number, error))?;
            }
            made.push((first, part));
        }
    };
    let mut parts: Vec<(usize, Chunk)> = Vec::new();
    let mut mistake: Option<(usize, Error)> = None;
    for outcome in on_threads(threads.min(most), watch, work) {
        match outcome {
            Ok(made) => parts.extend(made),
            Err(other) if mistake.as_ref().is_none_or(|(first, _)| other.0 < *first) => {
                mistake = Some(other);
            }
            Err(_) => {}
        }
    }
    if let Some((_, error)) = mistake {
        return Err(error);
    }
    parts.sort_unstable_by_key(|&(first, _)| first);
    Ok(parts.into_iter().map(|(_, part)| part).collect())
}

/// Working memory for one query at a time.
struct Fuser<'a> {
    names: &'a [&'a str],
    choices: &'a Choices,
    query: Query,
    combiner: Combiner,
}

impl Fuser<'_> {
    fn fuse(&mut self, asked: &Asked<'_>, chunk: &mut Chunk) -> Result<()> {
        let Self { names, choices, query, combiner } = self;
        query.read(&asked.places, names, choices)?;
        let of_query = |error: Error| name_query(&error, asked.name);
        let of_condorcet;
        let scores = if choices.method == Method::Condorcet {
            let by_borda = Choices { method: Method::Borda, depth: usize::MAX, ..choices.clone() };
            let borda = combiner.combine(query, names, &by_borda).map_err(of_query)?;
            let start: Vec<u32> = query.order(borda, &by_borda).1.to_vec();
            of_condorcet = condorcet::score(query, &choices.weights, &start);
            &of_condorcet[..]
        } else {
            combiner.combine(query, names, choices).map_err(of_query)?
        };
        if let Some(wrong) = scores.iter().find(|score| !score.is_finite()) {
            return Err(of_query(too_large(*wrong)));
        }
        let (docs, order) = query.order(scores, choices);
        let rows = order.iter().map(|&doc| (docs.get(doc as usize), scores[doc as usize]));
        chunk.push(asked.name, rows);
        Ok(())
    }
}

/// Says in which query scores could not be fused.
fn name_query(error: &Error, query: &[u8]) -> Error {
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
