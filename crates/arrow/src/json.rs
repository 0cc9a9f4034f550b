//! Converts Arrow values to JSON that midfold only parses and never writes out.
//!
//! Arrow gives every struct in a list all members, and fills those that the row lacked with null. Members that are null
//! are left out here, so that the row is as it was before. A member that the row had as null is lost by that, too.

use std::ops::Range;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float32Type, Float64Type};
use arrow_array::{Array, MapArray, downcast_integer_array};
use arrow_buffer::ArrowNativeType;
use arrow_schema::DataType;
use midfold_core::jsonstr;

use crate::columns::{ListColumn, TextColumn};

/// Appends the value at `at`. A value that JSON cannot express is `null`.
pub(crate) fn value(array: &dyn Array, at: usize, out: &mut Vec<u8>) {
    if array.is_null(at) {
        out.extend_from_slice(b"null");
        return;
    }
    if let Some(text) = TextColumn::of(array) {
        return jsonstr::encode_into(text.get(at).unwrap_or_default(), out);
    }
    if let Some(lists) = ListColumn::of(array) {
        return list(lists.values(), lists.get(at).unwrap_or_default(), out);
    }
    match array.data_type() {
        DataType::Struct(_) => object(array, at, out),
        DataType::Boolean => {
            let is = array.as_boolean().value(at);
            out.extend_from_slice(if is { b"true" } else { b"false" });
        }
        DataType::Float64 => float(array.as_primitive::<Float64Type>().value(at), out),
        DataType::Float32 => float(array.as_primitive::<Float32Type>().value(at).into(), out),
        DataType::FixedSizeList(_, _) => {
            let values = array.as_fixed_size_list().value(at);
            list(&values, 0..values.len(), out);
        }
        DataType::Map(_, _) => map(array.as_map(), at, out),
        DataType::Dictionary(_, _) => {
            let dictionary = array.as_any_dictionary();
            let keys = dictionary.keys();
            let key = downcast_integer_array! {
                keys => keys.value(at).as_usize(),
                _ => 0,
            };
            value(dictionary.values(), key, out);
        }
        _ => integer(array, at, out),
    }
}

/// Appends elements of `values` as a list.
pub(crate) fn list(values: &dyn Array, range: Range<usize>, out: &mut Vec<u8>) {
    out.push(b'[');
    let first = range.start;
    for at in range {
        if at > first {
            out.push(b',');
        }
        value(values, at, out);
    }
    out.push(b']');
}

fn object(array: &dyn Array, at: usize, out: &mut Vec<u8>) {
    let members = array.as_struct();
    out.push(b'{');
    let start = out.len();
    for (field, column) in members.fields().iter().zip(members.columns()) {
        // A column of the type null reports that it has no nulls.
        if column.is_valid(at) && *column.data_type() != DataType::Null {
            name(field.name(), start, out);
            value(column, at, out);
        }
    }
    out.push(b'}');
}

fn map(array: &MapArray, at: usize, out: &mut Vec<u8>) {
    let entries = array.value(at);
    out.push(b'{');
    let start = out.len();
    if let Some(keys) = TextColumn::of(entries.column(0)) {
        for entry in (0..entries.len()).filter(|&entry| entries.column(1).is_valid(entry)) {
            name(keys.get(entry).unwrap_or_default(), start, out);
            value(entries.column(1), entry, out);
        }
    }
    out.push(b'}');
}

/// Appends the name of a member, after a comma unless it is the first one.
fn name(name: &str, start: usize, out: &mut Vec<u8>) {
    if out.len() > start {
        out.push(b',');
    }
    jsonstr::encode_into(name, out);
    out.push(b':');
}

fn float(value: f64, out: &mut Vec<u8>) {
    match value.is_finite() {
        true => out.extend_from_slice(value.to_string().as_bytes()),
        false => out.extend_from_slice(b"null"),
    }
}

fn integer(array: &dyn Array, at: usize, out: &mut Vec<u8>) {
    downcast_integer_array! {
        array => out.extend_from_slice(array.value(at).to_string().as_bytes()),
        _ => out.extend_from_slice(b"null"),
    }
}
