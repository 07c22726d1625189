//! Keys under which events are found, whatever the length of their ids.

use super::digest::first;
use blake2b_simd::Params;

/// The key of an id in a project: 16 bytes of `BLAKE2b` as two numbers.
pub fn key(project: i64, text: &[u8]) -> (i64, i64) {
    hash(project, [text, b""])
}

/// Another key of an id. No id contains NUL, so that it is the key of no other id.
pub fn other_key(project: i64, text: &[u8]) -> (i64, i64) {
    hash(project, [text, b"\0"])
}

fn hash(project: i64, parts: [&[u8]; 2]) -> (i64, i64) {
    let mut hash = Params::new().hash_length(16).to_state();
    hash.update(&project.to_le_bytes());
    for part in parts {
        hash.update(part);
    }
    let digest = i128::from_le_bytes(first(hash.finalize().as_bytes()));
    #[allow(clippy::cast_possible_truncation)] // one half after the other
    (digest as i64, (digest >> 64) as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `hashlib.blake2b((7).to_bytes(8, "little") + text, digest_size=16)` of Python, with these texts.
    #[test]
    fn keys_are_the_halves_of_blake2b() {
        assert_eq!(
            key(7, "größe".as_bytes()),
            (-7_704_785_408_296_858_601, -1_107_985_693_968_409_099)
        );
        assert_eq!(
            other_key(7, "größe".as_bytes()),
            (743_220_212_381_945_224, 8_524_370_723_458_637_354)
        );
    }
}
