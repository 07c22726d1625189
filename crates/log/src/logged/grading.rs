//! Grades the documents of logged rankings by their labels.
//!
//! The same rules in plain Python are in `tests/monitor/chunk_twin.py`.

use rankscope_core::table::cells::Cells;

use crate::logged::labels::{Shown, Texts};

/// The position of a plain label in the kinds of labels; the others start over.
const LABEL: u8 = 0;
/// The position of a retraction.
const RETRACTION: u8 = 2;

/// What labels are worth, and how long they count.
#[derive(Clone, Debug)]
pub struct Rule {
    /// The weight of each class, and last that of all other labels.
    pub weights: Vec<f64>,
    /// Whether the weights of a document's labels are added; otherwise the largest counts.
    pub adds: bool,
    /// Whether a class counts once for each document.
    pub counts_once: bool,
    /// The grade of documents without labels, NaN to leave them unjudged.
    pub unlabelled: f64,
    /// The length of the attribution window and the current time; none where all labels count.
    pub window: Option<(i64, i64)>,
}

/// The labels of many rankings.
#[derive(Debug)]
pub struct Labels<'a> {
    /// The position of the ranking of each label.
    pub rankings: &'a [usize],
    /// The IDs of their documents.
    pub docs: Texts<'a>,
    /// When each happened.
    pub times: &'a [i64],
    /// The kind of each.
    pub kinds: &'a [u8],
    /// The list of names of each, as a position in `names`.
    pub codes: &'a [usize],
    /// The value of each, NaN where it has none.
    pub values: &'a [f64],
    /// By code, the classes of the names, as positions in the weights.
    pub names: &'a [Vec<usize>],
}

impl Labels<'_> {
    /// Whether columns have one length, and all positions exist.
    fn fit(&self, rankings: usize, classes: usize) -> bool {
        let count = self.rankings.len();
        let lengths = [
            self.docs.len(),
            self.times.len(),
            self.kinds.len(),
            self.codes.len(),
            self.values.len(),
        ];
        lengths.iter().all(|&length| length == count)
            && self.rankings.iter().all(|&ranking| ranking < rankings)
            && self.codes.iter().all(|&code| code < self.names.len())
            && self.names.iter().flatten().all(|&class| class < classes)
    }
}

/// The documents of many rankings, ranking by ranking.
#[derive(Debug)]
pub struct Items<'a> {
    /// The rows of ranking `q` are `offsets[q]..offsets[q + 1]`.
    pub offsets: &'a [usize],
    /// Where the ID of each starts, and where the last one ends.
    pub id_offsets: &'a dyn Cells<i64>,
    /// The IDs end to end.
    pub ids: &'a dyn Cells<u8>,
    /// The rank of each as logged.
    pub ranks: &'a dyn Cells<i64>,
    /// The score of each, NaN where it has none.
    pub scores: &'a dyn Cells<f64>,
    /// The logged grade of each, NaN where it has none.
    pub relevance: &'a dyn Cells<f64>,
}

impl Items<'_> {
    /// Whether the columns have a value for each row.
    pub fn fit(&self) -> bool {
        let Some(&rows) = self.offsets.last() else { return false };
        self.offsets.is_sorted()
            && [self.ranks.len(), self.scores.len(), self.relevance.len()] == [rows; 3]
            && self.id_offsets.len() == rows + 1
    }
}

/// What the labels of rankings come to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Grades {
    /// The grade of each document, NaN while it is pending or unjudged.
    pub relevance: Vec<f64>,
    /// Whether the window of each ranking is closed.
    pub is_mature: Vec<u8>,
    /// Whether a document of each ranking has a grade from a label or the log.
    pub is_labelled: Vec<u8>,
    /// How many documents of each ranking have no grade.
    pub pending: Vec<i64>,
    /// How long after its ranking each label that counts happened.
    pub ages: Vec<i64>,
    /// The position of its ranking.
    pub aged: Vec<i64>,
    /// How many labels of each ranking came after its window.
    pub late: Vec<i64>,
    /// How many labels of each ranking are of documents that it didn't show.
    pub unshown: Vec<i64>,
}

/// Grades one ranking after another, with memory of its own.
pub struct Grader<'a> {
    rule: &'a Rule,
    times: &'a [i64],
    items: &'a Items<'a>,
    labels: &'a Labels<'a>,
    /// The labels by ranking, where they are not in this order already.
    order: Vec<usize>,
    next: usize,
    shown: Shown,
    /// The row in its ranking and the position of each label that is in time.
    heard: Vec<(usize, usize)>,
    classes: Vec<usize>,
    /// What was found so far.
    pub grades: Grades,
}

impl<'a> Grader<'a> {
    /// A grader of all rankings; none where columns don't fit each other.
    pub fn new(
        rule: &'a Rule,
        times: &'a [i64],
        items: &'a Items<'a>,
        labels: &'a Labels<'a>,
    ) -> Option<Self> {
        let fits = items.fit()
            && items.offsets.len() == times.len() + 1
            && labels.fit(times.len(), rule.weights.len());
        if !fits {
            return None;
        }
        let mut order = Vec::new();
        if !labels.rankings.is_sorted() {
            order.extend(0..labels.rankings.len());
            order.sort_by(|&a, &b| labels.rankings[a].cmp(&labels.rankings[b]));
        }
        let rows = items.relevance.len();
        let grades = Grades {
            relevance: Vec::with_capacity(rows),
            is_mature: Vec::with_capacity(times.len()),
            is_labelled: Vec::with_capacity(times.len()),
            pending: Vec::with_capacity(times.len()),
            ages: Vec::with_capacity(labels.rankings.len()),
            aged: Vec::with_capacity(labels.rankings.len()),
            late: Vec::with_capacity(times.len()),
            unshown: Vec::with_capacity(times.len()),
        };
        Some(Self {
            rule,
            times,
            items,
            labels,
            order,
            next: 0,
            shown: Shown::default(),
            heard: Vec::new(),
            classes: Vec::new(),
            grades,
        })
    }

