//! Reads mappings, rows, identifiers and numbers from Python objects.
//!
//! Plain dicts of plain text and floats are read where they lie, through the C API. Anything else
//! takes a slower way, which also says what is wrong with it.

#![allow(unsafe_code)] // it reads Python's own memory

use std::borrow::Cow;

use pyo3::exceptions::{PyAttributeError, PyOverflowError, PyTypeError, PyUnicodeEncodeError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{
    PyBool, PyByteArray, PyBytes, PyDict, PyFloat, PyInt, PyList, PySequence, PyString, PyTuple,
};
use rankscope_core::error::{Error, Kind, show};
use rankscope_core::ids::interner::{Arena, Ids};
use rankscope_core::notes::Notes;
use rankscope_core::number::decimal::{Decimal, NotANumber};
use rankscope_core::policy::ScoreType;
use rankscope_core::text::fields;
use rankscope_core::text::list::{self, List, Row};

use super::errors::to_python;
use super::scalars::Scalars;

pub(super) type Entries<'py> = Vec<(Bound<'py, PyAny>, Bound<'py, PyAny>)>;

/// The entries of a mapping, held so that nothing can change them meanwhile.
pub(super) fn entries<'py>(
    object: &Bound<'py, PyAny>,
    place: &str,
    wanted: &str,
) -> PyResult<Entries<'py>> {
    if let Ok(dict) = object.cast_exact::<PyDict>() {
        return Ok(dict.iter().collect());
    }
    if !object.hasattr("keys")? || !object.hasattr("items")? || object.hasattr("columns")? {
        let found = object.get_type().name()?;
        let error =
            Error::new(Kind::Format, "not_a_mapping", format!("expected {wanted}, found {found}"))
                .hint("give a dict of dicts, or rows of (query, document, number)")
                .file(place);
        return Err(to_python(object.py(), &error));
    }
    pairs(&object.call_method0("items")?, place, wanted)
}

/// The pairs that an object gives one after another.
fn pairs<'py>(object: &Bound<'py, PyAny>, place: &str, wanted: &str) -> PyResult<Entries<'py>> {
    let is_pair =
        |entry: &Bound<'py, PyAny>| entry.cast::<PyTuple>().is_ok_and(|entry| entry.len() == 2);
    let read = |entry: PyResult<Bound<'py, PyAny>>| match entry? {
        entry if is_pair(&entry) => Ok((entry.get_item(0)?, entry.get_item(1)?)),
        entry => {
            let found = entry.get_type().name()?;
            let message = format!("expected {wanted}, whose items are pairs, found {found}");
            let error = Error::new(Kind::Format, "not_a_mapping", message)
                .hint("give a dict of dicts, or rows of (query, document, number)")
                .file(place);
            Err(to_python(object.py(), &error))
        }
    };
    object.try_iter()?.map(read).collect()
}

/// The documents of one query.
pub(super) enum Documents<'py> {
    /// Each with its grade or score.
    Numbered(Entries<'py>),
    /// Identifiers alone: those of a run with the best first, those of judgments all relevant.
    Listed(Vec<Bound<'py, PyAny>>),
}

/// The documents of a query: a mapping of document to number, pairs of them, or identifiers alone.
pub(super) fn documents<'py>(
    object: &Bound<'py, PyAny>,
    kind: Number,
    place: &str,
) -> PyResult<Documents<'py>> {
    let wanted = match kind {
        Number::Grade => "a mapping of document to grade",
        Number::Score => "a mapping of document to score",
    };
    if object.is_exact_instance_of::<PyDict>() {
        return Ok(Documents::Numbered(entries(object, place, wanted)?));
    }
    if let Ok(list) = object.cast_exact::<PyList>()
        && list.get_item(0).is_ok_and(|first| first.is_exact_instance_of::<PyString>())
    {
        return Ok(Documents::Listed(list.iter().collect()));
    }
    let py = object.py();
    let rule = py.import("rankscope._inputs.recognition")?.getattr("open_documents")?;
    let opened = rule.call1((object, kind == Number::Grade, place))?;
    let (form, opened): (String, Bound<'py, PyAny>) = opened.extract()?;
    Ok(match form.as_str() {
        "mapping" => Documents::Numbered(entries(&opened, place, wanted)?),
        "pairs" => Documents::Numbered(pairs(&opened, place, wanted)?),
        _ => Documents::Listed(opened.try_iter()?.collect::<PyResult<_>>()?),
    })
}

