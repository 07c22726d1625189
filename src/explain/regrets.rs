//! How much each document and each rank contributes to the difference between nDCG and 1.
//!
//! A document regrets the difference between what its gain is worth in the ideal order and in the list;
//! documents of one gain share their ideal ranks. A rank regrets the difference between the gain that
//! is ideally there and the gain that is. Either adds up to the loss of the query.

use crate::error::{Error, Kind, Result};
use crate::evaluate::plan::Plan;
use crate::ids::interner::Ids;
use crate::kernels::{Gains, Ideal, Query, Unknown};
use crate::memory::{self, Vec, vec};
use crate::number::sum::ExactSum;
use crate::policy::{Ties, Unretrieved};
use crate::qrels::judgments::Judgments;
use crate::rank::rankings::Rankings;

/// What documents and ranks regret, in units of discounted gain.
#[derive(Debug, Default)]
pub struct Regrets {
    /// One row a document that has a gain.
    pub rows: Vec<Row>,
    /// By query, what regrets are divided by: the ideal, or 1 where the measure is a sum; NaN where
    /// the query is left out.
    pub units: Vec<f64>,
    /// By rank, the regret of all queries, each in its units; none where these are 0.
    pub by_rank: Vec<f64>,
}

/// What a document regrets.
#[derive(Clone, Debug)]
pub struct Row {
    /// The query, by its number.
    pub query: u32,
    /// The identifier; none where there are none.
    pub doc: Option<String>,
    /// Its rank, or the first of its tie; 0 where it was not retrieved.
    pub rank: u32,
    /// Its grade, NaN where it is unjudged.
    pub grade: f64,
    /// Its gain.
    pub gain: f64,
    /// What its gain is worth in the ideal order, less what it is worth in the list.
    pub regret: f64,
}

/// The regrets of the documents and ranks of every query under the first measure of a plan.
///
/// # Errors
/// Where the plan refuses the grades, or the measure's loss is not that of documents.
pub fn regrets(rankings: &Rankings, judgments: Option<&Judgments>, plan: &Plan) -> Result<Regrets> {
    plan.check(rankings.axis())?;
    let kernel = &plan.measures[0].kernel;
    let gains = find_gains(plan)?;
    let is_share = kernel.ratio(&Query::EMPTY).is_some();
    let queries = rankings.axis().len();
    let mut made = Regrets { units: vec![f64::NAN; queries], ..Regrets::default() };
    let mut by_rank: Vec<ExactSum> = Vec::new();
    let (mut room, mut ideal_room) = (Vec::new(), Vec::new());
    for query in 0..queries {
        let is_left_out = plan.policy.missing == crate::policy::Missing::Skip;
        if is_left_out && !rankings.is_present(query) {
            continue;
        }
        let (relevance, scores) = rankings.list(query, &mut room);
        let judged = rankings.axis().ideal(query, &mut ideal_room);
        let mut docs = list_documents(rankings, query, (relevance, scores), plan, gains);
        if gains.ideal != Ideal::Retrieved && plan.policy.unretrieved == Unretrieved::Count {
            add_unretrieved(
                &mut docs,
                judgments.map(|judgments| judgments.documents(query)),
                judged,
            );
        }
        share_ideal(&mut docs, gains);
        let ideal: f64 = docs.iter().map(|doc| doc.ideal).sum();
        let unit = if is_share { ideal } else { 1.0 };
        made.units[query] = unit;
        if unit > 0.0 {
            for (rank, regret) in (0..).zip(by_ranks(&docs, gains)) {
                if by_rank.len() <= rank {
                    by_rank.resize(rank + 1, ExactSum::default());
                }
                by_rank[rank].add(regret / unit);
            }
        }
        made.add(rankings, query, docs);
    }
    made.by_rank = by_rank.iter().map(ExactSum::value).collect();
    Ok(made)
}

/// The gains of the first measure of a plan.
///
/// # Errors
/// Where its loss is not that of documents.
pub fn find_gains(plan: &Plan) -> Result<&Gains> {
    let kernel = &plan.measures[0].kernel;
    match (kernel.unknown(), kernel.gains()) {
        (Unknown::Discounted { .. }, Some(gains))
            if gains.ideal != Ideal::Slots && gains.missing_after(0) == 0.0 =>
        {
            Ok(gains)
        }
        _ => Err(Error::new(
            Kind::Measure,
            "regrets_unavailable",
            format!(
                "expected nDCG or DCG, whose loss is that of documents, found {} under this policy",
                plan.measures[0].name
            ),
        )
        .hint(
            "write nDCG@10, and leave ideal=\"slots\", negative=\"minmax\" and missing_gain out",
        )),
    }
}

/// A document of one query.
struct Doc {
    /// Its row among those of the query; none where it was not retrieved.
    row: Option<usize>,
    name: Option<String>,
    /// Its ranks, from the first to before the last; where ties are averaged, all of its tie.
    ranks: std::ops::Range<usize>,
    grade: f64,
    gain: f64,
    /// What its gain is worth in the list.
    found: f64,
    /// What its gain is worth in the ideal order.
    ideal: f64,
}

