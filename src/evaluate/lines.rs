//! Lines of values as `trec_eval` prints them, and sums in the order in which it adds.

use std::io::{self, Write};

use crate::error::{Error, Kind, Result};
use crate::memory::Vec;
use crate::number::aggregate::GEOMETRIC_FLOOR;

/// How a value is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// With four decimals.
    Value,
    /// As a whole number.
    Count,
    /// As the characters that its bytes are, with those of the columns after it.
    Text,
}

/// A measure: what its lines begin with, and its columns of values by query.
pub struct Printed<'a> {
    /// Its name.
    pub name: &'a str,
    /// How its values are printed.
    pub form: Form,
    /// Its values by query: one column, or as many as a text needs.
    pub columns: Vec<&'a [f64]>,
}

/// Appends the lines of a query: name, query and value, with tabs between.
///
/// # Errors
/// Where memory runs out.
pub fn append_lines(
    out: &mut Vec<u8>,
    measures: &[Printed<'_>],
    query: usize,
    id: &[u8],
) -> Result<()> {
    let mut buffer = Buffer(out);
    for measure in measures {
        write_line(&mut buffer, measure, query, id).map_err(|error| {
            Error::new(Kind::Format, "output", format!("expected to write a line: {error}"))
        })?;
    }
    Ok(())
}

struct Buffer<'a>(&'a mut Vec<u8>);

impl Write for Buffer<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn write_line(
    out: &mut Buffer<'_>,
    measure: &Printed<'_>,
    query: usize,
    id: &[u8],
) -> io::Result<()> {
    write!(out, "{:<22}\t", measure.name)?;
    out.write_all(id)?;
    out.write_all(b"\t")?;
    let value = measure.columns[0][query];
    match measure.form {
        Form::Value if value.is_nan() && value.is_sign_negative() => out.write_all(b"  -nan\n"),
        Form::Value if value.is_nan() => out.write_all(b"   nan\n"),
        Form::Value => writeln!(out, "{value:6.4}"),
        Form::Count => writeln!(out, "{value:.0}"),
        Form::Text => {
            out.write_all(b"'")?;
            for column in &measure.columns {
                write_text(out, column[query])?;
            }
            out.write_all(b"'\n")
        }
    }
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // a whole number of six bytes
fn write_text(out: &mut Buffer<'_>, value: f64) -> io::Result<()> {
    let bytes = (value as u64).to_le_bytes();
    let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
    out.write_all(&bytes[..end])
}

/// The sum of the values of some queries, one after the other.
#[must_use]
pub fn add_in_order(values: &[f64], queries: &[u32]) -> f64 {
    queries.iter().fold(0.0, |sum, &query| sum + values[query as usize])
}

/// The sum of the logarithms of these values, one after the other, where none is below 0.00001.
#[must_use]
pub fn add_logarithms(values: &[f64], queries: &[u32]) -> f64 {
    queries.iter().fold(0.0, |sum, &query| sum + values[query as usize].max(GEOMETRIC_FLOOR).ln())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::vec;

    #[test]
    fn lines_are_those_of_trec_eval() {
        let packed = f64::from(u32::from_le_bytes(*b"01-."));
        let columns = [[0.5, -93.0], [12.0, 0.0], [packed, 0.0]];
        let printed =
            |name, form, at: usize| Printed { name, form, columns: vec![&columns[at][..]] };
        let measures = [
            printed("map", Form::Value, 0),
            printed("num_ret", Form::Count, 1),
            printed("relstring", Form::Text, 2),
        ];
        let mut out = Vec::new();
        append_lines(&mut out, &measures, 0, b"301").unwrap();
        let expected = "map                   \t301\t0.5000\n\
                        num_ret               \t301\t12\n\
                        relstring             \t301\t'01-.'\n";
        assert_eq!(std::str::from_utf8(&out).unwrap(), expected);
    }

    #[test]
    fn a_value_that_is_no_number_is_printed_with_its_sign() {
        let column = [f64::NAN.copysign(-1.0), f64::NAN.copysign(1.0)];
        let printed = [Printed { name: "map", form: Form::Value, columns: vec![&column[..]] }];
        let mut out = Vec::new();
        for query in 0..2 {
            append_lines(&mut out, &printed, query, b"q").unwrap();
        }
        let expected = format!("{0:<22}\tq\t  -nan\n{0:<22}\tq\t   nan\n", "map");
        assert_eq!(std::str::from_utf8(&out).unwrap(), expected);
    }

    #[test]
    fn values_are_added_one_after_the_other() {
        let values = [0.1, 0.2, 0.3];
        assert_eq!(add_in_order(&values, &[2, 1, 0]).to_bits(), (0.3_f64 + 0.2 + 0.1).to_bits());
        assert_eq!(add_logarithms(&[0.0], &[0]).to_bits(), 0.000_01_f64.ln().to_bits());
    }
}
