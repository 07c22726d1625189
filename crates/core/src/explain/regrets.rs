//! How much each document contributes to the difference between nDCG and 1.
//!
//! A document regrets the difference between what its gain is worth in the ideal order and in the list;
//! documents of one gain share their ideal ranks. That adds up to the loss of the query.

use crate::error::{Error, Kind, Result};
use crate::evaluate::plan::Plan;
use crate::kernels::{Gains, Ideal, Query, Unknown};
use crate::policy::{Ties, Unretrieved};
use crate::rank::rankings::Rankings;

/// What documents regret, in units of discounted gain.
#[derive(Debug, Default)]
pub struct Regrets {
    /// One row a document that has a gain.
    pub rows: Vec<Row>,
    /// By query, what regrets are divided by: the ideal, or 1 where the measure is a sum; NaN where
    /// the query is left out.
    pub units: Vec<f64>,
}

/// What a document regrets.
#[derive(Clone, Debug)]
pub struct Row {
    /// The query, by its number.
    pub query: u32,
    /// Its rank, or the first of its tie; 0 where it was not retrieved.
    pub rank: u32,
    /// Its grade, NaN where it is unjudged.
    pub grade: f64,
    /// What its gain is worth in the ideal order, less what it is worth in the list.
    pub regret: f64,
}

/// The regrets of the documents of every query under the first measure of a plan.
pub fn regrets(rankings: &Rankings, plan: &Plan) -> Result<Regrets> {
    plan.check(rankings.axis())?;
    let kernel = &plan.measures[0].kernel;
    let gains = find_gains(plan)?;
    let is_share = kernel.ratio(&Query::EMPTY).is_some();
    let queries = rankings.axis().len();
    let mut made = Regrets { units: vec![f64::NAN; queries], ..Regrets::default() };
    let (mut room, mut ideal_room) = (Vec::new(), Vec::new());
    for query in 0..queries {
        let is_left_out = plan.policy.missing == crate::policy::Missing::Skip;
        if is_left_out && !rankings.is_present(query) {
            continue;
        }
        let (relevance, scores) = rankings.list(query, &mut room);
        let judged = rankings.axis().ideal(query, &mut ideal_room);
        let mut docs = list_documents(rankings, (relevance, scores), plan, gains);
        if gains.ideal != Ideal::Retrieved && plan.policy.unretrieved == Unretrieved::Count {
            add_unretrieved(&mut docs, judged);
        }
        share_ideal(&mut docs, gains);
        let ideal: f64 = docs.iter().map(|doc| doc.ideal).sum();
        made.units[query] = if is_share { ideal } else { 1.0 };
        made.add(query, docs);
    }
    Ok(made)
}

/// The gains of the first measure of a plan.
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
    /// Its rank, or the first of its tie; 0 where it was not retrieved.
    rank: usize,
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
                rank: ranks.start,
                grade: relevance[row],
                gain,
                found: found / tie.len() as f64,
                ideal: 0.0,
            });
        }
    }
    docs
}

/// Adds the judged documents that were not retrieved.
fn add_unretrieved(docs: &mut Vec<Doc>, judged: &[f64]) {
    let mut found: Vec<f64> =
        docs.iter().map(|doc| doc.grade).filter(|grade| !grade.is_nan()).collect();
    found.sort_unstable_by(|a, b| b.total_cmp(a));
    let mut found = found.into_iter().peekable();
    let is_other = |grade: &&f64| found.next_if(|found| found >= *grade).is_none();
    let unretrieved = judged.iter().filter(is_other).map(|&grade| Doc {
        rank: 0,
        grade,
        gain: f64::NAN,
        found: 0.0,
        ideal: 0.0,
    });
    docs.extend(unretrieved);
}

/// Shares the ideal ranks of each gain among the documents that have it.
#[allow(clippy::cast_precision_loss)] // counts stay far below 2^53
fn share_ideal(docs: &mut [Doc], gains: &Gains) {
    for doc in docs.iter_mut().filter(|doc| doc.rank == 0) {
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

impl Regrets {
    #[allow(clippy::cast_possible_truncation)] // queries and rows are counted in 32 bits
    fn add(&mut self, query: usize, docs: Vec<Doc>) {
        for doc in docs.into_iter().filter(|doc| doc.gain != 0.0) {
            self.rows.push(Row {
                query: query as u32,
                rank: doc.rank as u32,
                grade: doc.grade,
                regret: doc.ideal - doc.found,
            });
        }
    }
}