/// The retrieved documents as the measure sees them.
#[allow(clippy::cast_precision_loss)] // counts stay far below 2^53
fn list_documents(
    rankings: &Rankings,
    query: usize,
    (relevance, scores): (&[f64], &[f64]),
    plan: &Plan,
    gains: &Gains,
) -> Vec<Doc> {
    let condenses = plan.condenses(&plan.measures[0]);
    let is_seen = |row: &usize| !condenses || relevance[*row] >= 0.0;
    let rows: Vec<usize> = (0..relevance.len()).filter(is_seen).collect();
    let is_averaged = rankings.ties() == Ties::Average;
    let mut docs = Vec::with_capacity(rows.len());
    for tie in rows.chunk_by(|&a, &b| is_averaged && scores[a] == scores[b]) {
        let ranks = docs.len() + 1..docs.len() + 1 + tie.len();
        for &row in tie {
            let gain = gains.of_document(relevance[row]);
            let worth = ranks.clone().filter(|&rank| rank <= gains.k());
            let found = worth.map(|rank| gains.discount(gain, rank)).sum::<f64>();
            docs.push(Doc {
                row: Some(row),
                name: None,
                ranks: ranks.clone(),
                grade: relevance[row],
                gain,
                found: found / tie.len() as f64,
                ideal: 0.0,
            });
        }
    }
    let start = rankings.offsets()[query];
    for doc in docs.iter_mut().filter(|doc| doc.gain != 0.0) {
        let code = doc.row.and_then(|row| rankings.codes().get(start + row));
        doc.name = code.map(|&code| memory::text(&rankings.docs().get(code)));
    }
    docs
}

/// Adds the judged documents that were not retrieved; by name, where names are known.
fn add_unretrieved<N: AsRef<[u8]>>(
    docs: &mut Vec<Doc>,
    known: Option<Vec<(N, f64)>>,
    judged: &[f64],
) {
    let unretrieved: Vec<(Option<String>, f64)> = if let Some(known) = known {
        let mut found = Ids::default();
        docs.iter().filter_map(|doc| doc.name.as_deref()).for_each(|name| {
            found.number(name.as_bytes());
        });
        let others = known.iter().filter(|(name, _)| found.find(name.as_ref()).is_none());
        others.map(|(name, grade)| (Some(memory::text(name.as_ref())), *grade)).collect()
    } else {
        let mut found: Vec<f64> =
            docs.iter().map(|doc| doc.grade).filter(|grade| !grade.is_nan()).collect();
        found.sort_unstable_by(|a, b| b.total_cmp(a));
        let mut found = found.into_iter().peekable();
        let is_other = |grade: &&f64| found.next_if(|found| found >= *grade).is_none();
        judged.iter().filter(is_other).map(|&grade| (None, grade)).collect()
    };
    docs.extend(unretrieved.into_iter().map(|(name, grade)| Doc {
        row: None,
        name,
        ranks: 0..0,
        grade,
        gain: f64::NAN,
        found: 0.0,
        ideal: 0.0,
    }));
}

/// Shares the ideal ranks of each gain among the documents that have it.
#[allow(clippy::cast_precision_loss)] // counts stay far below 2^53
fn share_ideal(docs: &mut [Doc], gains: &Gains) {
    for doc in docs.iter_mut().filter(|doc| doc.row.is_none()) {
        doc.gain = gains.of_document(doc.grade);
    }
    let takes_all = gains.ideal == Ideal::Retrieved;
    let is_ideal = |doc: &&mut Doc| doc.gain > 0.0 && (takes_all || !doc.grade.is_nan());
    let mut ideal: Vec<&mut Doc> = docs.iter_mut().filter(is_ideal).collect();
    ideal.sort_unstable_by(|a, b| b.gain.total_cmp(&a.gain));
    let mut before = 0;
    for alike in ideal.chunk_by_mut(|a, b| a.gain == b.gain) {
        let ranks = before + 1..=before + alike.len();
        let worth = ranks.take_while(|&rank| rank <= gains.ideal_depth());
        let sum: f64 = worth.map(|rank| gains.discount(alike[0].gain, rank)).sum();
        before += alike.len();
        let share = sum / alike.len() as f64;
        for doc in alike {
            doc.ideal = share;
        }
    }
}

/// What each rank regrets.
#[allow(clippy::cast_precision_loss)] // counts stay far below 2^53
fn by_ranks(docs: &[Doc], gains: &Gains) -> Vec<f64> {
    let mut ideal: Vec<f64> =
        docs.iter().filter(|doc| doc.ideal > 0.0).map(|doc| doc.gain).collect();
    ideal.sort_unstable_by(|a, b| b.total_cmp(a));
    ideal.truncate(gains.ideal_depth());
    let retrieved = docs.iter().filter(|doc| doc.row.is_some()).count();
    let mut regrets: Vec<f64> =
        (1..).zip(ideal).map(|(rank, gain)| gains.discount(gain, rank)).collect();
    regrets.resize(regrets.len().max(retrieved.min(gains.k())), 0.0);
    for doc in docs.iter().filter(|doc| doc.gain != 0.0) {
        let size = doc.ranks.len() as f64;
        for rank in doc.ranks.clone().filter(|&rank| rank <= gains.k()) {
            regrets[rank - 1] -= gains.discount(doc.gain, rank) / size;
        }
    }
    regrets
}

impl Regrets {
    #[allow(clippy::cast_possible_truncation)] // queries and rows are counted in 32 bits
    fn add(&mut self, rankings: &Rankings, query: usize, docs: Vec<Doc>) {
        let has_names = !rankings.codes().is_empty();
        for doc in docs.into_iter().filter(|doc| doc.gain != 0.0) {
            self.rows.push(Row {
                query: query as u32,
                doc: doc.name.filter(|_| has_names),
                rank: doc.ranks.start as u32,
                grade: doc.grade,
                gain: doc.gain,
                regret: doc.ideal - doc.found,
            });
        }
    }
}
