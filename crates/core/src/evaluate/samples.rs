//! Evaluates a stochastic ranker by several rankings of each query, any of which is shown with the same
//! probability.

use std::sync::atomic::{self, AtomicUsize};

use crate::error::{Error, Kind, Result};
use crate::evaluate::evaluation::Evaluation;
use crate::evaluate::held::finish_run;
use crate::evaluate::plan::{Plan, Ways};
use crate::evaluate::scorer::{Outcome, Scored};
use crate::ids::interner::Ids;
use crate::ids::vocabulary::Vocabulary;
use crate::kernels::views::Views;
use crate::kernels::{Needs, Query, Ranking, Sample};
use crate::notes::{Note, Notes};
use crate::policy::Aggregate;
use crate::rank::ranked::Ranked;
use crate::rank::rankings::Rankings;
use crate::threads::{FEW_ROWS, on_threads};
use crate::watch::Watch;

/// How many queries a thread takes at once.
const AT_ONCE: usize = 64;

/// The values of several rankings of the same judged queries. A measure of all rankings of a query
/// together gets them all; of other measures, it is the mean of the values of each.
pub fn evaluate_samples(samples: &[&Rankings], plan: &Plan, threads: usize) -> Result<Evaluation> {
    check(samples, plan)?;
    let axis = samples[0].axis();
    let docs = number_documents(samples, plan);
    let rows: usize = samples.iter().map(|sample| sample.scores().len()).sum();
    let next = AtomicUsize::new(0);
    let work = |_: Watch<'_>| {
        let mut scorer = Scorer::new(samples, &docs, plan);
        loop {
            let start = next.fetch_add(AT_ONCE, atomic::Ordering::Relaxed);
            if start >= axis.len() {
                return scorer.made;
            }
            (start..axis.len().min(start + AT_ONCE)).for_each(|query| scorer.score(query));
        }
    };
    let threads = if rows < FEW_ROWS { 1 } else { threads };
    let scored = on_threads(threads, &mut |_| Ok(()), work);
    let (mut run_only, mut notes) = (Ids::default(), Notes::default());
    for sample in samples {
        let others = sample.run_only();
        (0..others.len()).for_each(|query| {
            run_only.number(&others.get(query));
        });
        notes.merge(sample.notes());
    }
    let mut made = finish_run(plan, axis, scored, &Vocabulary::Texts(run_only))?;
    made.notes.merge(&notes);
    made.flat = samples.iter().map(|sample| sample.flat()).sum();
    let count = |query: usize| samples.iter().filter(|sample| sample.is_present(query)).count();
    let few = (0..axis.len()).map(count).filter(|&count| 0 < count && count < samples.len());
    made.notes.add_many(Note::UnevenSamples, few.count() as u64, (0, 0));
    Ok(made)
}

fn check(samples: &[&Rankings], plan: &Plan) -> Result<()> {
    let Some(first) = samples.first() else {
        return Err(Error::new(Kind::Format, "no_run", "expected rankings, found none"));
    };
    plan.check_rankings(first.axis())?;
    let is_single =
        |needs: Needs| matches!(needs, Needs::Grades | Needs::Subtopics | Needs::Strata);
    for measure in &plan.measures {
        if !is_single(measure.kernel.needs()) {
            return Err(Error::new(
                Kind::Measure,
                "samples_unavailable",
                format!("expected measures of the grades of each query, found {}", measure.name),
            )
            .hint("evaluate each of the rankings with it"));
        }
        if measure.kernel.of_samples().is_some() && plan.condenses(measure) {
            return Err(Error::new(
                Kind::Policy,
                "samples_unavailable",
                format!(
                    "expected rankings with all their documents, as {} needs, found \
                     unjudged=\"remove\"",
                    measure.name
                ),
            )
            .hint("leave this policy out"));
        }
    }
    Ok(())
}

/// By sample, the number that each of its documents has among those of all; nothing where no measure needs
/// it.
#[allow(clippy::cast_possible_truncation)] // documents are counted in 32 bits
fn number_documents(samples: &[&Rankings], plan: &Plan) -> Vec<Vec<u32>> {
    let is_asked = plan.measures.iter().any(|measure| measure.kernel.of_samples().is_some());
    let mut ids = Ids::default();
    let number = |sample: &&Rankings| {
        let all = if is_asked { sample.docs().len() as u32 } else { 0 };
        (0..all).map(|doc| ids.number(&sample.docs().get(doc)) as u32).collect()
    };
    samples.iter().map(number).collect()
}