/// Calls `take` with the list that the documents of a query are, and whether they are known to
/// differ.
///
/// # Safety
/// `take` runs no Python code, which could change the documents.
pub(super) unsafe fn with_list<T>(
    query: &[u8],
    docs: &Bound<'_, PyAny>,
    score_type: ScoreType,
    notes: &mut Notes,
    take: impl FnOnce(&mut List<'_>, bool) -> T,
) -> PyResult<T> {
    let mut texts = Arena::default();
    let mut list = List { query, is_sorted: true, ..List::default() };
    if let Ok(dict) = docs.cast_exact::<PyDict>()
        // SAFETY: no Python code runs until `take` has ended, as the caller promises.
        && unsafe { fill_in_place(dict, score_type, &mut list, &mut texts) }
    {
        notes.has_integers |= list.are_integers;
        return Ok(take(&mut list, true));
    }
    let place = format!("run[{:?}]", show(query));
    let opened = documents(docs, Number::Score, &place)?;
    let mut ids = Vec::new();
    let mut scores = Vec::new();
    match &opened {
        Documents::Numbered(entries) => {
            for (doc, score) in entries {
                let doc = read_id(doc, &place, notes)?;
                let score =
                    read_number(score, Number::Score, || format!("{place}[{:?}]", show(&doc)))?;
                scores.push(score_type.round(score));
                ids.push(doc);
            }
        }
        // Ranks below zero keep the order of the list, as for a column of ranks.
        Documents::Listed(listed) => {
            for (doc, rank) in listed.iter().zip(1_u32..) {
                ids.push(read_id(doc, &place, notes)?);
                scores.push(-f64::from(rank));
            }
        }
    }
    let rows = ids.iter().zip(&scores).zip(1..);
    list.rows = rows.map(|((doc, &score), line)| Row { doc, score, line }).collect();
    list.is_sorted = scores.is_sorted_by(|above, below| above >= below);
    list.are_integers = notes.has_integers;
    Ok(take(&mut list, false))
}

/// Fills a list from a dict of plain `str`, or of plain `int`, to numbers of known types; gives up on
/// anything else. The texts are those of the integers.
///
/// # Safety
/// The dict must not change while the list is in use.
unsafe fn fill_in_place<'a>(
    dict: &'a Bound<'_, PyDict>,
    score_type: ScoreType,
    list: &mut List<'a>,
    texts: &'a mut Arena,
) -> bool {
    let scalars = Scalars::of(dict.py());
    list.rows.clear();
    list.rows.reserve(dict.len());
    let mut last = f64::INFINITY;
    let (mut at, mut key, mut value) = (0, std::ptr::null_mut(), std::ptr::null_mut());
    let mut room = Decimal::default();
    // SAFETY: key and value are borrowed from the dict, which the caller keeps as it is; the text of
    // a str lives as long as the str.
    unsafe {
        while ffi::PyDict_Next(dict.as_ptr(), &raw mut at, &raw mut key, &raw mut value) != 0 {
            let Some(score) = scalars.double(value) else { return false };
            let doc = if ffi::PyUnicode_CheckExact(key) != 0 {
                let mut length = 0;
                let text = ffi::PyUnicode_AsUTF8AndSize(key, &raw mut length);
                if text.is_null() {
                    ffi::PyErr_Clear();
                    return false;
                }
                let doc = std::slice::from_raw_parts(text.cast::<u8>(), length.cast_unsigned());
                if fields::check_id(doc).is_err() {
                    return false;
                }
                doc
            } else if let Some(integer) = scalars.integer(key) {
                texts.push(room.write(integer));
                &[]
            } else {
                return false;
            };
            let score = score_type.round(score);
            if !score.is_finite() {
                return false;
            }
            list.is_sorted &= score <= last;
            last = score;
            list.rows.push(Row { doc, score, line: 0 });
        }
    }
    list.are_integers = !texts.is_empty();
    if list.are_integers {
        // An integer equals the text of one, and one of NumPy that of Python.
        if texts.len() < list.rows.len() {
            return false;
        }
        let texts: &'a Arena = texts;
        list.rows.iter_mut().zip(texts.iter()).for_each(|(row, text)| row.doc = text);
    }
    !list::is_too_long(list.rows.len())
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Number {
    Grade,
    Score,
}

/// Calls `each` with query, document, number and 1-based position of every row.
pub(super) fn each_row(
    rows: &Bound<'_, PyAny>,
    name: &str,
    notes: &mut Notes,
    kind: Number,
    mut each: impl FnMut(&[u8], &[u8], f64, u64, &mut Notes) -> PyResult<()>,
) -> PyResult<()> {
    let py = rows.py();
    let last = if kind == Number::Grade { "grade" } else { "score" };
    for (row, line) in rows.try_iter()?.zip(1..) {
        let row = row?;
        if line % 4096 == 0 {
            py.check_signals()?;
        }
        if !is_row(&row)? {
            let found = row.get_type().name()?;
            let found = row.len().map_or_else(|_| found.to_string(), |n| format!("{found} of {n}"));
            let message = format!("expected rows of query, document and {last}, found {found}");
            let error = Error::new(Kind::Format, "row_shape", message)
                .hint(
                    "a row is a tuple of three; a file is named by its path; lists of documents by \
                     query are a mapping: {'q1': ['d1', 'd2']}",
                )
                .file(name)
                .line(line);
            return Err(to_python(py, &error));
        }
        let (query, doc, number) = (row.get_item(0)?, row.get_item(1)?, row.get_item(2)?);
        let query = read_id(&query, name, notes).map_err(|raised| at_line(py, raised, line))?;
        let doc = read_id(&doc, name, notes).map_err(|raised| at_line(py, raised, line))?;
        let number = read_number(&number, kind, || name.to_owned())
            .map_err(|raised| at_line(py, raised, line))?;
        each(&query, &doc, number, line, notes)?;
    }
    Ok(())
}

/// Calls `each` with the query, subtopic and document, the grade and the number of each row. A row of
/// `ir_measures` names its fields; others are query, subtopic, document and grade.
pub(super) fn each_subtopic_row(
    rows: &Bound<'_, PyAny>,
    name: &str,
    notes: &mut Notes,
    mut each: impl FnMut((&[u8], &[u8], &[u8]), f64, u64, &mut Notes) -> PyResult<()>,
) -> PyResult<()> {
    let py = rows.py();
    for (row, line) in rows.try_iter()?.zip(1..) {
        let row = row?;
        if line % 4096 == 0 {
            py.check_signals()?;
        }
        let fields: Vec<Bound<'_, PyAny>> = if row.hasattr("iteration")? {
            let named = ["query_id", "iteration", "doc_id", "relevance"];
            named.into_iter().map(|field| row.getattr(field)).collect::<PyResult<_>>()?
        } else if row.cast::<PyTuple>().is_ok() || row.cast::<PyList>().is_ok() {
            row.try_iter()?.collect::<PyResult<_>>()?
        } else {
            Vec::new()
        };
        let [query, subtopic, doc, grade] = &fields[..] else {
            let found = row.get_type().name()?;
            let found = row.len().map_or_else(|_| found.to_string(), |n| format!("{found} of {n}"));
            let message =
                format!("expected rows of query, subtopic, document and grade, found {found}");
            let error = Error::new(Kind::Format, "row_shape", message)
                .hint("a row is a tuple of four, or a Qrel of ir_measures")
                .file(name)
                .line(line);
            return Err(to_python(py, &error));
        };
        let mut read = |id| read_id(id, name, notes).map_err(|raised| at_line(py, raised, line));
        let (query, subtopic, doc) = (read(query)?, read(subtopic)?, read(doc)?);
        let grade = read_number(grade, Number::Grade, || name.to_owned())
            .map_err(|raised| at_line(py, raised, line))?;
        each((&query, &subtopic, &doc), grade, line, notes)?;
    }
    Ok(())
}

