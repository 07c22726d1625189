//! Any bytes are qrels or a mistake, and reading them never panics. What is read is consistent.

use rankscope_core::policy::Duplicates;
use rankscope_core::qrels::judgments::Judgments;
use rankscope_core::text::source::{Encoding, Input, Origin};

/// Reads some bytes.
pub fn check(data: &[u8]) {
    let input = Input { origin: Origin::Bytes(data.into()), encoding: Encoding::Utf8 };
    match Judgments::read(&input, Duplicates::Error, &mut |_| Ok(())) {
        Ok(judgments) => {
            let axis = judgments.axis();
            let mut room = Vec::new();
            for (query, id) in axis.names().enumerate() {
                assert_eq!(judgments.find_query(&id), Some(query));
                let ideal = axis.ideal(query, &mut room);
                assert!(ideal.is_sorted_by(|above, below| above >= below));
                assert!(ideal.iter().all(|grade| grade.is_finite()));
            }
            let max = Judgments::read(&input, Duplicates::Max, &mut |_| Ok(())).unwrap();
            assert_eq!(max.axis().all_ideals(), axis.all_ideals());
        }
        Err(error) => assert!(!error.message().is_empty()),
    }
}
