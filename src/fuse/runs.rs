//! Fuses runs that are in memory.

use super::choices::Choices;
use super::queries::{Asked, fuse_all};
use super::query::Place;
use crate::error::Result;
use crate::ids::interner::{Arena, Ids};
use crate::memory::{Vec, vec};
use crate::notes::Notes;
use crate::rank::lists::Lists;
use crate::rank::run::Run;
use crate::text::list::{List, Ranks, Row};
use crate::watch::Watch;

/// A run to fuse, and what messages call it.
pub struct Given<'a> {
    /// Its lists.
    pub lists: &'a dyn Lists,
    /// Its name.
    pub name: &'a str,
}

/// The queries of all runs, in the order in which they first occur.
pub(super) struct Queries<'a> {
    names: Ids,
    places: Vec<Vec<Option<Place<'a>>>>,
}

/// Finds the lists of each query.
pub(super) fn ask_all<'a>(runs: &[Given<'a>]) -> Queries<'a> {
    let mut names = Ids::default();
    let mut places = vec![];
    for (number, run) in runs.iter().enumerate() {
        for place in 0..run.lists.len() {
            let query = names.number(&run.lists.query(place));
            if query == places.len() {
                places.push(vec![None; runs.len()]);
            }
            places[query][number] = Some((run.lists, place));
        }
    }
    Queries { names, places }
}

impl Queries<'_> {
    pub(super) fn asked(&self) -> Vec<Asked<'_>> {
        let named = self.names.texts().iter().zip(&self.places);
        named.map(|(name, places)| Asked { name, places: places.clone() }).collect()
    }
}

/// The fused lists of adjacent queries.
#[derive(Default)]
struct Part {
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
    let queries = ask_all(runs);
    let asked = queries.asked();
    let names: Vec<&str> = runs.iter().map(|run| run.name).collect();
    let made = fuse_all(&asked, (&names, choices), threads, watch, |part: &mut Part, fused| {
        for (doc, score) in fused.rows() {
            part.docs.push(doc);
            part.scores.push(score);
        }
        part.ends.push(part.scores.len());
    });
    join(&made.map_err(|(_, error)| error)?, queries.names.texts())
}

fn join(parts: &[Part], queries: &Arena) -> Result<Run> {
    let mut run = Run::default();
    let mut list = List::default();
    let mut names = queries.iter();
    for part in parts {
        let mut start = 0;
        for (&end, query) in part.ends.iter().zip(&mut names) {
            list.query = query;
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
