//! Allocation of memory whose size depends on the input.
//!
//! The vectors of the standard library end the process when the system has no memory left. [`Vec`]
//! and [`vec!`](crate::memory::vec) have the same interface, but unwind with [`OutOfMemory`], which
//! [`guard`] turns into an error at the edge of the core. Every module of the core uses them: clippy
//! refuses the others, by `clippy.toml`.
//!
//! What stays small whatever the input, such as a message or a thread's handle, is allocated as usual.

#![allow(clippy::disallowed_types)] // what is inside is a vector of the standard library

use std::any::Any;
use std::borrow::Borrow;
use std::cmp::Ordering;
use std::hint;
use std::io;
use std::ops::{Deref, DerefMut, RangeBounds};
use std::panic::{self, AssertUnwindSafe};
use std::thread::{Builder, Scope, ScopedJoinHandle};
use std::vec::{Drain, IntoIter, Vec as StdVec};

use crate::error::{Error, Kind};

/// The payload with which the core unwinds when memory runs out.
#[derive(Clone, Copy, Debug)]
pub struct OutOfMemory;

impl OutOfMemory {
    /// The error that a caller sees.
    #[must_use]
    pub fn error() -> Error {
        Error::new(Kind::Memory, "memory", "not enough memory for this input")
            .hint("evaluate it in parts, or raise the memory limit of the process")
    }
}

/// Unwinds to the nearest [`guard`].
#[cold]
pub fn refuse() -> ! {
    panic::resume_unwind(Box::new(OutOfMemory))
}

/// What the system has to have left to start a thread: a stack, and as much again. Neither the standard
/// library nor the C library survives a refusal of what it allocates for a thread itself.
const THREAD: usize = 4 << 20;

/// How many of so many threads to use: one where memory is too short to start others.
#[must_use]
pub fn limit_threads(threads: usize) -> usize {
    if threads > 1 && has_room(THREAD) { threads } else { 1 }
}

/// Whether the system has so many bytes left.
fn has_room(bytes: usize) -> bool {
    let mut room = StdVec::<u8>::new();
    let has_room = room.try_reserve_exact(bytes).is_ok();
    // Else the compiler sees that the memory is not used, and does not ask for it.
    hint::black_box(room.as_ptr());
    has_room
}

/// Starts a thread, where the system allows another one.
pub fn spawn<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    work: impl FnOnce() -> T + Send + 'scope,
) -> Option<ScopedJoinHandle<'scope, T>> {
    has_room(THREAD).then(|| Builder::new().spawn_scoped(scope, work).ok())?
}

/// Runs `work`, and turns running out of memory within it into an error.
///
/// # Errors
/// What `work` returns, and [`OutOfMemory`].
pub fn guard<T, E: From<OutOfMemory>>(work: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
    // What `work` was changing is dropped or never looked at again.
    match panic::catch_unwind(AssertUnwindSafe(work)) {
        Ok(outcome) => outcome,
        Err(payload) => Err(E::from(expect_out_of_memory(payload))),
    }
}

fn expect_out_of_memory(payload: Box<dyn Any + Send>) -> OutOfMemory {
    match payload.downcast::<OutOfMemory>() {
        Ok(refused) => *refused,
        Err(panic) => panic::resume_unwind(panic),
    }
}

impl From<OutOfMemory> for Error {
    fn from(_: OutOfMemory) -> Self {
        OutOfMemory::error()
    }
}

impl From<OutOfMemory> for io::Error {
    fn from(_: OutOfMemory) -> Self {
        io::ErrorKind::OutOfMemory.into()
    }
}

/// A vector that unwinds with [`OutOfMemory`] where it cannot grow.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Vec<T>(StdVec<T>);

#[cold]
fn grow<T>(values: &mut StdVec<T>, additional: usize) {
    if values.try_reserve(additional).is_err() {
        refuse();
    }
}

impl<T> Vec<T> {
    /// An empty vector, which has no memory yet.
    #[must_use]
    pub const fn new() -> Self {
        Self(StdVec::new())
    }

    /// An empty vector with room for so many values.
    #[must_use]
    pub fn with_capacity(capacity: usize) -> Self {
        let mut made = Self::new();
        made.reserve_exact(capacity);
        made
    }

    /// Makes room for so many more values.
    #[inline]
    pub fn reserve(&mut self, additional: usize) {
        if additional > self.0.capacity() - self.0.len() {
            grow(&mut self.0, additional);
        }
    }