/// Whether an object is a sequence of three fields and not a text.
fn is_row(row: &Bound<'_, PyAny>) -> PyResult<bool> {
    if let Ok(tuple) = row.cast_exact::<PyTuple>() {
        return Ok(tuple.len() == 3);
    }
    let is_text = row.is_instance_of::<PyString>()
        || row.is_instance_of::<PyBytes>()
        || row.is_instance_of::<PyByteArray>();
    if is_text || row.cast::<PySequence>().is_err() {
        return Ok(false);
    }
    Ok(match row.len()? {
        3 => true,
        // ir_measures' Qrel has a fourth field, which says nothing of relevance. Any other row of
        // four could have its fields anywhere.
        4 => row.hasattr("_fields")? && row.getattr("_fields")?.get_item(3)?.eq("iteration")?,
        _ => false,
    })
}

/// The bytes of a query's identifier, which no other query may have.
pub(super) fn read_query<'a>(
    id: &'a Bound<'_, PyAny>,
    place: &str,
    seen: &mut Ids,
    notes: &mut Notes,
) -> PyResult<Cow<'a, [u8]>> {
    let query = read_id(id, place, notes)?;
    let count = seen.texts().len();
    if seen.number(&query) == count {
        return Ok(query);
    }
    let message = format!("expected each query once, found `{}` again", show(&query));
    let error = Error::new(Kind::Duplicate, "duplicate_query", message)
        .hint("an id that is an integer equals one that is its text")
        .file(place)
        .value(&query);
    Err(to_python(id.py(), &error))
}

