//! Splits rows and queries among threads, and runs work on them.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};
use std::thread::{self, Builder, Scope, ScopedJoinHandle};

use crate::watch::Watch;

/// Fewer rows in memory than this are not worth a thread.
pub const FEW_ROWS: usize = 100_000;

/// Fewer rows than these are not worth a thread even where each takes long.
const FEW_SLOW_ROWS: usize = 2_000;

/// Cuts queries, whose rows have these offsets, into at most `parts` runs of about as many rows.
pub fn cut(offsets: &[usize], parts: usize) -> Vec<Range<usize>> {
    cut_from(FEW_ROWS, offsets, parts)
}

/// Cuts queries as [`cut`] does, where the work on each row takes long.
pub fn cut_slow(offsets: &[usize], parts: usize) -> Vec<Range<usize>> {
    cut_from(FEW_SLOW_ROWS, offsets, parts)
}

fn cut_from(few: usize, offsets: &[usize], parts: usize) -> Vec<Range<usize>> {
    let queries = offsets.len() - 1;
    let rows = offsets[queries] - offsets[0];
    let parts = if rows < few { 1 } else { parts.clamp(1, queries.max(1)) };
    let mut ranges = Vec::with_capacity(parts);
    let mut start = 0;
    for part in 1..=parts {
        let wanted = offsets[0] + rows / parts * part;
        let end = if part == parts {
            queries
        } else {
            offsets.partition_point(|&offset| offset < wanted).clamp(start, queries)
        };
        ranges.push(start..end);
        start = end;
    }
    ranges
}

/// Cuts rows into at most `parts` runs of about the same length.
pub fn cut_rows(rows: usize, parts: usize) -> Vec<Range<usize>> {
    let parts = if rows < FEW_ROWS { 1 } else { parts.max(1) };
    (0..parts).map(|part| rows * part / parts..rows * (part + 1) / parts).collect()
}

/// Cuts a column into runs of rows that follow one another.
pub fn split_rows<'a, T>(mut column: &'a mut [T], ranges: &[Range<usize>]) -> Vec<&'a mut [T]> {
    let mut parts = Vec::with_capacity(ranges.len());
    for range in ranges {
        let (part, rest) = column.split_at_mut(range.len());
        parts.push(part);
        column = rest;
    }
    parts
}

/// Cuts a column into the rows of adjacent runs of queries.
pub fn split<'a, T>(
    mut column: &'a mut [T],
    ranges: &[Range<usize>],
    offsets: &[usize],
) -> Vec<&'a mut [T]> {
    let mut parts = Vec::with_capacity(ranges.len());
    for range in ranges {
        let rows = offsets[range.end] - offsets[range.start];
        let (part, rest) = column.split_at_mut(rows.min(column.len()));
        parts.push(part);
        column = rest;
    }
    parts
}

/// Starts a thread, where the system allows another one.
pub fn spawn<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    work: impl FnOnce() -> T + Send + 'scope,
) -> Option<ScopedJoinHandle<'scope, T>> {
    Builder::new().spawn_scoped(scope, work).ok()
}

/// Waits for a thread, and unwinds where it did.
pub fn join<T>(thread: ScopedJoinHandle<'_, T>) -> T {
    thread.join().unwrap_or_else(|payload| std::panic::resume_unwind(payload))
}

/// Does the same work on each part, on the calling thread and on others beside it: as many as the
/// system allows. Returns what came of them in order.
pub fn on_each<P: Send, T: Send>(parts: Vec<P>, work: impl Fn(P) -> T + Sync) -> Vec<T> {
    let threads = parts.len();
    if threads < 2 {
        return parts.into_iter().map(work).collect();
    }
    let mut outcomes: Vec<Option<T>> = parts.iter().map(|_| None).collect();
    let queue = Mutex::new(outcomes.iter_mut().zip(parts));
    let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).next();
    let take = || {
        while let Some((outcome, part)) = next() {
            *outcome = Some(work(part));
        }
    };
    thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map_while(|_| spawn(scope, take)).collect();
        take();
        others.into_iter().for_each(join);
    });
    drop(queue);
    outcomes.into_iter().flatten().collect()
}

/// Runs the same work on the calling thread, which alone watches, and on others beside it: as many as
/// the system allows.
pub fn on_threads<T: Send>(
    threads: usize,
    watch: Watch<'_>,
    work: impl Fn(Watch<'_>) -> T + Sync,
) -> Vec<T> {
    if threads < 2 {
        return vec![work(watch)];
    }
    let work = &work;
    thread::scope(|scope| {
        let others: Vec<_> =
            (1..threads).map_while(|_| spawn(scope, move || work(&mut |_| Ok(())))).collect();
        let mut outcomes = vec![work(watch)];
        outcomes.extend(others.into_iter().map(join));
        outcomes
    })
}

/// Does two things, at once where there is more than one thread.
pub fn both<A, B: Send>(
    threads: usize,
    one: impl FnOnce() -> A,
    other: impl FnOnce() -> B + Send,
) -> (A, B) {
    if threads < 2 {
        return (one(), other());
    }
    let other = Mutex::new(Some(other));
    let take = || {
        let other = other.lock().unwrap_or_else(PoisonError::into_inner).take();
        other.map(|other| other())
    };
    thread::scope(|scope| {
        let thread = spawn(scope, take);
        let one = one();
        // Where no thread was started, the other thing is still to be done.
        match thread.and_then(join).or_else(take) {
            Some(other) => (one, other),
            None => unreachable!("it is done here or there"),
        }
    })
}

/// Closes the gaps after parts of a column of which only the first so many are used.
pub fn close_gaps<T: Copy>(column: &mut Vec<T>, lengths: &[usize], used: &[usize]) {
    let (mut from, mut to) = (0, 0);
    for (&length, &used) in lengths.iter().zip(used) {
        if from != to {
            column.copy_within(from..from + used, to);
        }
        from += length;
        to += used;
    }
    column.truncate(to);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn ranges_follow_one_another_and_cover_all(
            sizes in prop::collection::vec(0usize..90_000, 1..12),
            parts in 1usize..9,
        ) {
            let mut offsets = vec![0];
            for size in &sizes {
                offsets.push(offsets.last().unwrap() + size);
            }
            let ranges = cut(&offsets, parts);
            prop_assert!(ranges.len() <= parts);
            prop_assert_eq!(ranges[0].start, 0);
            prop_assert_eq!(ranges.last().unwrap().end, sizes.len());
            prop_assert!(ranges.windows(2).all(|pair| pair[0].end == pair[1].start));
            let mut column: Vec<usize> = (0..*offsets.last().unwrap()).collect();
            let whole = column.clone();
            prop_assert_eq!(split(&mut column, &ranges, &offsets).concat(), whole);
        }

        #[test]
        fn gaps_close(parts in prop::collection::vec((0usize..5, 0usize..5), 1..8)) {
            let lengths: Vec<usize> = parts.iter().map(|(used, rest)| used + rest).collect();
            let used: Vec<usize> = parts.iter().map(|part| part.0).collect();
            let mut column: Vec<i32> = Vec::new();
            let mut expected = Vec::new();
            for (&length, &used) in lengths.iter().zip(&used) {
                expected.extend((0..used).map(|at| i32::try_from(at).unwrap()));
                column.extend((0..used).map(|at| i32::try_from(at).unwrap()));
                column.resize(column.len() + length - used, -1);
            }
            close_gaps(&mut column, &lengths, &used);
            prop_assert_eq!(column, expected);
        }
    }
}
