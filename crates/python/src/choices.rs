//! Reads policies, and measures with their parameters, from Python.

use pyo3::exceptions::{PyKeyError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use rankscope_core::items::features::Distance;
use rankscope_core::kernels::{
    Browsing, Denominator, Discount, Gain, Goal, Ideal, Params, Quantity, Rounding, Share,
};
use rankscope_core::policy::{Aggregate, Field, Negative, Policy, Unjudged};

pub(super) fn choose<T: Copy>(name: &str, known: &[(&str, T)]) -> PyResult<T> {
    let found = known.iter().find(|(known, _)| *known == name);
    found.map(|&(_, value)| value).ok_or_else(|| PyValueError::new_err(name.to_owned()))
}

/// The value of a field of the policy.
pub(super) fn field<T: Field>(word: &str) -> PyResult<T> {
    T::read(word).ok_or_else(|| PyValueError::new_err(word.to_owned()))
}

pub(super) fn read_policy(fields: &Bound<'_, PyDict>) -> PyResult<Policy> {
    fn of<T: Field>(fields: &Bound<'_, PyDict>) -> PyResult<T> {
        field(&require(fields, T::NAME)?.extract::<String>()?)
    }
    Ok(Policy {
        ties: of(fields)?,
        empty: of(fields)?,
        missing: of(fields)?,
        negative: of(fields)?,
        unjudged: match require(fields, Unjudged::NAME)?.extract::<f64>() {
            Ok(gain) => Unjudged::Gain(gain),
            Err(_) => of(fields)?,
        },
        unretrieved: of(fields)?,
        missing_gain: require(fields, "missing_gain")?.extract::<Option<f64>>()?.unwrap_or(0.0),
    })
}

pub(super) fn require<'py>(fields: &Bound<'py, PyDict>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    fields.get_item(name)?.ok_or_else(|| PyKeyError::new_err(name.to_owned()))
}

/// An aggregate by its name and, where it has one, its share of the queries.
pub(super) fn aggregate(name: &str, share: Option<f64>) -> PyResult<Aggregate> {
    // Counts are summed, which is no choice of the policy.
    let found = if name == "sum" { Aggregate::Sum } else { field(name)? };
    let with_share = share.and_then(|share| found.with_share(share));
    Ok(with_share.unwrap_or(found))
}

#[allow(clippy::too_many_lines)] // one case a parameter
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
        let name = name.extract::<String>()?;
        if name == "max_grade" {
            params.is_scaled_by_query = value.cast::<PyString>().is_ok();
            if !params.is_scaled_by_query {
                params.max_grade = value.extract()?;
            }
        }
        if value.is_none() {
            continue;
        }
        match name.as_str() {
            // A cutoff beyond any list is none.
            "k" => params.k = value.extract().ok(),
            "rel" => params.rel = Some(value.extract()?),
            "alpha" => params.alpha = value.extract()?,
            "beta" => params.beta = value.extract()?,
            "p" => params.p = value.extract()?,
            "u" => params.u = value.extract()?,
            "complete" => params.is_complete = value.extract()?,
            "model" => {
                let known =
                    [("rbp", Browsing::Rbp), ("gerr", Browsing::Gerr), ("dcg", Browsing::Dcg)];
                params.browsing = choose(&value.extract::<String>()?, &known)?;
            }
            "attention" => {
                let known = [("log", false), ("geometric", true)];
                params.is_geometric = choose(&value.extract::<String>()?, &known)?;
            }
            "target" => {
                let known = [
                    ("catalogue", Goal::Catalogue),
                    ("relevant", Goal::Relevant),
                    ("uniform", Goal::Uniform),
                ];
                params.groups = choose(&value.extract::<String>()?, &known)?;
            }
            "recall" => params.recall = value.extract()?,
            "rounding" => {
                let known = [("up", Rounding::Up), ("nearest", Rounding::Nearest)];
                params.rounding = choose(&value.extract::<String>()?, &known)?;
            }
            "levels" => params.levels = value.extract()?,
            "multiple" => params.multiple = value.extract()?,
            "hit" => params.worth[0] = value.extract()?,
            "false_alarm" => params.worth[1] = value.extract()?,
            "miss" => params.worth[2] = value.extract()?,
            "rejection" => params.worth[3] = value.extract()?,
            // Gains of documents without a judgment, which the policy chooses otherwise.
            "unjudged_gain" => params.unjudged_gain = value.extract()?,
            "negative_gain" => params.negative_gain = value.extract()?,
            "documents" => params.documents = value.extract()?,
            "max_grade" | "function" => {}
            "T" => {
                params.target = value.extract()?;
                params.goal[0] = params.target;
            }
            "b1" => params.goal[1] = value.extract()?,
            "R1" => params.goal[2] = value.extract()?,
            "A" => params.rate[0] = value.extract()?,
            "b2" => params.rate[1] = value.extract()?,
            "R2" => params.rate[2] = value.extract()?,
            "stops_by" => {
                let known =
                    [("both", (true, true)), ("goal", (true, false)), ("rate", (false, true))];
                let stops_by = choose(&value.extract::<String>()?, &known)?;
                (params.has_goal, params.has_rate) = stops_by;
            }
            "cost" => params.cost = value.extract()?,
            "halflife" => params.half_life = value.extract()?,
            "L" => params.length = value.extract()?,
            "min_rel" => params.min_rel = value.extract()?,
            "max_rel" => params.max_rel = value.extract()?,
            "residual" => params.is_residual = value.extract()?,
            "normalize" => params.normalizes = value.extract()?,
            "relative" => params.relative = value.extract()?,
            "value" => {
                let known = [
                    ("utility", Quantity::Utility),
                    ("total_utility", Quantity::TotalUtility),
                    ("cost", Quantity::Cost),
                    ("total_cost", Quantity::TotalCost),
                    ("items", Quantity::Items),
                ];
                params.quantity = choose(&value.extract::<String>()?, &known)?;
            }
            "share" => {
                let known = [("users", Share::Users), ("interactions", Share::Interactions)];
                params.share = choose(&value.extract::<String>()?, &known)?;
            }
            "distance" => {
                let known = [
                    ("cosine", Distance::Cosine),
                    ("jaccard", Distance::Jaccard),
                    ("hamming", Distance::Hamming),
                    ("euclidean", Distance::Euclidean),
                ];
                params.distance = choose(&value.extract::<String>()?, &known)?;
            }
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
    pairs.sort_by(|a, b| a.0.total_cmp(&b.0));
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