fn at_line(py: Python<'_>, raised: PyErr, line: u64) -> PyErr {
    match raised.value(py).setattr("line", line) {
        Ok(()) => raised,
        Err(other) => other,
    }
}

/// The bytes of an identifier; what is no text and no integer is written as `spell` does.
pub(super) fn read_id<'a>(
    id: &'a Bound<'_, PyAny>,
    place: &str,
    notes: &mut Notes,
) -> PyResult<Cow<'a, [u8]>> {
    let py = id.py();
    let shown = || id.repr().map_or_else(|_| String::new(), |text| text.to_string());
    let refuse = |error: Error| to_python(py, &error.file(place));
    if let Ok(text) = id.cast::<PyString>() {
        let text = text.to_str().map_err(|raised| {
            if !raised.is_instance_of::<PyUnicodeEncodeError>(py) {
                return raised;
            }
            refuse(
                Error::new(Kind::Format, "surrogate", "expected text, found a lone surrogate")
                    .hint("decode the id with errors=\"strict\" where it comes from")
                    .value(shown().as_bytes()),
            )
        })?;
        fields::check_id(text.as_bytes()).map_err(refuse)?;
        return Ok(Cow::Borrowed(text.as_bytes()));
    }
    // SAFETY: it is an object.
    if let Some(integer) = unsafe { Scalars::of(py).integer(id.as_ptr()) } {
        notes.has_integers = true;
        return Ok(Cow::Owned(Decimal::default().write(integer).to_vec()));
    }
    if let Some(integer) = as_integer(id)? {
        notes.has_integers = true;
        // The text of int itself, whatever a subclass prints.
        let text = py.get_type::<PyInt>().call_method1("__repr__", (integer,));
        let Ok(text) = text.and_then(|text| text.extract::<String>()) else {
            let message = "expected an integer id of at most 4,300 digits, found a longer one";
            let error = Error::new(Kind::Limit, "id_length", message);
            return Err(refuse(error.hint("ids of at most 4,096 bytes are read")));
        };
        fields::check_id(text.as_bytes()).map_err(refuse)?;
        return Ok(Cow::Owned(text.into_bytes()));
    }
    let rule = py.import("rankscope._inputs.recognition")?.getattr("spell")?;
    let spelled = rule.call1((id,))?;
    if let Ok(text) = spelled.cast::<PyString>() {
        let text = text.to_str()?.as_bytes();
        fields::check_id(text).map_err(refuse)?;
        return Ok(Cow::Owned(text.to_vec()));
    }
    if is_missing(&spelled)? {
        let error = Error::new(Kind::Format, "missing_id", "expected an id, found none");
        return Err(refuse(error.hint("give it a name, or leave it out")));
    }
    let message = format!("expected an id of type str or int, found {}", id.get_type().name()?);
    let hint = "ids are text, integers, UUIDs, dates, decimals or bytes; floats lose digits";
    Err(refuse(Error::new(Kind::Format, "id_type", message).hint(hint).value(shown().as_bytes())))
}

