//! Measures for sampled judgments: of each stratum of the documents, a share was judged at random.
//!
//! A negative grade is "in the stratum, not judged". Yilmaz, Kanoulas and Aslam, *A simple and efficient
//! sampling method for estimating AP and NDCG*, 2008, as NIST's `sample_eval.pl` computes it.

use super::kernel::{Kernel, Make, Needs};
use super::query::{Query, Ranking, real};
use crate::number::log2::log2;

/// The kernels of this family by name.
pub(super) const TABLE: &[(&str, Make)] = &[
    ("infndcg", |params| Box::new(InfNdcg { k: params.cutoff() })),
    ("xinfap", |params| Box::new(XinfAp { k: params.cutoff(), rel: params.least_relevant() })),
];

/// Keeps estimates of unseen shares off 0 and 1.
const SMOOTHING: (f64, f64) = (0.000_01, 0.000_03);

/// The documents of a stratum, or those among them that a list has down to a rank.
#[derive(Clone, Default)]
struct Stratum {
    /// How many there are.
    docs: usize,
    /// How many of them were judged.
    judged: usize,
    /// How many of these are relevant.
    relevant: usize,
    /// What the relevant ones add up to.
    sum: f64,
}

impl Stratum {
    fn add(&mut self, grade: f64, rel: f64) {
        self.docs += 1;
        self.judged += usize::from(grade >= 0.0);
        self.relevant += usize::from(grade >= rel && grade >= 0.0);
    }

    /// How many documents each judged one stands for.
    fn weight(&self) -> f64 {
        real(self.docs) / real(self.judged)
    }
}

/// The strata of all documents of a query.
fn count(query: Ranking<'_>, rel: f64) -> Vec<Stratum> {
    let mut strata = vec![Stratum::default(); query.of.count];
    for doc in 0..query.of.documents() {
        let (stratum, grade) = query.of.stratum(doc);
        strata[stratum].add(grade, rel);
    }
    strata
}

/// The documents of a list with their ranks, strata and grades, down to a cutoff.
fn list<'a>(
    query: &Query<'a>,
    sampled: Ranking<'a>,
    k: usize,
) -> impl Iterator<Item = (usize, usize, f64)> + use<'a> {
    let ranks = query.ranks.iter().map(|&rank| rank as usize).take_while(move |&rank| rank <= k);
    ranks.zip(sampled.judged).map(move |(rank, &doc)| {
        let (stratum, grade) = sampled.of.stratum(doc as usize);
        (rank, stratum, grade)
    })
}

/// Inferred nDCG.
struct InfNdcg {
    k: usize,
}

impl InfNdcg {
    /// The DCG of the best order of as many documents of each grade as there are estimated to be.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // 0 or more; it saturates
    fn ideal(&self, sampled: Ranking<'_>, strata: &[Stratum]) -> f64 {
        let graded = (0..sampled.of.documents()).map(|doc| sampled.of.stratum(doc));
        let mut graded: Vec<(f64, usize)> =
            graded.filter(|of| of.1 > 0.0).map(|(stratum, grade)| (grade, stratum)).collect();
        graded.sort_unstable_by(|one, other| other.0.total_cmp(&one.0).then(one.1.cmp(&other.1)));
        let (mut rank, mut ideal) = (0, 0.0);
        for of_grade in graded.chunk_by(|one, other| one.0 == other.0) {
            let alike = of_grade.chunk_by(|one, other| one.1 == other.1);
            let estimate = alike.fold(0.0, |sum, of_stratum| {
                let Stratum { docs, judged, .. } = strata[of_stratum[0].1];
                sum + real(of_stratum.len()) * real(docs) / real(judged)
            });
            let last = (rank + (estimate + 0.5) as usize).min(self.k);
            while rank < last {
                rank += 1;
                ideal += of_grade[0].0 / log2(rank + 1);
            }
        }
        ideal
    }
}

impl Kernel for InfNdcg {
    fn value(&self, query: &Query<'_>) -> f64 {
        let Some(sampled) = query.subtopics else { return f64::NAN };
        let ideal = self.ideal(sampled, &count(sampled, 1.0));
        if ideal <= 0.0 {
            return f64::NAN;
        }
        let mut found = vec![Stratum::default(); sampled.of.count];
        for (rank, stratum, grade) in list(query, sampled, self.k) {
            found[stratum].add(grade, 1.0);
            if grade > 0.0 {
                found[stratum].sum += grade / log2(rank + 1);
            }
        }
        let judged = found.iter().filter(|stratum| stratum.judged > 0);
        judged.fold(0.0, |sum, stratum| sum + stratum.weight() * stratum.sum) / ideal
    }

    fn averages_ties(&self) -> bool {
        false
    }

    fn needs(&self) -> Needs {
        Needs::Strata
    }
}

/// Extended inferred average precision.
struct XinfAp {
    k: usize,
    rel: f64,
}

impl Kernel for XinfAp {
    fn value(&self, query: &Query<'_>) -> f64 {
        let Some(sampled) = query.subtopics else { return f64::NAN };
        let mut strata = count(sampled, self.rel);
        let mut found = vec![Stratum::default(); sampled.of.count];
        let listed = list(query, sampled, self.k);
        for (above, (rank, stratum, grade)) in listed.enumerate() {
            if grade >= self.rel && grade >= 0.0 {
                strata[stratum].sum += precision(&found, above, rank);
            }
            found[stratum].add(grade, self.rel);
        }
        let relevant = strata.iter().filter(|stratum| stratum.relevant > 0);
        let (mut sum, mut all) = (0.0, 0.0);
        for stratum in relevant {
            let estimate = real(stratum.relevant) * stratum.weight();
            sum += estimate * (stratum.sum / real(stratum.relevant));
            all += estimate;
        }
        // 0 / 0 where nothing is relevant.
        sum / all
    }

    fn averages_ties(&self) -> bool {
        false
    }

    fn needs(&self) -> Needs {
        Needs::Strata
    }
}

/// The expected precision at a relevant document, above which so many are known.
fn precision(found: &[Stratum], above: usize, rank: usize) -> f64 {
    let relevant = found.iter().filter(|stratum| stratum.docs > 0).fold(0.0, |sum, stratum| {
        let share = (real(stratum.relevant) + SMOOTHING.0) / (real(stratum.judged) + SMOOTHING.1);
        sum + real(stratum.docs) / real(above) * share
    });
    1.0 / real(rank) + real(above) / real(rank) * relevant
}
