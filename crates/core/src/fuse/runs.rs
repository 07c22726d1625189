//! Fuses runs that are in memory.

use super::choices::Choices;
use super::queries::{Asked, fuse_all};
use super::query::Place;
use crate::error::Result;
use crate::ids::interner::Ids;
use crate::notes::Notes;
use crate::rank::lists::Lists;
use crate::rank::run::Run;
use crate::watch::Watch;

/// A run to fuse, and what messages call it.
pub struct Given<'a> {
    /// Its lists.
    pub lists: &'a dyn Lists,
    /// Its name.
    pub name: &'a str,
}

/// So many queries are fused before their lists are added to the run.
const AT_ONCE: usize = 1 << 10;

/// The queries of all runs, in the order in which they first occur.
struct Queries<'a> {
    names: Ids,
    places: Vec<Vec<Option<Place<'a>>>>,
}

/// Finds the lists of each query.
fn ask_all<'a>(runs: &[Given<'a>]) -> Queries<'a> {
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
    fn asked(&self) -> Vec<Asked<'_>> {
        let named = self.names.texts().iter().zip(&self.places);
        named.map(|(name, places)| Asked { name, places: places.clone() }).collect()
    }
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
    let mut run = Run::default();
    for some in asked.chunks(AT_ONCE) {
        for chunk in fuse_all(some, (&names, choices), threads, watch)? {
            chunk.add_to(&mut run);
        }
    }
    run.finish(Notes::default())
}