/// The integer that an object is, of Python's or any other type, but not a truth value.
fn as_integer<'py>(object: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
    if object.is_instance_of::<PyBool>() {
        return Ok(None);
    }
    if object.is_instance_of::<PyInt>() {
        return Ok(Some(object.clone()));
    }
    if object.is_instance_of::<PyFloat>() || !object.hasattr("__index__")? {
        return Ok(None);
    }
    match object.call_method0("__index__") {
        Ok(integer) => Ok(Some(integer)),
        // Arrays have the method too, and refuse unless they hold one integer. Those of TensorFlow
        // ask the number for it.
        Err(raised)
            if raised.is_instance_of::<PyTypeError>(object.py())
                || raised.is_instance_of::<PyAttributeError>(object.py()) =>
        {
            Ok(None)
        }
        Err(raised) => Err(raised),
    }
}

/// A grade or score of any type that is a number without doubt.
pub(super) fn read_number(
    object: &Bound<'_, PyAny>,
    kind: Number,
    place: impl Fn() -> String,
) -> PyResult<f64> {
    let py = object.py();
    // Most numbers are of a known type. Asking one for a `dtype` takes a microsecond.
    // SAFETY: it is an object.
    let known = unsafe { Scalars::of(py).double(object.as_ptr()) };
    if let Some(known) = known.filter(|known| known.is_finite()) {
        // -0.0 is 0.
        return Ok(known + 0.0);
    }
    let (code, what) = match kind {
        Number::Grade => ("rel", "grade"),
        Number::Score => ("score", "score"),
    };
    let shown = || object.repr().map_or_else(|_| String::new(), |text| text.to_string());
    let refuse = |mistake: NotANumber| {
        let mut error = fields::name_number_mistake(code, what, mistake, shown().as_bytes());
        if mistake == NotANumber::Text {
            error = error.hint("give an int or a float; float() makes one of most numbers");
        }
        to_python(py, &error.file(&place()))
    };
    let refuse_inexact = || {
        let shown = shown();
        let message = format!(
            "expected a {what} that double precision holds exactly, found `{}`",
            show(shown.as_bytes())
        );
        let error = Error::new(Kind::Format, "inexact_number", message)
            .hint("float() rounds it, where near is enough")
            .value(shown.as_bytes());
        to_python(py, &error.file(&place()))
    };
    let value = if let Ok(float) = object.cast::<PyFloat>() {
        float.value()
    } else if kind == Number::Grade && is_truth(object) {
        f64::from(object.is_truthy()?)
    } else if let Some(integer) = as_integer(object)? {
        exactly(&integer).ok_or_else(refuse_inexact)?
    } else if is_real_scalar(object) {
        exactly(object).ok_or_else(refuse_inexact)?
    } else if let Some(plain) = plain_item(object)? {
        return read_number(&plain, kind, place);
    } else if is_decimal(object)? {
        // Columns and lists have the same rule.
        let rule = py.import("rankscope._inputs.numbers")?.getattr("read_decimal")?;
        rule.call1((object,))?.extract::<Option<f64>>()?.ok_or_else(refuse_inexact)?
    } else if is_missing(object)? {
        let code = if kind == Number::Grade { "missing_relevance" } else { "missing_score" };
        let error = Error::new(Kind::Format, code, format!("expected a {what}, found none"));
        return Err(to_python(py, &error.hint("leave the document out").file(&place())));
    } else {
        return Err(refuse(NotANumber::Text));
    };
    match value {
        value if value.is_nan() => Err(refuse(NotANumber::Nan)),
        value if value.is_infinite() => Err(refuse(NotANumber::Infinite)),
        // -0.0 is 0.
        value => Ok(value + 0.0),
    }
}