    /// Grades the next ranking; none where its IDs are not inside their column, or the position of a
    /// label is not inside the ranking.
    pub fn grade(&mut self, ranking: usize) -> Option<()> {
        let (start, end) = (self.items.offsets[ranking], self.items.offsets[ranking + 1]);
        self.grades.relevance.resize(end, f64::NAN);
        self.items.relevance.read(start, &mut self.grades.relevance[start..end]);
        let (late, unshown) = self.hear(ranking, start, end)?;
        self.grades.late.push(late);
        self.grades.unshown.push(unshown);
        self.judge(ranking, start);
        let is_mature = self
            .rule
            .window
            .is_none_or(|(length, now)| self.times[ranking].saturating_add(length) <= now);
        let relevance = &mut self.grades.relevance[start..end];
        let mut without = count_nan(relevance);
        self.grades.is_labelled.push(u8::from(without < relevance.len()));
        if is_mature && !self.rule.unlabelled.is_nan() {
            for grade in relevance.iter_mut() {
                *grade = if grade.is_nan() { self.rule.unlabelled } else { *grade };
            }
            without = 0;
        }
        self.grades.is_mature.push(u8::from(is_mature));
        self.grades.pending.push(without.cast_signed() as i64);
        Some(())
    }

    /// Finds the labels of a ranking that are in time, by document; counts those that are late, and
    /// those of documents that were not shown.
    fn hear(&mut self, ranking: usize, start: usize, end: usize) -> Option<(i64, i64)> {
        let Self { rule, times, items, labels, order, next, shown, heard, .. } = self;
        heard.clear();
        let position = |at: usize| if order.is_empty() { at } else { order[at] };
        let first = *next;
        while *next < labels.rankings.len() && labels.rankings[position(*next)] == ranking {
            *next += 1;
        }
        let (mut late, mut unshown) = (0, 0);
        if first == *next {
            return Some((late, unshown));
        }
        shown.read(items.id_offsets, items.ids, start..end, *next - first)?;
        for label in (first..*next).map(position) {
            let Some(row) = shown.find(labels.docs.get(label)) else {
                unshown += 1;
                continue;
            };
            if let Some((length, now)) = rule.window {
                if age(labels.times[label], times[ranking]) >= length {
                    late += 1;
                    continue;
                }
                if labels.times[label] > now {
                    continue;
                }
            }
            heard.push((row, label));
        }
        // Labels of one document stay in the order in which they count.
        heard.sort_unstable();
        Some((late, unshown))
    }

    /// Gives the documents that have labels their grades.
    fn judge(&mut self, ranking: usize, start: usize) {
        let Self { rule, times, labels, heard, classes, grades, .. } = self;
        for of_document in heard.chunk_by(|a, b| a.0 == b.0) {
            let kind = |&(_, label): &(usize, usize)| labels.kinds[label];
            // A correction takes the place of the labels before it, and a retraction takes them away.
            let reset = of_document.iter().rposition(|one| kind(one) != LABEL).unwrap_or(0);
            let mut effective = &of_document[reset..];
            if kind(&effective[0]) == RETRACTION {
                effective = &effective[1..];
            }
            for &(_, label) in effective {
                grades.ages.push(age(labels.times[label], times[ranking]));
                grades.aged.push(ranking.cast_signed() as i64);
            }
            let grade = if effective.is_empty() {
                f64::NAN
            } else {
                rule.combine(labels, effective, classes)
            };
            grades.relevance[start + of_document[0].0] = grade;
        }
    }
}

impl Rule {
    /// The grade of a document by its labels, of which there is at least one.
    fn combine(
        &self,
        labels: &Labels<'_>,
        effective: &[(usize, usize)],
        classes: &mut Vec<usize>,
    ) -> f64 {
        classes.clear();
        for &(_, label) in effective {
            classes.extend_from_slice(&labels.names[labels.codes[label]]);
        }
        // Weights are added in the order of their classes, so that the order of labels doesn't matter.
        classes.sort_unstable();
        if self.counts_once {
            classes.dedup();
        }
        let weights = classes.iter().map(|&class| self.weights[class]);
        let values = || effective.iter().map(|&(_, label)| labels.values[label]);
        let mut values_there = values().filter(|value| !value.is_nan()).peekable();
        if classes.is_empty() && values_there.peek().is_none() {
            return self.unlabelled;
        }
        if self.adds {
            values_there.fold(weights.fold(0.0, |sum, weight| sum + weight), |sum, one| sum + one)
        } else {
            weights.chain(values_there).fold(f64::NEG_INFINITY, f64::max)
        }
    }
}

/// How long after its ranking a label happened; times that are not between them don't occur.
fn age(label: i64, ranking: i64) -> i64 {
    label.wrapping_sub(ranking)
}

fn count_nan(grades: &[f64]) -> usize {
    grades.iter().filter(|grade| grade.is_nan()).count()
}
