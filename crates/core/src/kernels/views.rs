//! Views of a query: without unjudged documents, without judgments of documents not retrieved, or with
//! only those judged documents that measures depend on.

use super::query::{Query, Ranking, Tie};

/// How a measure sees a list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct View {
    /// Without unjudged documents.
    pub condenses: bool,
    /// With the ranks and judgments of documents of a grade above 0 alone, as far as there are no ties to
    /// average over.
    pub positive: bool,
}

/// Room for what measures see of one query after another.
#[derive(Debug, Default)]
pub struct Views {
    /// The list without unjudged documents.
    condensed: Condensed,
    /// The judgments without documents that were not retrieved.
    ideal: Ideal,
    /// The documents of a grade above 0, of the whole list and of the one without unjudged documents.
    positive: [Positive; 2],
}

/// One query, as measures see it.
pub struct Seen<'a> {
    whole: Query<'a>,
    condensed: Option<Query<'a>>,
    positive: [Option<Query<'a>>; 2],
}

impl<'a> Seen<'a> {
    /// The list as a measure sees it.
    pub fn by(&self, view: View) -> &Query<'a> {
        let View { condenses, positive } = view;
        if positive && let Some(query) = &self.positive[usize::from(condenses)] {
            return query;
        }
        self.condensed.as_ref().filter(|_| condenses).unwrap_or(&self.whole)
    }
}

impl Views {
    /// Makes what measures see of a query.
    pub fn see<'a>(
        &'a mut self,
        whole: &Query<'a>,
        views: &[View],
        ignores_unretrieved: bool,
    ) -> Seen<'a> {
        let Self { condensed, ideal, positive } = self;
        let ideal = if ignores_unretrieved { ideal.of_retrieved(whole) } else { whole.ideal };
        let condenses = views.iter().any(|view| view.condenses);
        if condenses {
            condensed.fill(whole);
        }
        let whole = Query { ideal, ..*whole };
        let condensed = condenses.then(|| condensed.view(ideal, whole.subtopics));
        let [of_whole, of_condensed] = positive;
        let is_used = |condenses| views.contains(&View { condenses, positive: true });
        let positive = [
            Some(&whole).filter(|_| is_used(false)).and_then(|list| of_whole.fill(list)),
            condensed.as_ref().filter(|_| is_used(true)).and_then(|list| of_condensed.fill(list)),
        ];
        Seen { whole, condensed, positive }
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

/// The documents of a list with a grade above 0, at their ranks.
#[derive(Debug, Default)]
struct Positive {
    ranks: Vec<u32>,
    grades: Vec<f64>,
}

impl Positive {
    /// Takes in a list, and returns it as measures see it; nothing where there are ties.
    fn fill<'a>(&'a mut self, query: &Query<'a>) -> Option<Query<'a>> {
        if !query.ties.is_empty() {
            return None;
        }
        let Self { ranks, grades } = self;
        ranks.resize(query.grades.len(), 0);
        grades.resize(query.grades.len(), 0.0);
        // Each is written, and the next one overwrites those that do not count: no branch depends on a
        // grade, for that would be guessed wrong too often.
        let mut count = 0;
        for (&rank, &grade) in query.ranks.iter().zip(query.grades) {
            (ranks[count], grades[count]) = (rank, grade);
            count += usize::from(grade > 0.0);
        }
        let (ranks, grades) = (&ranks[..count], &grades[..count]);
        let ideal = &query.ideal[..query.positive()];
        Some(Query { ranks, grades, ideal, subtopics: None, ..*query })
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
    pub fn view<'a>(&'a self, ideal: &'a [f64], subtopics: Option<Ranking<'a>>) -> Query<'a> {
        let Self { ranks, grades, ties, judged } = self;
        let subtopics = subtopics.map(|Ranking { of, .. }| Ranking { judged, of });
        // Measures of items refuse such lists.
        Query { ranks, grades, ties, retrieved: ranks.len(), ideal, subtopics, items: None }
    }
}
