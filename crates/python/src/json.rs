//! Writes Python objects as JSON bytes, as `json.dumps(…, ensure_ascii=False, allow_nan=False, separators=(",", ":"))`
//! does, except for the escapes of two control characters. Values are not converted: a key that is not a string is an
//! error. Errors name the place of the wrong value.

use std::borrow::Cow;
use std::fmt::Write;

use midfold::core::jsonstr;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};

use crate::errors::Failure;

/// Levels of lists and dicts. Python's own writer gives up at about twice as many.
const DEEPEST: usize = 500;

/// What cannot be written. The path is gathered on the way out.
struct JsonFlaw {
    text: String,
    hint: &'static str,
    path: Vec<String>,
}

impl JsonFlaw {
    fn new(text: impl Into<String>, hint: &'static str) -> Self {
        Self { text: text.into(), hint, path: Vec::new() }
    }

    fn at(mut self, step: String) -> Self {
        self.path.push(step);
        self
    }
}

/// Appends `value` to `out`. `place` names it in an error: `messages[3]`.
pub fn write(
    value: &Bound<'_, PyAny>,
    out: &mut Vec<u8>,
    place: impl FnOnce() -> String,
) -> PyResult<()> {
    any(value, out, DEEPEST).map_err(|flaw| {
        let mut path = place();
        flaw.path.iter().rev().for_each(|step| path.push_str(step));
        Failure::input(format!("{path}: {}", flaw.text)).hint(flaw.hint).into()
    })
}

/// The characters of a text. `place` names it in an error.
pub fn text<'a>(text: &'a Bound<'_, PyString>, place: &str) -> PyResult<Cow<'a, str>> {
    utf8(text)
        .map_err(|flaw| Failure::input(format!("{place}: {}", flaw.text)).hint(flaw.hint).into())
}

/// As [`write`], on its own.
pub fn bytes(value: &Bound<'_, PyAny>, place: &str) -> PyResult<Vec<u8>> {
    let mut out = Vec::new();
    write(value, &mut out, || place.to_owned())?;
    Ok(out)
}

fn any(value: &Bound<'_, PyAny>, out: &mut Vec<u8>, levels: usize) -> Result<(), JsonFlaw> {
    if let Ok(text) = value.cast::<PyString>() {
        return string(text, out);
    }
    if let Ok(dict) = value.cast::<PyDict>() {
        return object(dict, out, levels);
    }
    if let Ok(list) = value.cast::<PyList>() {
        return array(list.iter(), out, levels);
    }
    if let Ok(tuple) = value.cast::<PyTuple>() {
        return array(tuple.iter(), out, levels);
    }
    if value.is_none() {
        out.extend_from_slice(b"null");
        return Ok(());
    }
    number(value, out)
}

fn number(value: &Bound<'_, PyAny>, out: &mut Vec<u8>) -> Result<(), JsonFlaw> {
    // Before the test for `int`, because a bool of Python is one.
    if let Ok(flag) = value.cast::<PyBool>() {
        out.extend_from_slice(if flag.is_true() { b"true" } else { b"false" });
        return Ok(());
    }
    if let Ok(number) = value.cast::<PyFloat>() {
        if !number.value().is_finite() {
            let hint = "JSON has no NaN and no infinity: write null, or a number";
            return Err(JsonFlaw::new(format!("{} is not JSON", number.value()), hint));
        }
        // As Python writes it, so that the bytes equal those of `json.dumps`.
        return plain::<PyFloat>(value, out);
    }
    if value.is_instance_of::<PyInt>() {
        return match value.extract::<i64>() {
            Ok(small) => {
                out.extend_from_slice(small.to_string().as_bytes());
                Ok(())
            }
            // Python's integers have no bound, and JSON does not limit them either.
            Err(_) => plain::<PyInt>(value, out),
        };
    }
    let name =
        value.get_type().name().map_or_else(|_| "object".to_owned(), |name| name.to_string());
    let hint = match value.hasattr("model_dump") {
        Ok(true) => "pass `.model_dump(exclude_none=True)` of it",
        _ => "messages are made of dict, list, str, int, float, bool and None",
    };
    Err(JsonFlaw::new(format!("a value of type `{name}` is not JSON"), hint))
}

/// A number as its own type writes it, whatever a subclass calls itself.
fn plain<T: pyo3::PyTypeInfo>(value: &Bound<'_, PyAny>, out: &mut Vec<u8>) -> Result<(), JsonFlaw> {
    let written = value.py().get_type::<T>().call_method1("__repr__", (value,));
    match written.and_then(|text| text.extract::<String>()) {
        Ok(text) => out.extend_from_slice(text.as_bytes()),
        Err(error) => {
            return Err(JsonFlaw::new(error.to_string(), "write such a number as a string"));
        }
    }
    Ok(())
}

fn string(text: &Bound<'_, PyString>, out: &mut Vec<u8>) -> Result<(), JsonFlaw> {
    jsonstr::encode_into(&utf8(text)?, out);
    Ok(())
}

fn utf8<'a>(text: &'a Bound<'_, PyString>) -> Result<Cow<'a, str>, JsonFlaw> {
    text.to_cow().map_err(|_| {
        JsonFlaw::new(
            "the text holds half of a surrogate pair, which no UTF-8 text has",
            "repair it with text.encode('utf-16', 'surrogatepass').decode('utf-16', 'replace')",
        )
    })
}

fn object(dict: &Bound<'_, PyDict>, out: &mut Vec<u8>, levels: usize) -> Result<(), JsonFlaw> {
    let levels = deeper(levels)?;
    out.push(b'{');
    let mut first = true;
    for (key, value) in dict.iter() {
        if !std::mem::take(&mut first) {
            out.push(b',');
        }
        let Ok(name) = key.cast::<PyString>() else {
            let complaint = format!("a key is {}, not a string", shown(&key));
            return Err(JsonFlaw::new(
                complaint,
                "keys of JSON objects are strings: convert them first",
            ));
        };
        string(name, out).map_err(|flaw| flaw.at(format!("[{}]", shown(&key))))?;
        out.push(b':');
        any(&value, out, levels).map_err(|flaw| flaw.at(format!("[{}]", shown(&key))))?;
    }
    out.push(b'}');
    Ok(())
}

fn array<'py>(
    values: impl Iterator<Item = Bound<'py, PyAny>>,
    out: &mut Vec<u8>,
    levels: usize,
) -> Result<(), JsonFlaw> {
    let levels = deeper(levels)?;
    out.push(b'[');
    for (at, value) in values.enumerate() {
        if at > 0 {
            out.push(b',');
        }
        any(&value, out, levels).map_err(|flaw| flaw.at(format!("[{at}]")))?;
    }
    out.push(b']');
    Ok(())
}

fn deeper(levels: usize) -> Result<usize, JsonFlaw> {
    let hint = "does a value hold itself?";
    levels.checked_sub(1).ok_or_else(|| JsonFlaw::new(format!("more than {DEEPEST} levels"), hint))
}

/// A key in a message: short, and never an exception of its own.
fn shown(key: &Bound<'_, PyAny>) -> String {
    let text = key.repr().and_then(|text| text.extract::<String>());
    let text = text.unwrap_or_else(|_| "?".to_owned());
    let mut short = String::new();
    for c in text.chars().take(60) {
        let _ = short.write_char(c);
    }
    short
}
