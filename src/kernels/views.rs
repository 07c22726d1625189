//! Views of a query: without unjudged documents, or without judgments of documents not retrieved.

use super::query::{Query, Ranking, Tie};
use crate::memory::Vec;

/// Room for what measures see of one query after another.
#[derive(Debug, Default)]
pub struct Views {
    /// The list without unjudged documents.
    condensed: Condensed,
    /// The judgments without documents that were not retrieved.
    ideal: Ideal,
}

/// One query, as measures see it.
pub struct Seen<'a> {
    whole: Query<'a>,
    condensed: Option<Query<'a>>,
}

impl<'a> Seen<'a> {
    /// The list, without unjudged documents where it is asked for so.
    #[must_use]
    pub fn by(&self, condenses: bool) -> &Query<'a> {
        self.condensed.as_ref().filter(|_| condenses).unwrap_or(&self.whole)
    }
}

impl Views {
    /// Makes what measures see of a query.
    pub fn see<'a>(
        &'a mut self,
        whole: &Query<'a>,
        condenses: bool,
        ignores_unretrieved: bool,
    ) -> Seen<'a> {
        let Self { condensed, ideal } = self;
        let ideal = if ignores_unretrieved { ideal.of_retrieved(whole) } else { whole.ideal };
        if condenses {
            condensed.fill(whole);
        }
        let condensed = condenses.then(|| condensed.view(ideal, whole.subtopics));
        Seen { whole: Query { ideal, ..*whole }, condensed }
    }
}

/// Grades, largest first.
#[derive(Debug, Default)]
pub struct Ideal(Vec<f64>);

impl Ideal {
    /// The grades of the retrieved documents that are judged.
    pub fn of_retrieved(&mut self, query: &Query<'_>) -> &[f64] {
        self.0.clear();
        self.0.extend_from_slice(query.grades);
        self.0.sort_unstable_by(|a, b| b.total_cmp(a));
        &self.0
    }
}

/// A list without the documents that are unjudged or have a negative grade.
#[derive(Debug, Default)]
pub struct Condensed {
    ranks: Vec<u32>,
    grades: Vec<f64>,
    ties: Vec<Tie>,
    /// Which judged documents they are, where there are subtopics.
    judged: Vec<u32>,
}

impl Condensed {
    /// Takes in a list.
    #[allow(clippy::cast_possible_truncation)] // ranks are counted in 32 bits
    pub fn fill(&mut self, query: &Query<'_>) {
        self.ranks.clear();
        self.grades.clear();
        self.ties.clear();
        self.judged.clear();
        if let Some(Ranking { judged, .. }) = query.subtopics {
            let kept = judged.iter().zip(query.grades).filter(|&(_, &grade)| grade >= 0.0);
            self.judged.extend(kept.map(|(&doc, _)| doc));
        }
        for place in query.places(usize::MAX) {
            let first = self.next_rank();
            let before = self.grades.len();
            self.grades.extend(place.grades.iter().filter(|&&grade| grade >= 0.0));
            self.ranks.resize(self.grades.len(), first);
            let size = (self.grades.len() - before) as u32;
            if size > 1 {
                self.ties.push(Tie { first, size });
            }
        }
    }

    /// The rank after all those in use.
    #[allow(clippy::cast_possible_truncation)] // ranks are counted in 32 bits
    fn next_rank(&self) -> u32 {
        self.grades.len() as u32 + 1
    }

    /// The list as measures see it, with the ideal of the whole one.
    #[must_use]
    pub fn view<'a>(&'a self, ideal: &'a [f64], subtopics: Option<Ranking<'a>>) -> Query<'a> {
        let Self { ranks, grades, ties, judged } = self;
        let subtopics = subtopics.map(|Ranking { of, .. }| Ranking { judged, of });
        // Measures of items refuse such lists.
        Query { ranks, grades, ties, retrieved: ranks.len(), ideal, subtopics, items: None }
    }
}
