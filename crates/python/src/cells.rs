//! Reads columns of numbers from Python without copying.
//!
//! They are read in blocks that stay close to the processor: to copy the grades and scores of 2,000 lists
//! of 1,000 documents first would take twice as long as to evaluate them (8 ms and 4 ms), and as much
//! memory again.

#![allow(unsafe_code)] // they are copied out of memory that Python owns

use std::fmt::Debug;
use std::marker::PhantomData;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicI32, AtomicI64, AtomicU8, AtomicU32, AtomicU64};

use pyo3::buffer::{Element, PyBuffer};
use pyo3::exceptions::PyBufferError;
use pyo3::prelude::*;
use rankscope_core::table::cells::Cells;

/// A number that is read whole from memory to which others may write.
pub(super) trait Shared: Element {
    /// The number, as somebody wrote it.
    ///
    /// # Safety
    /// There is one at this aligned place, which stays allocated during the call.
    unsafe fn load(from: *const Self) -> Self;
}

macro_rules! shared {
    ($($number:ty, $atomic:ty, $convert:expr;)*) => {$(
        impl Shared for $number {
            #[inline]
            unsafe fn load(from: *const Self) -> Self {
                // SAFETY: as the caller promises. Relaxed loads of at most 8 bytes may read memory that
                // is mapped for reading only.
                let shared = unsafe { <$atomic>::from_ptr(from.cast_mut().cast()) };
                $convert(shared.load(Relaxed))
            }
        }
    )*};
}

shared! {
    f64, AtomicU64, f64::from_bits;
    f32, AtomicU32, f32::from_bits;
    i64, AtomicI64, i64::from;
    i32, AtomicI32, i32::from;
    u64, AtomicU64, u64::from;
    u8, AtomicU8, u8::from;
}

/// The memory of a buffer, which lives as long as the view; others may write to it.
#[derive(Clone, Copy, Debug)]
pub(super) struct View<'a, T> {
    start: *const T,
    length: usize,
    buffer: PhantomData<&'a ()>,
}

// SAFETY: the buffer is held as long as the view lives. Its elements are only read, and only by atomic
// loads, which may coincide with writes: a plain read that does is undefined, whatever is made of it.
// `NumPy` and others write to an array without the lock of the interpreter, so that holding it, or
// copying while it is held, would not prevent that. Each load gives a number that somebody wrote, and any
// bytes are a number; what follows for a whole column is up to its reader, which can only read safely.
unsafe impl<T> Sync for View<'_, T> {}

impl<'a, T: Shared> View<'a, T> {
    /// All elements of a buffer, those of the last axis next to each other.
    pub(super) fn of(buffer: &'a PyBuffer<T>) -> PyResult<Self> {
        if !buffer.is_c_contiguous() {
            return Err(PyBufferError::new_err("expected elements one after another"));
        }
        let (start, length) = (buffer.buf_ptr().cast_const().cast(), buffer.item_count());
        Ok(Self { start, length, buffer: PhantomData })
    }

    /// Copies elements from one on.
    fn copy(self, start: usize, out: &mut [T]) {
        let is_inside = start <= self.length && out.len() <= self.length - start;
        assert!(is_inside, "reads inside the buffer");
        // SAFETY: these elements lie inside the buffer, as was asserted, and PyO3 has checked their
        // alignment.
        unsafe {
            let from = self.start.add(start);
            let (several, rest) = out.as_chunks_mut::<8>();
            let after = from.add(several.len() * 8);
            for (place, out) in several.iter_mut().enumerate() {
                for (at, out) in out.iter_mut().enumerate() {
                    *out = T::load(from.add(place * 8 + at));
                }
            }
            for (place, out) in rest.iter_mut().enumerate() {
                *out = T::load(after.add(place));
            }
        }
    }

    /// Converts elements from one on. They are copied first, so that several are converted at once.
    fn convert(self, start: usize, out: &mut [f64], to: impl Fn(&[T], &mut [f64]))
    where
        T: Default,
    {
        let mut copied = [T::default(); AT_ONCE];
        for (place, out) in (start..).step_by(AT_ONCE).zip(out.chunks_mut(AT_ONCE)) {
            let copied = &mut copied[..out.len()];
            self.copy(place, copied);
            to(copied, out);
        }
    }
}