/// Whether an object is a truth value of Python, or one of an array library.
fn is_truth(object: &Bound<'_, PyAny>) -> bool {
    object.is_instance_of::<PyBool>() || kind_of_scalar(object).is_some_and(|kind| kind == "b")
}

/// Whether an object is a `decimal.Decimal`.
fn is_decimal(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    object.is_instance(&object.py().import("decimal")?.getattr("Decimal")?)
}

/// Whether an object says that there is none; those of pandas are known by their types.
fn is_missing(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    if object.is_none() {
        return Ok(true);
    }
    let name = object.get_type().name()?;
    Ok(name == "NAType" || name == "NaTType")
}

/// Whether an object is one number of an array library's real type.
fn is_real_scalar(object: &Bound<'_, PyAny>) -> bool {
    kind_of_scalar(object).is_some_and(|kind| matches!(kind.as_str(), "f" | "i" | "u"))
}

/// The Python number of a single value of a type that `NumPy` doesn't have, such as a tensor of
/// `PyTorch`, or bfloat16.
fn plain_item<'py>(object: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
    let Ok(dtype) = object.getattr("dtype") else {
        return Ok(None);
    };
    let is_single =
        object.getattr("shape").is_ok_and(|shape| shape.len().is_ok_and(|length| length == 0));
    let is_of_numpy = dtype.getattr("kind").is_ok_and(|kind| kind.ne("V").unwrap_or(true));
    if !is_single || is_of_numpy || !object.hasattr("item")? {
        return Ok(None);
    }
    let item = object.call_method0("item")?;
    let is_plain = item.is_exact_instance_of::<PyFloat>()
        || item.is_exact_instance_of::<PyInt>()
        || item.is_exact_instance_of::<PyBool>();
    Ok(is_plain.then_some(item))
}

/// The kind of an array library's single value, as `NumPy`'s letter for it.
fn kind_of_scalar(object: &Bound<'_, PyAny>) -> Option<String> {
    let dtype = object.getattr("dtype").ok()?;
    let length = object.getattr("shape").ok()?.len().ok()?;
    let kind = dtype.getattr("kind").ok()?.extract().ok()?;
    (length == 0).then_some(kind)
}

/// The double that a number equals; infinite beyond all doubles, none where it would be rounded.
fn exactly(number: &Bound<'_, PyAny>) -> Option<f64> {
    let value: f64 = match number.call_method0("__float__") {
        Ok(float) => float.extract().ok()?,
        Err(raised) if raised.is_instance_of::<PyOverflowError>(number.py()) => f64::INFINITY,
        Err(_) => return None,
    };
    let is_exact = !value.is_finite() || number.eq(value).unwrap_or(false);
    is_exact.then_some(value)
}