/// Evaluates queries one after another, with memory of its own.
struct Scorer<'a> {
    samples: &'a [&'a Rankings],
    docs: &'a [Vec<u32>],
    plan: &'a Plan,
    ways: Ways,
    rooms: Vec<Room>,
    made: Scored,
}

/// Memory for one of the rankings of a query.
#[derive(Default)]
struct Room {
    relevance: Vec<f64>,
    ideal: Vec<f64>,
    ranked: Ranked,
    views: Views,
    /// The number of the document at each rank.
    docs: Vec<u32>,
}

impl<'a> Scorer<'a> {
    fn new(samples: &'a [&'a Rankings], docs: &'a [Vec<u32>], plan: &'a Plan) -> Self {
        let mut made = Scored::default();
        made.at_cutoffs.resize(plan.cutoffs.len(), (0, 0));
        let rooms = samples.iter().map(|_| Room::default()).collect();
        Self { samples, docs, plan, ways: plan.ways(), rooms, made }
    }

    #[allow(clippy::cast_possible_truncation)] // queries are counted in 32 bits by the builder
    fn score(&mut self, query: usize) {
        let Self { samples, docs, plan, ways, rooms, made } = self;
        let of_samples = samples.iter().zip(docs.iter()).zip(rooms);
        let present = of_samples.filter(|((sample, _), _)| sample.is_present(query));
        let (mut is_tied, mut is_blank, mut is_unmatched) = (false, true, true);
        let seen = present.map(|((sample, docs), room)| {
            let Room { relevance, ideal, ranked, views, docs: of_list } = room;
            let (relevance, scores) = sample.list(query, relevance);
            ranked.take_in_order(relevance, scores, sample.ties());
            ranked.judged.clear();
            ranked.judged.extend(sample.judged(query));
            of_list.clear();
            if !docs.is_empty() {
                let rows = sample.offsets()[query]..sample.offsets()[query + 1];
                of_list.extend(sample.codes()[rows].iter().map(|&code| docs[code as usize]));
            }
            let Ranked { ranks, grades, ties, judged, .. } = &*ranked;
            let ideal = sample.axis().ideal(query, ideal);
            let subtopics = sample.axis().subtopics_of(query).map(|of| Ranking { judged, of });
            let retrieved = scores.len();
            let whole = Query { ranks, grades, ties, retrieved, ideal, subtopics, items: None };
            let whole = whole.first(plan.depth);
            made.candidates.see(whole.retrieved, whole.ranks.len(), ideal);
            for (&k, count) in plan.cutoffs.iter().zip(&mut made.at_cutoffs) {
                let shown = k.min(whole.retrieved);
                count.0 += shown as u64;
                count.1 += (shown - whole.judged_within(k)) as u64;
            }
            is_tied |= ranked.is_tied;
            is_blank &= whole.retrieved == 0;
            is_unmatched &= ranked.ranks.is_empty();
            (plan.see(&whole, &ways.different, views), &of_list[..])
        });
        let seen: Vec<_> = seen.collect();
        if seen.is_empty() {
            return;
        }
        is_unmatched &= !is_blank;
        made.seen.push(Outcome { query: query as u32, is_tied, is_blank, is_unmatched });
        let mean = |values: &dyn Fn(&Query<'_>) -> f64, way| {
            let sum = seen.iter().fold(0.0, |sum, (seen, _)| sum + values(seen.by(way)));
            #[allow(clippy::cast_precision_loss)] // far below 2^53
            let count = seen.len() as f64;
            sum / count
        };
        for (measure, &way) in plan.measures.iter().zip(&*ways.of_measures) {
            made.values.push(match measure.kernel.of_samples() {
                Some(together) => {
                    let mut all = Vec::with_capacity(seen.len());
                    for (seen, docs) in &seen {
                        all.push(Sample { query: *seen.by(way), docs: Some(docs) });
                    }
                    together.value(&all)
                }
                None => mean(&|query| measure.kernel.value(query), way),
            });
            if measure.aggregate == Aggregate::RatioOfSums {
                let nan = (f64::NAN, f64::NAN);
                let part = |query: &Query<'_>| measure.kernel.ratio(query).unwrap_or(nan);
                let numerator = mean(&|query| part(query).0, way);
                made.ratios.push((numerator, mean(&|query| part(query).1, way)));
            }
        }
    }
}
