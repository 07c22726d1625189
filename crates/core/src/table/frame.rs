//! Columns that own their values, and how they are written to files.

use crate::table::cells::Cells;

/// Values of some rows.
#[derive(Clone, Debug, PartialEq)]
pub enum Column {
    /// Integers.
    Ints(Vec<i64>),
    /// Numbers.
    Doubles(Vec<f64>),
    /// Texts end to end, and where each one ends.
    Texts {
        /// One more than there are texts.
        offsets: Vec<i64>,
        /// All texts.
        bytes: Vec<u8>,
    },
}

/// The columns of some rows, all of one length.
pub type Frame = Vec<Column>;

impl Column {
    /// A column of the same kind without rows.
    pub fn empty(&self) -> Self {
        match self {
            Self::Ints(_) => Self::Ints(Vec::new()),
            Self::Doubles(_) => Self::Doubles(Vec::new()),
            Self::Texts { .. } => Self::Texts { offsets: vec![0], bytes: Vec::new() },
        }
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        match self {
            Self::Ints(values) => values.len(),
            Self::Doubles(values) => values.len(),
            Self::Texts { offsets, .. } => offsets.len() - 1,
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The integers, which are the only ones that a column of rows has.
    pub fn ints(&self) -> &[i64] {
        if let Self::Ints(values) = self { values } else { &[] }
    }

    /// The numbers.
    pub fn doubles(&self) -> &[f64] {
        if let Self::Doubles(values) = self { values } else { &[] }
    }

    /// The bytes of memory that the values of some of the rows take.
    pub fn size_of(&self, rows: &[u32]) -> usize {
        match self {
            Self::Ints(_) | Self::Doubles(_) => 8 * rows.len(),
            Self::Texts { offsets, .. } => rows.iter().fold(8 * rows.len(), |size, &row| {
                let length = offsets[row as usize + 1] - offsets[row as usize];
                size + usize::try_from(length).unwrap_or(0)
            }),
        }
    }

    /// Appends rows of a column of the same kind.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // checked when it was made
    pub fn take(&mut self, from: &Self, rows: &[u32]) {
        match (self, from) {
            (Self::Ints(own), Self::Ints(from)) => {
                own.extend(rows.iter().map(|&row| from[row as usize]));
            }
            (Self::Doubles(own), Self::Doubles(from)) => {
                own.extend(rows.iter().map(|&row| from[row as usize]));
            }
            (Self::Texts { offsets: ends, bytes: own }, Self::Texts { offsets, bytes }) => {
                for &row in rows {
                    let (start, end) = (offsets[row as usize], offsets[row as usize + 1]);
                    own.extend_from_slice(&bytes[start as usize..end as usize]);
                    ends.push(own.len().cast_signed() as i64);
                }
            }
            _ => unreachable!("frames of one table have the same columns"),
        }
    }

    /// Appends a text to texts.
    pub fn push_text(&mut self, text: &[u8]) {
        if let Self::Texts { offsets, bytes } = self {
            bytes.extend_from_slice(text);
            offsets.push(bytes.len().cast_signed() as i64);
        }
    }

    /// Makes room for so many rows.
    pub fn reserve(&mut self, rows: usize) {
        match self {
            Self::Ints(values) => values.reserve_exact(rows),
            Self::Doubles(values) => values.reserve_exact(rows),
            Self::Texts { offsets, .. } => offsets.reserve_exact(rows),
        }
    }

    /// Forgets all rows, and keeps the memory.
    pub fn clear(&mut self) {
        match self {
            Self::Ints(values) => values.clear(),
            Self::Doubles(values) => values.clear(),
            Self::Texts { offsets, bytes } => {
                offsets.truncate(1);
                bytes.clear();
            }
        }
    }

    /// Appends the values in few bytes.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // only what fits is cut
    pub fn write_to(&self, out: &mut Vec<u8>) {
        match self {
            Self::Ints(values) => write_ints(values, out),
            Self::Doubles(values) => {
                let is_level = |value: f64| value.to_bits() == f64::from(value as u8).to_bits();
                let is_single = |value: f64| value.to_bits() == f64::from(value as f32).to_bits();
                if values.iter().all(|&value| value.is_nan() || is_level(value) && value < 255.0) {
                    out.push(1);
                    let level = |value: &f64| if value.is_nan() { 255 } else { *value as u8 };
                    out.extend(values.iter().map(level));
                } else if values.iter().all(|&value| value.is_nan() || is_single(value)) {
                    out.push(4);
                    for &value in values {
                        out.extend((value as f32).to_le_bytes());
                    }
                } else {
                    out.push(8);
                    for &value in values {
                        out.extend(value.to_le_bytes());
                    }
                }
            }
            Self::Texts { offsets, bytes } => {
                let lengths: Vec<i64> = offsets.windows(2).map(|ends| ends[1] - ends[0]).collect();
                write_ints(&lengths, out);
                out.extend((bytes.len() as u64).to_le_bytes());
                out.extend_from_slice(bytes);
            }
        }
    }

    /// Appends so many rows from what was written; nothing if that is damaged.
    #[allow(clippy::cast_possible_wrap)] // lengths of what is in memory
    pub fn read_from(&mut self, rows: usize, from: &mut &[u8]) -> Option<()> {
        match self {
            Self::Ints(values) => read_ints(rows, from, |value| values.push(value)),
            Self::Doubles(values) => {
                let width = usize::from(from.split_off_first().copied()?);
                let written = from.split_off(..width * rows)?;
                match width {
                    1 => values.extend(written.iter().map(|&level| match level {
                        255 => f64::NAN,
                        _ => f64::from(level),
                    })),
                    4 => {
                        let (singles, _) = written.as_chunks::<4>();
                        values.extend(
                            singles.iter().map(|&bytes| f64::from(f32::from_le_bytes(bytes))),
                        );
                    }
                    _ => {
                        let (doubles, _) = written.as_chunks::<8>();
                        values.extend(doubles.iter().map(|&bytes| f64::from_le_bytes(bytes)));
                    }
                }
                Some(())
            }
            Self::Texts { offsets, bytes } => {
                let mut end = bytes.len() as i64;
                read_ints(rows, from, |length| {
                    end += length;
                    offsets.push(end);
                })?;
                let length = usize::try_from(read_u64(from)?).ok()?;
                bytes.extend_from_slice(from.split_off(..length)?);
                (bytes.len() as i64 == end).then_some(())
            }
        }
    }
}

fn read_u64(from: &mut &[u8]) -> Option<u64> {
    Some(u64::from_le_bytes(*from.split_off(..8)?.first_chunk()?))
}

/// Appends integers by how far each is from the least one, or from the one before it if they ascend.
#[allow(clippy::cast_possible_truncation)] // the width is that of the largest
fn write_ints(values: &[i64], out: &mut Vec<u8>) {
    let ascends = values.is_sorted();
    let base = values.iter().copied().min().unwrap_or(0);
    let mut last = base;
    let mut far = |value: i64| {
        let far = value.wrapping_sub(last).cast_unsigned();
        last = if ascends { value } else { base };
        far
    };
    let most = values.iter().map(|&value| far(value)).max().unwrap_or(0);
    let width = (8 - most.leading_zeros() as usize / 8).next_power_of_two().clamp(1, 8);
    last = base;
    let mut far = |value: i64| {
        let far = value.wrapping_sub(last).cast_unsigned();
        last = if ascends { value } else { base };
        far
    };
    out.extend([u8::from(ascends), u8::try_from(width).unwrap_or(8)]);
    out.extend(base.to_le_bytes());
    out.reserve(width * values.len());
    match width {
        1 => out.extend(values.iter().map(|&value| far(value) as u8)),
        2 => values.iter().for_each(|&value| out.extend((far(value) as u16).to_le_bytes())),
        4 => values.iter().for_each(|&value| out.extend((far(value) as u32).to_le_bytes())),
        _ => values.iter().for_each(|&value| out.extend(far(value).to_le_bytes())),
    }
}

fn read_ints(rows: usize, from: &mut &[u8], mut each: impl FnMut(i64)) -> Option<()> {
    let &[ascends, width] = from.split_off(..2)?.first_chunk()?;
    let mut last = read_u64(from)?.cast_signed();
    let written = from.split_off(..usize::from(width) * rows)?;
    let mut each = |far: u64| {
        let value = last.wrapping_add(far.cast_signed());
        if ascends == 1 {
            last = value;
        }
        each(value);
    };
    match width {
        1 => written.iter().for_each(|&far| each(far.into())),
        2 => written.as_chunks().0.iter().for_each(|&far| each(u16::from_le_bytes(far).into())),
        4 => written.as_chunks().0.iter().for_each(|&far| each(u32::from_le_bytes(far).into())),
        _ => written.as_chunks().0.iter().for_each(|&far| each(u64::from_le_bytes(far))),
    }
    Some(())
}
