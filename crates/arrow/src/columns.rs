//! Columns of text and of lists, with small offsets, large ones or views. Dictionaries are no such columns.

use std::ops::Range;

use arrow_array::cast::AsArray;
use arrow_array::{
    Array, LargeListArray, LargeStringArray, ListArray, StringArray, StringViewArray,
};
use arrow_schema::DataType;

/// A column of text.
#[derive(Clone, Copy)]
pub(crate) enum TextColumn<'a> {
    Small(&'a StringArray),
    Large(&'a LargeStringArray),
    View(&'a StringViewArray),
}

impl<'a> TextColumn<'a> {
    pub fn of(array: &'a dyn Array) -> Option<Self> {
        match array.data_type() {
            DataType::Utf8 => array.as_string_opt().map(Self::Small),
            DataType::LargeUtf8 => array.as_string_opt().map(Self::Large),
            DataType::Utf8View => array.as_string_view_opt().map(Self::View),
            _ => None,
        }
    }

    pub fn get(self, at: usize) -> Option<&'a str> {
        match self {
            Self::Small(array) => array.is_valid(at).then(|| array.value(at)),
            Self::Large(array) => array.is_valid(at).then(|| array.value(at)),
            Self::View(array) => array.is_valid(at).then(|| array.value(at)),
        }
    }
}

/// A column of lists.
#[derive(Clone, Copy)]
pub(crate) enum ListColumn<'a> {
    Small(&'a ListArray),
    Large(&'a LargeListArray),
}

impl<'a> ListColumn<'a> {
    pub fn of(array: &'a dyn Array) -> Option<Self> {
        match array.data_type() {
            DataType::List(_) => array.as_list_opt().map(Self::Small),
            DataType::LargeList(_) => array.as_list_opt().map(Self::Large),
            _ => None,
        }
    }

    /// All elements of the column, even those that are in no list.
    pub fn values(self) -> &'a dyn Array {
        match self {
            Self::Small(list) => list.values(),
            Self::Large(list) => list.values(),
        }
    }

    /// The range of a list's elements. `None` where the list is null.
    pub fn get(self, at: usize) -> Option<Range<usize>> {
        fn range<T: Copy + TryInto<usize>>(offsets: &[T], at: usize) -> Range<usize> {
            let place = |at: usize| offsets[at].try_into().unwrap_or_default();
            place(at)..place(at + 1)
        }
        match self {
            Self::Small(list) => list.is_valid(at).then(|| range(list.value_offsets(), at)),
            Self::Large(list) => list.is_valid(at).then(|| range(list.value_offsets(), at)),
        }
    }
}