    /// Makes room for exactly so many more values.
    pub fn reserve_exact(&mut self, additional: usize) {
        if self.0.try_reserve_exact(additional).is_err() {
            refuse();
        }
    }

    /// Adds a value at the end.
    #[inline]
    pub fn push(&mut self, value: T) {
        if self.0.len() == self.0.capacity() {
            grow(&mut self.0, 1);
        }
        self.0.push(value);
    }

    /// Removes the last value.
    pub fn pop(&mut self) -> Option<T> {
        self.0.pop()
    }

    /// Removes all values.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Keeps the first so many values.
    pub fn truncate(&mut self, length: usize) {
        self.0.truncate(length);
    }

    /// Keeps the values that `is_kept` accepts.
    pub fn retain(&mut self, is_kept: impl FnMut(&T) -> bool) {
        self.0.retain(is_kept);
    }

    /// Removes a range of values, and gives them out.
    pub fn drain(&mut self, range: impl RangeBounds<usize>) -> Drain<'_, T> {
        self.0.drain(range)
    }

    /// Takes the vector of the standard library that is inside.
    #[must_use]
    pub fn into_std(self) -> StdVec<T> {
        self.0
    }
}

impl<T: Clone> Vec<T> {
    /// Makes it so long, new values being copies of one.
    pub fn resize(&mut self, length: usize, value: T) {
        self.reserve(length.saturating_sub(self.0.len()));
        self.0.resize(length, value);
    }

    /// Adds copies of values at the end.
    #[inline]
    pub fn extend_from_slice(&mut self, values: &[T]) {
        self.reserve(values.len());
        self.0.extend_from_slice(values);
    }
}

impl<T> Vec<T> {
    /// Removes values that are the same as the one before them.
    pub fn dedup_by(&mut self, is_same: impl FnMut(&mut T, &mut T) -> bool) {
        self.0.dedup_by(is_same);
    }
}

impl<T: PartialEq> Vec<T> {
    /// Removes values that equal the one before them.
    pub fn dedup(&mut self) {
        self.0.dedup();
    }
}

impl<T> Default for Vec<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Clone> Clone for Vec<T> {
    fn clone(&self) -> Self {
        copy(&self.0)
    }

    fn clone_from(&mut self, source: &Self) {
        self.clear();
        self.extend_from_slice(source);
    }
}

impl<T> Deref for Vec<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<T> DerefMut for Vec<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.0
    }
}

impl<T> AsRef<[T]> for Vec<T> {
    fn as_ref(&self) -> &[T] {
        &self.0
    }
}

impl<T> Borrow<[T]> for Vec<T> {
    fn borrow(&self) -> &[T] {
        &self.0
    }
}

impl<T> From<StdVec<T>> for Vec<T> {
    fn from(values: StdVec<T>) -> Self {
        Self(values)
    }
}

impl<T, const N: usize> From<[T; N]> for Vec<T> {
    fn from(values: [T; N]) -> Self {
        values.into_iter().collect()
    }
}

impl<T> Extend<T> for Vec<T> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, values: I) {
        let values = values.into_iter();
        let (least, most) = values.size_hint();
        self.reserve(least);
        if most == Some(least) {
            // There is room for all of them, so this does not allocate.
            self.0.extend(values);
        } else {
            values.for_each(|value| self.push(value));
        }
    }
}

impl<'a, T: Copy + 'a> Extend<&'a T> for Vec<T> {
    fn extend<I: IntoIterator<Item = &'a T>>(&mut self, values: I) {
        self.extend(values.into_iter().copied());
    }
}

impl<T> FromIterator<T> for Vec<T> {
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Self {
        let values = values.into_iter();
        let mut made = Self::with_capacity(values.size_hint().0);
        made.extend(values);
        made
    }
}

impl<T> IntoIterator for Vec<T> {
    type Item = T;
    type IntoIter = IntoIter<T>;

    fn into_iter(self) -> IntoIter<T> {
        self.0.into_iter()
    }
}

impl<'a, T> IntoIterator for &'a Vec<T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

impl<'a, T> IntoIterator for &'a mut Vec<T> {
    type Item = &'a mut T;
    type IntoIter = std::slice::IterMut<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter_mut()
    }
}

