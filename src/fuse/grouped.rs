//! Fuses runs while reading them side by side.
//!
//! A query is fused once all runs that are still read have had it. Until then its lists are held, which
//! are few where the queries of the runs come in about the same order.

use std::ops::Range;

use super::chunk::Chunk;
use super::held::Growing;
use super::lines::Lines;
use super::output::{Fusion, Output, Summary, fuse_into};
use super::pieces::Sink;
use super::queries::Asked;
use super::query::Place;
use super::sources::{Part, Source};
use super::turns::Turn;
use crate::error::{Kind, Result};
use crate::ids::interner::Ids;
use crate::memory::{self, Vec, vec};
use crate::rank::run::{Run, no_rows};
use crate::table::queue::Room;
use crate::watch::Watch;

/// Fuses runs, and writes the lines of the fused one, which end with a tag; queries are in the order in
/// which they first occur, run by run. Nothing if runs have to be read otherwise: the rows of a query are
/// not together, lists exceed the room, or there is a mistake, which is the first one only if all runs
/// before it have none. What was written by then is void.
///
/// # Errors
/// Where it is stopped, or memory runs out.
pub fn fuse_to_lines(
    sources: &mut [Box<dyn Source + '_>],
    fusion: Fusion<'_>,
    (tag, sink): (&str, Sink<'_>),
    (mut waiting, mut early): (Room<'_>, Room<'_>),
    watch: Watch<'_>,
) -> Result<Option<Summary>> {
    let mut lines = Lines::new(tag, sink, &mut early);
    let made = fuse_rounds(sources, fusion, &mut lines, &mut waiting, watch);
    let made = made.and_then(|summary| {
        let written = lines.finish()?;
        Ok(summary.map(|summary| Summary { written, ..summary }))
    });
    give_up(made)
}

/// Fuses runs into one in memory, as [`fuse_to_lines`] does.
///
/// # Errors
/// As there.
pub fn fuse_to_run(
    sources: &mut [Box<dyn Source + '_>],
    fusion: Fusion<'_>,
    mut room: Room<'_>,
    watch: Watch<'_>,
) -> Result<Option<(Run, Summary)>> {
    let mut growing = Growing::default();
    let made = fuse_rounds(sources, fusion, &mut growing, &mut room, watch);
    give_up(
        made.and_then(|summary| {
            summary.map(|summary| Ok((growing.finish()?, summary))).transpose()
        }),
    )
}

/// Nothing in place of an error that another way of reading may not have.
fn give_up<T>(outcome: Result<Option<T>>) -> Result<Option<T>> {
    match outcome {
        Err(error) if !matches!(error.kind(), Kind::Interrupted | Kind::Memory) => Ok(None),
        outcome => outcome,
    }
}

fn fuse_rounds(
    sources: &mut [Box<dyn Source + '_>],
    fusion: Fusion<'_>,
    output: &mut impl Output,
    room: &mut Room<'_>,
    watch: Watch<'_>,
) -> Result<Option<Summary>> {
    let mut waiting = Waiting::new(sources.len());
    let mut summary = Summary::default();
    while let Some(reading) = waiting.next_to_read() {
        let mut parts: Vec<(usize, Part<'_>)> = vec![];
        let mut has_end = false;
        for (run, source) in sources.iter_mut().enumerate().filter(|(run, _)| reading[*run]) {
            let read = source.next(fusion.threads, watch)?;
            if read.is_empty() {
                if waiting.counts[run] == 0 {
                    return Err(no_rows());
                }
                waiting.has_ended[run] = true;
                has_end = true;
            }
            parts.extend(read.into_iter().map(|part| (run, part)));
        }
        let Some(arrived) = waiting.register(&parts) else { return Ok(None) };
        let complete = waiting.take_complete(&arrived, has_end)?;
        let asked: Vec<Asked<'_>> =
            complete.iter().map(|query| waiting.ask(query, &arrived)).collect();
        let turns: Vec<Turn> = complete.iter().map(|query| query.turn).collect();
        let documents = fuse_into(output, (&asked, &turns), fusion, watch);
        summary.documents += documents.map_err(|(_, error)| error)?;
        if room.spill(waiting.size)?.is_some() {
            return Ok(None);
        }
    }
    summary.queries = waiting.queries.texts().len();
    summary.of_runs = waiting.counts;
    Ok(Some(summary))
}

/// A list that was just read.
#[derive(Clone, Copy)]
struct Arrived<'a> {
    query: usize,
    run: usize,
    place: Place<'a>,
}

/// A query that all runs have had.
struct Complete {
    query: usize,
    turn: Turn,
    /// Its lists that came before, by run.
    held: Vec<Option<Chunk>>,
    /// Those that just came.
    arrived: Range<usize>,
}

/// Lists that wait for those of other runs.
struct Waiting {
    queries: Ids,
    /// By query, the first run that has it, and its number there.
    turns: Vec<Turn>,
    /// By run and query, whether its list came.
    has: Vec<Vec<bool>>,
    /// By query and run, lists that wait.
    held: Vec<Vec<Option<Chunk>>>,
    /// How many bytes of memory they take.
    size: usize,
    /// By run, how many queries came.
    counts: Vec<usize>,
    has_ended: Vec<bool>,
}

impl Waiting {
    fn new(runs: usize) -> Self {
        Self {
            queries: Ids::default(),
            turns: vec![],
            has: vec![vec![]; runs],
            held: vec![],
            size: 0,
            counts: vec![0; runs],
            has_ended: vec![false; runs],
        }
    }

    /// Which runs to read next: all but those that are ahead; nothing once all are read.
    fn next_to_read(&self) -> Option<Vec<bool>> {
        let open = || self.counts.iter().zip(&self.has_ended).filter(|(_, has_ended)| !**has_ended);
        let (least, most) = (open().map(|run| run.0).min()?, open().map(|run| run.0).max()?);
        let is_behind = |count: &usize| count < most || least == most;
        let runs = self.counts.iter().zip(&self.has_ended);
        Some(runs.map(|(count, has_ended)| !has_ended && is_behind(count)).collect())
    }

    /// Numbers the queries of lists that were read, in whose order it returns them; nothing if a run
    /// has had one of them before.
    fn register<'p>(&mut self, parts: &'p [(usize, Part<'_>)]) -> Option<Vec<Arrived<'p>>> {
        let mut arrived = vec![];
        for (run, part) in parts {
            let run = *run;
            for place in 0..part.len() {
                let query = self.queries.number(&part.query(place));
                if query == self.turns.len() {
                    self.turns.push((usize::MAX, 0));
                    self.held.push(vec![]);
                    self.has.iter_mut().for_each(|has| has.push(false));
                }
                if std::mem::replace(&mut self.has[run][query], true) {
                    return None;
                }
                self.turns[query] = self.turns[query].min((run, self.counts[run]));
                self.counts[run] += 1;
                arrived.push(Arrived { query, run, place: (&**part, place) });
            }
        }
        memory::sort_by(&mut arrived, |one, other| one.query.cmp(&other.query));
        Some(arrived)
    }

    fn is_complete(&self, query: usize) -> bool {
        self.has.iter().zip(&self.has_ended).all(|(has, has_ended)| *has_ended || has[query])
    }

    /// The queries that are complete, in the order of their turns; the lists of others are held. Once a
    /// run has ended, that may be so for queries that came long before.
    fn take_complete(&mut self, arrived: &[Arrived<'_>], has_end: bool) -> Result<Vec<Complete>> {
        let mut complete = vec![];
        let mut start = 0;
        for lists in arrived.chunk_by(|one, other| one.query == other.query) {
            let (query, range) = (lists[0].query, start..start + lists.len());
            start = range.end;
            if self.is_complete(query) {
                complete.push(self.take(query, range));
                continue;
            }
            for list in lists {
                let chunk = Chunk::of_list(list.place.0, list.place.1)?;
                self.size += chunk.size();
                let held = &mut self.held[query];
                held.extend((held.len()..self.counts.len()).map(|_| None));
                held[list.run] = Some(chunk);
            }
        }
        if has_end {
            for query in 0..self.held.len() {
                if !self.held[query].is_empty() && self.is_complete(query) {
                    complete.push(self.take(query, 0..0));
                }
            }
        }
        complete.sort_unstable_by_key(|query| query.turn);
        Ok(complete)
    }

    fn take(&mut self, query: usize, arrived: Range<usize>) -> Complete {
        let held = std::mem::take(&mut self.held[query]);
        self.size -= held.iter().flatten().map(Chunk::size).sum::<usize>();
        Complete { query, turn: self.turns[query], held, arrived }
    }

    fn ask<'a>(&'a self, query: &'a Complete, arrived: &[Arrived<'a>]) -> Asked<'a> {
        let mut places: Vec<Option<Place<'_>>> = vec![None; self.counts.len()];
        for (place, chunk) in places.iter_mut().zip(&query.held) {
            *place = chunk.as_ref().map(|chunk| (chunk as _, 0));
        }
        for list in &arrived[query.arrived.clone()] {
            places[list.run] = Some(list.place);
        }
        Asked { name: self.queries.texts().get(query.query), places }
    }
}
