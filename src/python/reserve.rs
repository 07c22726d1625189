//! The allocator of the extension: the system's, with a reserve for small allocations.
//!
//! Where the system has no memory left, the standard library ends the process. Large allocations are
//! asked for and refused (`memory.rs`); those that stay small whatever the input, such as the
//! message that says so, come from the reserve until the next large one gives up.

#![allow(unsafe_code)] // allocators hand out pointers

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::UnsafeCell;
use std::ptr::null_mut;
use std::sync::{Mutex, PoisonError};

use crate::memory::set_short;

/// The bytes of the reserve, which are not touched before they are needed.
const RESERVE: usize = 2 << 20;
/// Larger allocations are not taken from it.
const SMALL: usize = 256 << 10;

#[repr(align(64))]
struct Room(UnsafeCell<[u8; RESERVE]>);

// SAFETY: parts of it are handed out once each, under the lock of `USE`.
unsafe impl Sync for Room {}

static ROOM: Room = Room(UnsafeCell::new([0; RESERVE]));
static USE: Mutex<Use> = Mutex::new(Use { end: 0, count: 0 });

/// What of the reserve is in use.
struct Use {
    /// Everything from here on is free.
    end: usize,
    /// How many allocations are in it.
    count: usize,
}

struct Reserved;

#[global_allocator]
static ALLOCATOR: Reserved = Reserved;

fn start() -> *mut u8 {
    ROOM.0.get().cast()
}

fn is_reserved(pointer: *mut u8) -> bool {
    pointer.addr().wrapping_sub(start().addr()) < RESERVE
}

/// Takes memory from the reserve; null where it is large, or the reserve is used up.
#[cold]
fn take(layout: Layout) -> *mut u8 {
    if layout.size() > SMALL || layout.align() > align_of::<Room>() {
        return null_mut();
    }
    let mut used = USE.lock().unwrap_or_else(PoisonError::into_inner);
    let begin = used.end.next_multiple_of(layout.align());
    if begin + layout.size() > RESERVE {
        return null_mut();
    }
    used.end = begin + layout.size();
    used.count += 1;
    set_short(true);
    // SAFETY: it lies inside the room.
    unsafe { start().add(begin) }
}

/// Gives memory back to the reserve, which is whole again after the last.
#[cold]
fn put_back() {
    let mut used = USE.lock().unwrap_or_else(PoisonError::into_inner);
    used.count -= 1;
    if used.count == 0 {
        used.end = 0;
        set_short(false);
    }
}

// SAFETY: memory is the system's, or a part of the reserve that nobody else has; nothing unwinds.
unsafe impl GlobalAlloc for Reserved {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the contract of the system's allocator.
        let pointer = unsafe { System.alloc(layout) };
        if pointer.is_null() { take(layout) } else { pointer }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        let pointer = unsafe { System.alloc_zeroed(layout) };
        if !pointer.is_null() {
            return pointer;
        }
        let pointer = take(layout);
        if !pointer.is_null() {
            // SAFETY: it has this size.
            unsafe { pointer.write_bytes(0, layout.size()) };
        }
        pointer
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        if is_reserved(pointer) {
            put_back();
        } else {
            // SAFETY: as above.
            unsafe { System.dealloc(pointer, layout) };
        }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if !is_reserved(pointer) {
            // SAFETY: as above.
            let moved = unsafe { System.realloc(pointer, layout, size) };
            if !moved.is_null() || size > SMALL {
                return moved;
            }
        }
        // SAFETY: the new memory has the new size, and both have the smaller one of the two.
        unsafe {
            let moved = self.alloc(Layout::from_size_align_unchecked(size, layout.align()));
            if !moved.is_null() {
                moved.copy_from_nonoverlapping(pointer, size.min(layout.size()));
                self.dealloc(pointer, layout);
            }
            moved
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reserve_is_whole_again_after_the_last() {
        let layout = Layout::from_size_align(SMALL, 16).unwrap();
        assert!(take(Layout::from_size_align(SMALL + 1, 16).unwrap()).is_null());
        let taken: std::vec::Vec<_> =
            std::iter::repeat_with(|| take(layout)).take_while(|taken| !taken.is_null()).collect();
        assert_eq!(taken.len(), RESERVE / SMALL);
        for &taken in &taken {
            // SAFETY: it was taken above.
            unsafe { ALLOCATOR.dealloc(taken, layout) };
        }
        assert_eq!(take(layout), start());
        put_back();
    }
}
