//! Numbers of Python and of `NumPy` that are known by their types alone, and read without running any
//! Python code.

#![allow(unsafe_code)] // it asks the C API

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyType};

/// Integers up to here are doubles.
const EXACT: i64 = 1 << 53;

const FLOATS: [&str; 3] = ["float64", "float32", "float16"];
const INTEGERS: [&str; 8] =
    ["int64", "int32", "int16", "int8", "uint64", "uint32", "uint16", "uint8"];

/// The types of `NumPy`'s numbers, of which a double holds each float exactly.
struct Known {
    floats: [Option<Py<PyType>>; FLOATS.len()],
    integers: [Option<Py<PyType>>; INTEGERS.len()],
}

static KNOWN: PyOnceLock<Known> = PyOnceLock::new();

/// Numbers that are read by their types.
#[derive(Clone, Copy)]
pub(super) struct Scalars(Option<&'static Known>);

impl Scalars {
    /// Those of Python, and of `NumPy` if anybody has imported it.
    pub(super) fn of(py: Python<'_>) -> Self {
        Self(KNOWN.get(py).or_else(|| {
            let known = find_types(py)?;
            Some(KNOWN.get_or_init(py, || known))
        }))
    }

    /// The double that a number equals, if its type is known; it may not be finite.
    ///
    /// # Safety
    /// It is an object, and the interpreter is held.
    #[allow(clippy::cast_precision_loss)] // it is below 2^53
    pub(super) unsafe fn double(self, object: *mut ffi::PyObject) -> Option<f64> {
        // SAFETY: as the caller promises; no type that is read here has a method in Python.
        unsafe {
            if ffi::PyFloat_CheckExact(object) != 0 || self.is_one(object, |known| &known.floats) {
                return Some(ffi::PyFloat_AsDouble(object));
            }
            let integer = self.integer(object)?;
            (-EXACT..=EXACT).contains(&integer).then_some(integer as f64)
        }
    }

    /// The integer that an object is, if its type is known and 64 bits hold it.
    ///
    /// # Safety
    /// As [`Scalars::double`].
    pub(super) unsafe fn integer(self, object: *mut ffi::PyObject) -> Option<i64> {
        let mut overflow = 0;
        // SAFETY: as above; what `PyNumber_Index` makes is given back.
        let integer = unsafe {
            if ffi::PyLong_CheckExact(object) != 0 {
                ffi::PyLong_AsLongLongAndOverflow(object, &raw mut overflow)
            } else if self.is_one(object, |known| &known.integers) {
                let made = ffi::PyNumber_Index(object);
                if made.is_null() {
                    ffi::PyErr_Clear();
                    return None;
                }
                let integer = ffi::PyLong_AsLongLongAndOverflow(made, &raw mut overflow);
                ffi::Py_DECREF(made);
                integer
            } else {
                return None;
            }
        };
        (overflow == 0).then_some(integer)
    }

    unsafe fn is_one<const N: usize>(
        self,
        object: *mut ffi::PyObject,
        of: impl Fn(&Known) -> &[Option<Py<PyType>>; N],
    ) -> bool {
        // SAFETY: it is an object, so it has a type.
        let kind = unsafe { ffi::Py_TYPE(object) }.cast::<ffi::PyObject>();
        self.0.is_some_and(|known| of(known).iter().flatten().any(|one| one.as_ptr() == kind))
    }
}

/// The types, if `NumPy` is imported. Those of another module by its name could run Python code, which
/// no type does that isn't made at run time.
fn find_types(py: Python<'_>) -> Option<Known> {
    let modules = py.import("sys").ok()?.getattr("modules").ok()?.cast_into::<PyDict>().ok()?;
    let numpy = modules.get_item("numpy").ok()??;
    let find = |name: &str| -> Option<Py<PyType>> {
        let kind = numpy.getattr(name).ok()?.cast_into::<PyType>().ok()?;
        // SAFETY: it is a type.
        let flags = unsafe { ffi::PyType_GetFlags(kind.as_type_ptr()) };
        (flags & ffi::Py_TPFLAGS_HEAPTYPE == 0).then(|| kind.unbind())
    };
    Some(Known { floats: FLOATS.map(find), integers: INTEGERS.map(find) })
}