impl<T: PartialEq> PartialEq<StdVec<T>> for Vec<T> {
    fn eq(&self, other: &StdVec<T>) -> bool {
        self.0 == *other
    }
}

impl<T: PartialEq, const N: usize> PartialEq<[T; N]> for Vec<T> {
    fn eq(&self, other: &[T; N]) -> bool {
        self.0 == *other
    }
}

/// So many copies of a value.
#[must_use]
pub fn fill<T: Clone>(value: T, count: usize) -> Vec<T> {
    let mut made = Vec::with_capacity(count);
    made.resize(count, value);
    made
}

/// A copy of values.
#[must_use]
pub fn copy<T: Clone>(values: &[T]) -> Vec<T> {
    let mut made = Vec::with_capacity(values.len());
    made.extend_from_slice(values);
    made
}

/// An identifier as text, for people and for Python; bytes that are not UTF-8 are replaced.
#[must_use]
pub fn text(id: &[u8]) -> String {
    let read = String::from_utf8_lossy(id);
    let mut made = String::new();
    if made.try_reserve_exact(read.len()).is_err() {
        refuse();
    }
    made.push_str(&read);
    made
}

/// Some vectors end to end.
#[must_use]
pub fn concat<T: Copy>(parts: &[Vec<T>]) -> Vec<T> {
    let mut made = Vec::with_capacity(parts.iter().map(|part| part.len()).sum());
    for part in parts {
        made.extend_from_slice(part);
    }
    made
}

/// Sorts values, equal ones staying in their order. The standard library's stable sort allocates.
pub fn sort_by<T: Copy>(values: &mut [T], mut order: impl FnMut(&T, &T) -> Ordering) {
    let mut numbered: Vec<(T, usize)> = values.iter().copied().zip(0..).collect();
    numbered.sort_unstable_by(|one, other| order(&one.0, &other.0).then(one.1.cmp(&other.1)));
    for (value, (sorted, _)) in values.iter_mut().zip(numbered) {
        *value = sorted;
    }
}

/// As the macro of the standard library.
macro_rules! checked_vec {
    () => { $crate::memory::Vec::new() };
    ($value:expr; $count:expr) => { $crate::memory::fill($value, $count) };
    ($($value:expr),+ $(,)?) => { $crate::memory::Vec::from([$($value),+]) };
}

pub(crate) use checked_vec as vec;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::vec;
    use proptest::prelude::*;

    const TOO_MANY: usize = usize::MAX / 64;

    fn run_out(work: impl FnOnce()) -> Error {
        let refused = guard(|| -> Result<(), Error> {
            work();
            Ok(())
        });
        refused.expect_err("there is not so much memory")
    }

    #[test]
    fn what_cannot_be_allocated_is_an_error() {
        let of_iterator = || drop((0..TOO_MANY).collect::<Vec<usize>>());
        let by_room = || drop(Vec::<u64>::with_capacity(TOO_MANY));
        let by_value = || drop(vec![0u64; TOO_MANY]);
        let by_resize = || Vec::<u64>::new().resize(TOO_MANY, 0);
        for work in [of_iterator, by_room, by_value, by_resize] {
            assert_eq!(run_out(work).code(), "memory");
        }
    }

    #[test]
    fn other_panics_stay_panics() {
        let outcome =
            panic::catch_unwind(|| guard(|| -> Result<(), Error> { panic!("a mistake") }));
        assert_eq!(outcome.unwrap_err().downcast_ref::<&str>(), Some(&"a mistake"));
    }

    proptest! {
        #[test]
        fn sorts_as_a_stable_sort(keys in prop::collection::vec(0u8..4, 0..60)) {
            let mut values: Vec<(u8, usize)> = keys.into_iter().zip(0..).collect();
            let mut expected = values.clone().into_std();
            expected.sort_by_key(|value| value.0);
            sort_by(&mut values, |one, other| one.0.cmp(&other.0));
            prop_assert_eq!(values.into_std(), expected);
        }

        #[test]
        fn iterators_of_unknown_length_are_collected(values in prop::collection::vec(0u8..9, 0..60)) {
            let is_kept = |value: &u8| *value > 3;
            let found: Vec<u8> = values.iter().copied().filter(is_kept).collect();
            let expected: StdVec<u8> = values.iter().copied().filter(is_kept).collect();
            prop_assert_eq!(found.into_std(), expected);
        }
    }
}
