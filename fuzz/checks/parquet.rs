//! Any bytes are a Parquet file or a mistake, and neither checking nor decoding them panics. The copy of
//! what was checked says the same.

use rankscope::parquet::footer::Footer;
use rankscope::parquet::pages;
use rankscope::parquet::rows::RowReader;
use rankscope::parquet::values::Role;

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
            for leaf in &footer.schema.leaves {
                let name = footer.schema.top(leaf).to_owned();
                for role in [Role::Ids, Role::Numbered, Role::Scores, Role::Grades] {
                    decode(&footer, &[(name.clone(), role)], data);
                }
            }
        }
        Err(error) => assert!(!error.message().is_empty()),
    }
}

/// Decodes a column, as far as that is possible.
fn decode(footer: &Footer, columns: &[(String, Role)], mut data: &[u8]) {
    let Some(mut reader) = RowReader::open(footer, columns, 1 << 20) else { return };
    while reader.read(&mut data, 1 << 10, false).is_ok_and(|frame| !frame[0].is_empty()) {}
}
