//! Lines of values as `trec_eval` prints them, and sums in the order in which it adds.

use std::borrow::Cow;

use crate::number::aggregate::GEOMETRIC_FLOOR;
use crate::number::decimal::Decimal;
use crate::threads;

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

/// Fewer lines than this are not worth a thread.
const FEW_LINES: usize = 10_000;

/// The lines of some queries, in this order: name, query and value, with tabs between. `name` says what
/// a query is called.
pub fn write_lines<'a>(
    measures: &[Printed<'_>],
    queries: &[u32],
    name: impl Fn(usize) -> Cow<'a, [u8]> + Sync,
    threads: usize,
) -> Vec<Vec<u8>> {
    let starts: Vec<String> =
        measures.iter().map(|measure| format!("{:<22}\t", measure.name)).collect();
    let threads = if queries.len() * measures.len() < FEW_LINES { 1 } else { threads };
    let parts = queries.chunks(queries.len().div_ceil(threads.max(1)).max(1)).collect();
    threads::on_each(parts, |queries: &[u32]| {
        let mut out = Vec::new();
        for &query in queries {
            let id = name(query as usize);
            for (measure, start) in measures.iter().zip(starts.iter()) {
                out.extend_from_slice(start.as_bytes());
                out.extend_from_slice(&id);
                out.push(b'\t');
                write_value(&mut out, measure, query as usize);
                out.push(b'\n');
            }
        }
        out
    })
}

fn write_value(out: &mut Vec<u8>, measure: &Printed<'_>, query: usize) {
    let value = measure.columns[0][query];
    match measure.form {
        Form::Value if value.is_nan() && value.is_sign_negative() => {
            out.extend_from_slice(b"  -nan");
        }
        Form::Value if value.is_nan() => out.extend_from_slice(b"   nan"),
        Form::Value => write_decimals(out, value),
        Form::Count => out.extend_from_slice(format!("{value:.0}").as_bytes()),
        Form::Text => {
            out.push(b'\'');
            for column in &measure.columns {
                write_text(out, column[query]);
            }
            out.push(b'\'');
        }
    }
}

/// Writes a number with four decimals. It is multiplied where that can't change how it is rounded.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // as is checked
fn write_decimals(out: &mut Vec<u8>, value: f64) {
    let scaled = value * 10_000.0;
    let rest = scaled - scaled.floor();
    // Below 10^10, the product is off by a millionth at most.
    if value.is_sign_negative() || scaled >= 1e10 || (rest - 0.5).abs() < 1e-5 {
        out.extend_from_slice(format!("{value:6.4}").as_bytes());
        return;
    }
    let rounded = scaled as u64 + u64::from(rest > 0.5);
    out.extend_from_slice(Decimal::default().write((rounded / 10_000).cast_signed()));
    out.push(b'.');
    for unit in [1000, 100, 10, 1] {
        out.push(b'0' + (rounded / unit % 10) as u8);
    }
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // a whole number of six bytes
fn write_text(out: &mut Vec<u8>, value: f64) {
    let bytes = (value as u64).to_le_bytes();
    let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
    out.extend_from_slice(&bytes[..end]);
}

/// The sum of the values of some queries, one after the other.
pub fn add_in_order(values: &[f64], queries: &[u32]) -> f64 {
    queries.iter().fold(0.0, |sum, &query| sum + values[query as usize])
}

/// The sum of the logarithms of these values, one after the other, where none is below 0.00001.
pub fn add_logarithms(values: &[f64], queries: &[u32]) -> f64 {
    queries.iter().fold(0.0, |sum, &query| sum + values[query as usize].max(GEOMETRIC_FLOOR).ln())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn written(measures: &[Printed<'_>], queries: &[u32], threads: usize) -> String {
        let name = |query: usize| Cow::Owned(query.to_string().into_bytes());
        let parts = write_lines(measures, queries, name, threads);
        parts.iter().map(|part| std::str::from_utf8(part).unwrap()).collect()
    }

    proptest! {
        #[test]
        fn numbers_have_the_decimals_of_their_exact_value(
            value in prop_oneof![
                0.0..2.0,
                -1e3..1e12,
                (0u32..100_000).prop_map(|half| f64::from(half) / 32.0),
                (0u32..20_000).prop_map(|half| f64::from(half) * 0.000_05),
                any::<f64>().prop_filter("a number", |value| !value.is_nan()),
            ],
        ) {
            let mut out = Vec::new();
            write_decimals(&mut out, value);
            prop_assert_eq!(std::str::from_utf8(&out).unwrap(), format!("{value:6.4}"));
        }
    }

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
        let expected = "map                   \t0\t0.5000\n\
                        num_ret               \t0\t12\n\
                        relstring             \t0\t'01-.'\n";
        assert_eq!(written(&measures, &[0], 1), expected);
        let many = [1, 0].repeat(FEW_LINES);
        for threads in 2..4 {
            let both = written(&measures, &[1, 0], 1);
            assert_eq!(written(&measures, &many, threads), both.repeat(FEW_LINES));
        }
    }

    #[test]
    fn a_value_that_is_no_number_is_printed_with_its_sign() {
        let column = [f64::NAN.copysign(-1.0), f64::NAN.copysign(1.0)];
        let printed = [Printed { name: "map", form: Form::Value, columns: vec![&column[..]] }];
        let expected = format!("{0:<22}\t0\t  -nan\n{0:<22}\t1\t   nan\n", "map");
        assert_eq!(written(&printed, &[0, 1], 1), expected);
    }

    #[test]
    fn values_are_added_one_after_the_other() {
        let values = [0.1, 0.2, 0.3];
        assert_eq!(add_in_order(&values, &[2, 1, 0]).to_bits(), (0.3_f64 + 0.2 + 0.1).to_bits());
        assert_eq!(add_logarithms(&[0.0], &[0]).to_bits(), 0.000_01_f64.ln().to_bits());
    }
}
