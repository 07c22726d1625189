//! Fuses runs that are in memory.

use super::choices::Choices;
use super::held::Growing;
use super::output::{Fusion, fuse_into};
use super::queries::Asked;
use super::query::Place;
use super::turns::Turn;
use crate::error::Result;
use crate::ids::interner::Ids;
use crate::memory::{Vec, vec};
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
    let turns: Vec<Turn> = (0..asked.len()).map(|at| (0, at)).collect();
    let fusion = Fusion { names: &names, choices, threads };
    let mut growing = Growing::default();
    fuse_into(&mut growing, (&asked, &turns), fusion, watch).map_err(|(_, error)| error)?;
    growing.finish()
}
