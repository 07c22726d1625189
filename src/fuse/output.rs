//! Where fused lists go.

use super::choices::Choices;
use super::queries::{Asked, Fused, Outcome, fuse_all};
use super::turns::Turn;
use crate::error::Result;
use crate::memory::Vec;
use crate::watch::Watch;

/// What is fused, and how.
#[derive(Clone, Copy)]
pub struct Fusion<'a> {
    /// The names of the runs, for messages.
    pub names: &'a [&'a str],
    /// The method and its settings.
    pub choices: &'a Choices,
    /// How many threads to use.
    pub threads: usize,
}

/// How much was fused.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    /// How many queries the fused run has.
    pub queries: usize,
    /// How many documents all its lists have.
    pub documents: u64,
    /// By run, how many queries it has.
    pub of_runs: Vec<usize>,
    /// How many bytes were written to temporary files.
    pub written: u64,
}

/// Takes fused lists.
pub(super) trait Output {
    /// What is made of the lists of some adjacent queries, on any thread.
    type Part: Default + Send;
    /// What that depends on.
    type Form: Copy + Sync;

    /// How lists are added.
    fn form(&self) -> Self::Form;

    /// Adds a list to a part.
    fn add(form: Self::Form, part: &mut Self::Part, fused: &Fused<'_>);

    /// Takes lists whose turns these are; gives how many documents they have.
    ///
    /// # Errors
    /// Where they can't be written.
    fn take(&mut self, part: Self::Part, turns: &[Turn]) -> Result<u64>;
}

/// So many queries are fused before their lists are taken.
const AT_ONCE: usize = 1 << 10;

/// Fuses queries, and has their lists taken; gives the number of documents.
///
/// # Errors
/// As [`fuse_all`], or where lists can't be written.
pub(super) fn fuse_into<O: Output>(
    output: &mut O,
    (asked, turns): (&[Asked<'_>], &[Turn]),
    fusion: Fusion<'_>,
    watch: Watch<'_>,
) -> Outcome<u64> {
    let mut documents = 0;
    let form = output.form();
    for (start, some) in (0..).step_by(AT_ONCE).zip(asked.chunks(AT_ONCE)) {
        let how = (fusion.names, fusion.choices);
        let add = |(part, count): &mut (O::Part, usize), fused: &Fused<'_>| {
            O::add(form, part, fused);
            *count += 1;
        };
        let made = fuse_all(some, how, fusion.threads, watch, add);
        let mut turns = &turns[start..];
        for (part, count) in made.map_err(|(number, error)| (start + number, error))? {
            let (own, others) = turns.split_at(count);
            turns = others;
            documents += output.take(part, own).map_err(|error| (start, error))?;
        }
    }
    Ok(documents)
}
