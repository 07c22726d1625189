//! Values of columns that tests try.

use proptest::prelude::*;

/// Integers, also those at the ends.
pub fn integers() -> impl Strategy<Value = i64> {
    prop_oneof![any::<i64>(), 0..3i64, Just(i64::MIN), Just(i64::MAX), Just(-1)]
}

/// Numbers of a column: none at all, those that 4 bytes hold, or any.
pub fn floats() -> impl Strategy<Value = BoxedStrategy<f64>> {
    let special = prop_oneof![
        Just(f64::NAN),
        Just(f64::INFINITY),
        Just(f64::NEG_INFINITY),
        Just(0.0),
        Just(-0.0),
        Just(1.0),
    ];
    let short = prop_oneof![special.clone(), any::<f32>().prop_map(f64::from)];
    let long = prop_oneof![special, any::<f64>(), Just(0.1), Just(f64::MAX), Just(5e-324)];
    prop_oneof![Just(Just(f64::NAN).boxed()), Just(short.boxed()), Just(long.boxed())]
}

/// The bits of a number, the same for all that are not one.
pub fn bits(number: f64) -> u64 {
    if number.is_nan() { u64::MAX } else { number.to_bits() }
}
