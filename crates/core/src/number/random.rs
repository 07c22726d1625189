//! Reproducible pseudorandom numbers.

/// `SplitMix64` (Steele, Lea and Flood, *Fast splittable pseudorandom number generators*, 2014).
#[derive(Clone, Debug)]
pub struct Random(u64);

const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

impl Random {
    /// A sequence of its own for each seed and number.
    pub fn new(seed: u64, number: u64) -> Self {
        let mut of_seed = Self(seed);
        Self(of_seed.draw() ^ Self(number).draw())
    }

    /// The one sequence of a seed, from a place on. Python's `scatter` gives the same numbers.
    pub fn from_place(seed: u64, place: u64) -> Self {
        let start = Self(seed.wrapping_mul(STEP)).draw();
        Self(start.wrapping_add(place.wrapping_mul(STEP)))
    }

    /// The next number.
    #[inline]
    pub fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(STEP);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `count`.
    #[inline]
    #[allow(clippy::cast_possible_truncation)] // below `count`
    pub fn below(&mut self, count: usize) -> usize {
        ((u128::from(self.draw()) * count as u128) >> 64) as usize
    }
}
