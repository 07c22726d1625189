//! The Python module `rankscope._core`.

#![allow(missing_docs)] // `_core.pyi` documents what Python sees
#![allow(clippy::needless_pass_by_value)] // Python hands arguments over

mod agreement;
mod batch;
mod cells;
mod choices;
mod chunks;
mod column;
mod errors;
mod evaluation;
mod event_columns;
mod events;
mod explain;
mod function;
mod fuse;
mod id_cells;
mod input;
mod items;
mod judgments;
mod lines;
mod log;
mod logged_texts;
mod matrix;
mod objects;
mod parts;
mod pieces;
mod plan;
mod rankings;
mod reassignments;
mod run;
mod run_columns;
mod saved;
mod scalars;
mod significance;
mod sums;
mod table;
mod table_stream;
mod texts;
mod watch;

use std::sync::atomic::{AtomicI64, Ordering};

use pyo3::exceptions::PyImportError;
use pyo3::ffi;
use pyo3::prelude::*;

use self::agreement::compare_rankings;
use self::batch::{BatchBuilder, BatchIds, EventBatch, Settled};
use self::chunks::{ClusterSums, evaluate_items, grade_items, measure_costs, sum_cells};
use self::column::Column;
use self::evaluation::{
    Evaluation, QueryCounts, average_units, bound_below, bounded_tails, bounded_units_needed,
    estimate_mean, restore_evaluation, t_quantile,
};
use self::event_columns::{decode_columns, decode_label_columns};
use self::events::{EventDecoder, split_json};
use self::explain::{audit_ties, bound, bound_difference, find_regrets};
use self::fuse::fuse_runs;
use self::items::Items;
use self::judgments::{Judgments, restore_judgments};
use self::lines::Lines;
use self::log::{LabelBlock, RankingBlock, hash_ids, hash_other_ids, join_labels};
use self::logged_texts::{IdSet, TextCodes, hash_texts};
use self::matrix::{mean_of_rows, values_of_rows};
use self::parts::{Summary, evaluate_part, restore_summary, summarize, summarize_groups};
use self::plan::Plan;
use self::rankings::{Rankings, evaluate_samples, restore_rankings};
use self::reassignments::{Reassignments, SliceQueries};
use self::run::{Run, RunText, evaluate_dict, evaluate_run};
use self::run_columns::RunParts;
use self::significance::{
    count_flips, invert_flips, noncentral_t_lower, normal_tails, student_tails,
};
use self::sums::{add_sums, choose_sums, fsum, log2, round_sums, sum_groups};
use self::table::hash_column;
use self::table_stream::TableStream;
use self::texts::order_texts;

#[pymodule]
mod _core {
    use pyo3::prelude::*;
    use pyo3::types::{IntoPyDict, PyDict, PyTuple};

    use rankscope_core::policy::{self, Field};
    use rankscope_core::text::source::{MAX_RATIO, RATIO_FROM};

    #[pymodule_export]
    use super::{
        BatchBuilder, BatchIds, ClusterSums, Column, Evaluation, EventBatch, EventDecoder, IdSet,
        Items, Judgments, LabelBlock, Lines, Plan, QueryCounts, RankingBlock, Rankings,
        Reassignments, Run, RunParts, RunText, Settled, SliceQueries, Summary, TableStream,
        TextCodes, add_sums, audit_ties, average_units, bound, bound_below, bound_difference,
        bounded_tails, bounded_units_needed, choose_sums, compare_rankings, count_flips,
        decode_columns, decode_label_columns, estimate_mean, evaluate_dict, evaluate_items,
        evaluate_part, evaluate_run, evaluate_samples, find_regrets, fsum, fuse_runs, grade_items,
        hash_column, hash_ids, hash_other_ids, hash_texts, invert_flips, join_labels, log2,
        mean_of_rows, measure_costs, noncentral_t_lower, normal_tails, order_texts,
        restore_evaluation, restore_judgments, restore_rankings, restore_summary, round_sums,
        split_json, student_tails, sum_cells, sum_groups, summarize, summarize_groups, t_quantile,
        values_of_rows,
    };

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        super::refuse_another()?;
        module.add("__version__", env!("CARGO_PKG_VERSION"))?;
        let py = module.py();
        let policy = PyDict::new(py);
        for (field, words) in policy::fields() {
            policy.set_item(field, words.into_py_dict(py)?)?;
        }
        module.add("POLICY", policy)?;
        let values = policy::Empty::WORDS.iter();
        let values =
            values.filter_map(|known| known.value.value().map(|value| (known.word, value)));
        module.add("EMPTY_VALUES", values.into_py_dict(py)?)?;
        let shares = policy::Aggregate::WORDS.iter();
        let shares = shares.filter(|known| known.value.with_share(1.0).is_some());
        let shares: Vec<_> = shares.map(|known| known.word).collect();
        module.add("SHARES", PyTuple::new(py, &shares[..])?)?;
        let kernels: Vec<_> = rankscope_core::kernels::kernels().map(|(name, _)| name).collect();
        module.add("KERNELS", PyTuple::new(py, &kernels[..])?)?;
        module.add("RATIO_FROM", RATIO_FROM)?;
        module.add("MAX_RATIO", MAX_RATIO)
    }
}

static FIRST: AtomicI64 = AtomicI64::new(-1);

/// Refuses any interpreter but the first that asks: the classes of the module are shared by the
/// whole process, and would outlive a second one.
#[allow(unsafe_code)] // only the C API knows the id of an interpreter
fn refuse_another() -> PyResult<()> {
    // SAFETY: the caller is an interpreter that imports the module, so there is one, and it is held.
    let this = unsafe { ffi::PyInterpreterState_GetID(ffi::PyInterpreterState_Get()) };
    match FIRST.compare_exchange(-1, this, Ordering::Relaxed, Ordering::Relaxed) {
        Err(first) if first != this => Err(PyImportError::new_err(
            "rankscope runs in one interpreter of a process, and another has loaded it already",
        )),
        _ => Ok(()),
    }
}
