//! Any bytes are a Parquet file or a mistake, and checking them never panics. The copy of what was checked
//! says the same.

use rankscope::parquet::footer::Footer;
use rankscope::parquet::pages;

/// Reads some bytes.
pub fn check(data: &[u8]) {
    match Footer::read(&mut &data[..], data.len() as u64) {
        Ok(footer) => {
            let copied = &footer.copy[4..footer.copy.len() - 8];
            let again = Footer::parse(copied, footer.start).unwrap();
            assert_eq!(again.copy, footer.copy);
            let leaves: Vec<usize> = (0..footer.schema.leaves.len()).collect();
            assert_eq!(again.estimate(&leaves), footer.estimate(&leaves));
            if let Err(error) = pages::check(&footer, &leaves, &mut &data[..]) {
                assert!(!error.message().is_empty());
            }
        }
        Err(error) => assert!(!error.message().is_empty()),
    }
}
