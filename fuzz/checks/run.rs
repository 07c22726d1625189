//! Any bytes are a run or a mistake; a stream on one thread or many and a run in memory give the
//! same values to the last bit, or the same mistake.

use std::sync::LazyLock;

use rankscope_core::error::Error;
use rankscope_core::evaluate::evaluation::Evaluation;
use rankscope_core::evaluate::plan::{Measure, Plan};
use rankscope_core::evaluate::{held, stream};
use rankscope_core::kernels::{self, Needs, Params};
use rankscope_core::policy::{Aggregate, Duplicates, Policy, ScoreType};
use rankscope_core::qrels::judgments::Judgments;
use rankscope_core::rank::run::Run;
use rankscope_core::text::source::{Encoding, Input, Origin};

fn input(data: &[u8]) -> Input {
    Input { origin: Origin::Bytes(data.into()), encoding: Encoding::Utf8 }
}

static JUDGMENTS: LazyLock<Judgments> = LazyLock::new(|| {
    let qrels = b"1 0 a 1\n1 0 b 0\n2 0 a 3\n2 0 c -1\n3 0 d 0.5\nq 0 x 2\n";
    Judgments::read(&input(qrels), Duplicates::Error, &mut |_| Ok(())).unwrap()
});

static PLAN: LazyLock<Plan> = LazyLock::new(|| {
    let params = Params { k: Some(5), ..Params::default() };
    let kernels = kernels::kernels().map(|(name, make)| (name, make(&params)));
    let measures =
        kernels.filter(|(_, kernel)| kernel.needs() == Needs::Grades).map(|(name, kernel)| {
            Measure {
                name: name.to_owned(),
                kernel: kernel.into(),
                judged_only: false,
                aggregate: Aggregate::Mean,
            }
        });
    Plan {
        measures: measures.collect(),
        cutoffs: vec![5],
        policy: Policy::default(),
        duplicates: Duplicates::Error,
        score_type: ScoreType::Float64,
        weights: None,
        depth: usize::MAX,
        items: None,
        judged: None,
    }
});

fn bits(evaluation: &Evaluation) -> Vec<u64> {
    evaluation.values.iter().flatten().map(|value| value.to_bits()).collect()
}

/// Reads some bytes.
pub fn check(data: &[u8]) {
    let streamed = |threads: usize| -> Option<Result<Vec<u64>, Error>> {
        stream::evaluate(&PLAN, &JUDGMENTS, &input(data), threads, &mut |_| Ok(()))
            .map(|evaluation| evaluation.as_ref().map(bits))
            .transpose()
    };
    let read = Run::read(&input(data), ScoreType::Float64, Duplicates::Error, &mut |_| Ok(()));
    let held = read
        .and_then(|run| held::evaluate_run(&PLAN, &JUDGMENTS, &run, 1, &mut |_| Ok(())))
        .map(|evaluation| bits(&evaluation))
        .map_err(|error| error.file("<bytes>"));
    // Nothing where a query comes back.
    for threads in [1, 2] {
        if let Some(streamed) = streamed(threads) {
            assert_eq!(streamed, held);
        }
    }
}