impl View<'_, u8> {
    /// Copies elements from one on, eight at once where they are aligned.
    pub(super) fn copy_bytes(self, start: usize, out: &mut [u8]) {
        assert!(
            start <= self.length && out.len() <= self.length - start,
            "reads inside the buffer"
        );
        // SAFETY: as was asserted.
        let offset = unsafe { self.start.add(start) }.align_offset(align_of::<u64>());
        let (first, rest) = out.split_at_mut(offset.min(out.len()));
        self.copy(start, first);
        let (eights, last) = rest.as_chunks_mut::<8>();
        let words = start + first.len();
        for (place, out) in eights.iter_mut().enumerate() {
            // SAFETY: these eight elements lie inside the buffer, and the first of them is aligned.
            *out = unsafe { u64::load(self.start.add(words + place * 8).cast()) }.to_ne_bytes();
        }
        self.copy(words + eights.len() * 8, last);
    }

    /// How many elements there are.
    pub(super) fn len(self) -> usize {
        self.length
    }

    /// One element.
    pub(super) fn get(self, at: usize) -> u8 {
        let mut found = [0];
        self.copy(at, &mut found);
        found[0]
    }
}

impl<T: Shared + Debug> Cells<T> for View<'_, T> {
    fn len(&self) -> usize {
        self.length
    }

    fn read(&self, start: usize, out: &mut [T]) {
        self.copy(start, out);
    }
}

/// Numbers of one of the usual types.
#[derive(FromPyObject)]
pub(super) enum Numbers {
    #[pyo3(transparent)]
    F64(PyBuffer<f64>),
    #[pyo3(transparent)]
    F32(PyBuffer<f32>),
    #[pyo3(transparent)]
    I64(PyBuffer<i64>),
    #[pyo3(transparent)]
    I32(PyBuffer<i32>),
}

impl Numbers {
    pub(super) fn shape(&self) -> &[usize] {
        match self {
            Self::F64(buffer) => buffer.shape(),
            Self::F32(buffer) => buffer.shape(),
            Self::I64(buffer) => buffer.shape(),
            Self::I32(buffer) => buffer.shape(),
        }
    }

    pub(super) fn view(&self) -> PyResult<Doubles<'_>> {
        Ok(match self {
            Self::F64(buffer) => Doubles::F64(View::of(buffer)?),
            Self::F32(buffer) => Doubles::F32(View::of(buffer)?),
            Self::I64(buffer) => Doubles::I64(View::of(buffer)?),
            Self::I32(buffer) => Doubles::I32(View::of(buffer)?),
        })
    }
}

/// Numbers of whatever type, read as doubles.
#[derive(Clone, Copy, Debug)]
pub(super) enum Doubles<'a> {
    F64(View<'a, f64>),
    F32(View<'a, f32>),
    I64(View<'a, i64>),
    I32(View<'a, i32>),
}

/// Integers beyond this are not all doubles.
const LARGEST_EXACT: u64 = 1 << 53;
/// 2^52: the doubles from here on are whole, and differ by their last bits.
const WHOLE: f64 = 4_503_599_627_370_496.0;
/// So many elements are converted at once.
const AT_ONCE: usize = 64;

/// Converts numbers all of which are doubles.
fn widen<T: Copy + Into<f64>>(values: &[T], out: &mut [f64]) {
    for (out, &value) in out.iter_mut().zip(values) {
        *out = value.into();
    }
}

/// Converts integers; those that are no doubles become NaN.
#[allow(clippy::cast_precision_loss)] // as above
fn to_doubles(values: &[i64], out: &mut [f64]) {
    // There are instructions that convert several such integers at once.
    let are_small = values.iter().fold(0, |all, value| all | value.cast_unsigned()) >> 52 == 0;
    for (out, &value) in out.iter_mut().zip(values) {
        *out = if are_small {
            f64::from_bits(value.cast_unsigned() | WHOLE.to_bits()) - WHOLE
        } else if value.unsigned_abs() <= LARGEST_EXACT {
            value as f64
        } else {
            f64::NAN
        };
    }
}

impl Cells<f64> for Doubles<'_> {
    fn len(&self) -> usize {
        match self {
            Self::F64(view) => view.length,
            Self::F32(view) => view.length,
            Self::I64(view) => view.length,
            Self::I32(view) => view.length,
        }
    }

    fn read(&self, start: usize, out: &mut [f64]) {
        match self {
            Self::F64(view) => view.copy(start, out),
            Self::F32(view) => view.convert(start, out, widen),
            Self::I64(view) => view.convert(start, out, to_doubles),
            Self::I32(view) => view.convert(start, out, widen),
        }
    }
}
