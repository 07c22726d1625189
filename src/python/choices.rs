//! Reads policies, and measures with their parameters, from Python.

use pyo3::exceptions::{PyKeyError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

use crate::kernels::{Denominator, Discount, Gain, Ideal, Params};
use crate::memory::{self, Vec};
use crate::policy::{
    Aggregate, Duplicates, Empty, Missing, Negative, Policy, ScoreType, Ties, Unjudged, Unretrieved,
};

pub(super) fn choose<T: Copy>(name: &str, known: &[(&str, T)]) -> PyResult<T> {
    let found = known.iter().find(|(known, _)| *known == name);
    found.map(|&(_, value)| value).ok_or_else(|| PyValueError::new_err(name.to_owned()))
}

pub(super) fn duplicates(name: &str) -> PyResult<Duplicates> {
    choose(
        name,
        &[("error", Duplicates::Error), ("first", Duplicates::First), ("max", Duplicates::Max)],
    )
}

pub(super) fn score_type(name: &str) -> PyResult<ScoreType> {
    choose(name, &[("float64", ScoreType::Float64), ("float32", ScoreType::Float32)])
}

pub(super) fn ties(name: &str) -> PyResult<Ties> {
    let known = [
        ("doc_id", Ties::DocId),
        ("doc_id_asc", Ties::DocIdAscending),
        ("input", Ties::Input),
        ("best", Ties::Best),
        ("worst", Ties::Worst),
        ("average", Ties::Average),
    ];
    choose(name, &known)
}

pub(super) fn read_policy(fields: &Bound<'_, PyDict>) -> PyResult<Policy> {
    let field = |name: &str| -> PyResult<String> { require(fields, name)?.extract() };
    let empties = [
        ("zero", Empty::Zero),
        ("one", Empty::One),
        ("skip", Empty::Skip),
        ("nan", Empty::Nan),
        ("error", Empty::Error),
    ];
    let missing = [("zero", Missing::Zero), ("skip", Missing::Skip), ("error", Missing::Error)];
    let negative = [
        ("nonrelevant", Negative::Nonrelevant),
        ("gain", Negative::Gain),
        ("minmax", Negative::MinMax),
        ("error", Negative::Error),
    ];
    let unretrieved = [("count", Unretrieved::Count), ("ignore", Unretrieved::Ignore)];
    let unjudged = require(fields, "unjudged")?;
    Ok(Policy {
        ties: ties(&field("ties")?)?,
        empty: choose(&field("empty")?, &empties)?,
        missing: choose(&field("missing")?, &missing)?,
        negative: choose(&field("negative")?, &negative)?,
        unjudged: match unjudged.extract::<f64>() {
            Ok(gain) => Unjudged::Gain(gain),
            Err(_) => choose(
                &unjudged.extract::<String>()?,
                &[("nonrelevant", Unjudged::Nonrelevant), ("remove", Unjudged::Remove)],
            )?,
        },
        unretrieved: choose(&field("unretrieved")?, &unretrieved)?,
        missing_gain: require(fields, "missing_gain")?.extract::<Option<f64>>()?.unwrap_or(0.0),
    })
}

pub(super) fn require<'py>(fields: &Bound<'py, PyDict>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    fields.get_item(name)?.ok_or_else(|| PyKeyError::new_err(name.to_owned()))
}

/// An aggregate by its name and, where it has one, its parameter.
pub(super) fn aggregate(name: &str, share: Option<f64>) -> PyResult<Aggregate> {
    let share = share.unwrap_or_default();
    let known = [
        ("mean", Aggregate::Mean),
        ("sum", Aggregate::Sum),
        ("geometric", Aggregate::Geometric),
        ("harmonic", Aggregate::Harmonic),
        ("median", Aggregate::Median),
        ("quantile", Aggregate::Quantile(share)),
        ("tail_mean", Aggregate::TailMean(share)),
        ("ratio_of_sums", Aggregate::RatioOfSums),
    ];
    choose(name, &known)
}

pub(super) fn read_params(fields: &Bound<'_, PyDict>, policy: &Policy) -> PyResult<Params> {
    let mut params = Params {
        negative_gain: policy.negative == Negative::Gain,
        min_max: policy.negative == Negative::MinMax,
        unjudged_gain: match policy.unjudged {
            Unjudged::Gain(gain) => gain,
            Unjudged::Nonrelevant | Unjudged::Remove => 0.0,
        },
        missing_gain: policy.missing_gain,
        ..Params::default()
    };
    for (name, value) in fields {
        if value.is_none() {
            continue;
        }
        match name.extract::<String>()?.as_str() {
            // A cutoff beyond any list is none.
            "k" => params.k = value.extract().ok(),
            "rel" => params.rel = Some(value.extract()?),
            "beta" => params.beta = value.extract()?,
            "p" => params.p = value.extract()?,
            "recall" => params.recall = value.extract()?,
            "max_grade" => params.max_grade = value.extract()?,
            "graded" => params.graded = value.extract()?,
            "gain" => params.gain = read_gain(&value)?,
            "discount" => params.discount = read_discount(value.cast::<PyDict>()?)?,
            "ideal" => {
                let known = [
                    ("judged", Ideal::Judged),
                    ("retrieved", Ideal::Retrieved),
                    ("whole", Ideal::Whole),
                    ("slots", Ideal::Slots),
                ];
                params.ideal = choose(&value.extract::<String>()?, &known)?;
            }
            "denominator" => {
                params.denominator = Some(read_denominator(&value.extract::<String>()?)?);
            }
            other => return Err(PyKeyError::new_err(other.to_owned())),
        }
    }
    Ok(params)
}

fn read_denominator(name: &str) -> PyResult<Denominator> {
    let known = [
        ("relevant", Denominator::Relevant),
        ("reachable", Denominator::Reachable),
        ("cutoff", Denominator::Cutoff),
        ("retrieved", Denominator::Retrieved),
        ("found", Denominator::Found),
    ];
    choose(name, &known)
}

pub(super) fn read_gain(value: &Bound<'_, PyAny>) -> PyResult<Gain> {
    if let Ok(name) = value.cast::<PyString>() {
        return match name.to_str()? {
            "linear" => Ok(Gain::Linear),
            "exp2" => Ok(Gain::Exp2),
            "binary" => Ok(Gain::Binary),
            other => Err(PyValueError::new_err(other.to_owned())),
        };
    }
    let pairs: Vec<[f64; 2]> = value.extract()?;
    let mut pairs: Vec<(f64, f64)> = pairs.into_iter().map(|[grade, gain]| (grade, gain)).collect();
    memory::sort_by(&mut pairs, |a, b| a.0.total_cmp(&b.0));
    Ok(Gain::Table(pairs))
}

pub(super) fn read_discount(fields: &Bound<'_, PyDict>) -> PyResult<Discount> {
    let number = |name: &str| -> PyResult<f64> { require(fields, name)?.extract() };
    Ok(match require(fields, "kind")?.extract::<String>()?.as_str() {
        "log2" => Discount::Log2,
        "log" => Discount::Log(number("base")?),
        "jk" => Discount::JarvelinKekalainen(number("base")?),
        "reciprocal" => Discount::Reciprocal,
        "linear" => Discount::Linear,
        "zipf" => Discount::Zipf(number("s")?),
        "table" => Discount::Table(require(fields, "weights")?.extract()?),
        other => return Err(PyValueError::new_err(other.to_owned())),
    })
}
