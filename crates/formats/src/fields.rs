//! The members of one object, found once and then looked up by name.

use std::borrow::Cow;
use std::ops::Range;

use midfold_core::jsonstr;
use smallvec::SmallVec;

use crate::scan::{self, Member};
use crate::spelling;

/// The members of an object in a larger text. Any other value has none.
pub(crate) struct ObjectFields<'a> {
    bytes: &'a [u8],
    members: SmallVec<[Member; 16]>,
    /// Whether a name finds a member in either spelling of Google's API.
    is_either: bool,
}

impl<'a> ObjectFields<'a> {
    pub(crate) fn of(bytes: &'a [u8], range: Range<usize>) -> Self {
        Self::of_members(bytes, scan::members(bytes, range).collect())
    }

    /// The members of an object that a caller has already found.
    pub(crate) fn of_members(bytes: &'a [u8], members: SmallVec<[Member; 16]>) -> Self {
        Self { bytes, members, is_either: false }
    }

    /// The members of an object that a caller has already found, as a slice.
    pub(crate) fn known(bytes: &'a [u8], members: &[Member]) -> Self {
        Self::of_members(bytes, members.iter().cloned().collect())
    }

    /// The same members, which a name in Google's first spelling finds in either one. So do the members inside them.
    pub(crate) fn in_either_spelling(self) -> Self {
        Self { is_either: true, ..self }
    }

    fn find(&self, name: &str) -> Option<&Member> {
        let is = |m: &&Member| {
            m.is(self.bytes, name) || self.is_either && spelling::camel(&self.key(m)) == name
        };
        self.members.iter().rev().find(is)
    }

    fn key(&self, member: &Member) -> Cow<'a, str> {
        jsonstr::decode(self.bytes.get(member.key.clone()).unwrap_or_default())
    }

    /// The key of `name` as it is written. `None` where there is no such member.
    pub(crate) fn written(&self, name: &str) -> Option<Cow<'a, str>> {
        self.find(name).map(|member| self.key(member))
    }

    /// The range of the value of `name`. Where the key is there twice, the last one counts.
    pub(crate) fn get(&self, name: &str) -> Option<Range<usize>> {
        self.find(name).map(|m| m.value.clone())
    }

    /// A copy of these members.
    pub(crate) fn same(&self) -> Self {
        Self { bytes: self.bytes, members: self.members.clone(), is_either: self.is_either }
    }

    /// The text in which the ranges are.
    pub(crate) fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// The bytes of the value of `name`.
    pub(crate) fn raw(&self, name: &str) -> Option<&'a [u8]> {
        self.bytes.get(self.get(name)?)
    }

    /// The range of the value, if it starts with the byte `first`: `b'['`, `b'{'` or `b'"'`.
    fn opening(&self, name: &str, first: u8) -> Option<Range<usize>> {
        self.get(name).filter(|at| self.bytes.get(at.start) == Some(&first))
    }

    pub(crate) fn array(&self, name: &str) -> Option<Range<usize>> {
        self.opening(name, b'[')
    }

    /// The elements of the list called `name`. Empty where the value is no list.
    pub(crate) fn list(&self, name: &str) -> impl Iterator<Item = Range<usize>> + use<'a> {
        scan::elements(self.bytes, self.array(name).unwrap_or(0..0))
    }

    /// The elements of the list called `name`, each with its members.
    pub(crate) fn objects(
        &self,
        name: &str,
    ) -> impl Iterator<Item = (Range<usize>, Self)> + use<'a> {
        let bytes = self.bytes;
        self.list(name).map(move |at| (at.clone(), Self::of(bytes, at)))
    }

    pub(crate) fn string(&self, name: &str) -> Option<Range<usize>> {
        self.opening(name, b'"')
    }

    pub(crate) fn object(&self, name: &str) -> Option<Range<usize>> {
        self.opening(name, b'{')
    }

    /// The members of the object called `name`. Empty where the value is no object.
    pub(crate) fn inner(&self, name: &str) -> Self {
        let inner = Self::of(self.bytes, self.object(name).unwrap_or(0..0));
        Self { is_either: self.is_either, ..inner }
    }

    /// What `read` finds at the end of a path of members with dots between them, in the object that holds the last one.
    pub(crate) fn at_path<T>(
        &self,
        path: &str,
        read: impl Fn(&Self, &str) -> Option<T>,
    ) -> Option<T> {
        match path.split_once('.') {
            Some((name, rest)) => self.inner(name).at_path(rest, read),
            None => read(self, path),
        }
    }

    /// The decoded string called `name`. `None` where the value is no string.
    pub(crate) fn text(&self, name: &str) -> Option<Cow<'a, str>> {
        Some(jsonstr::decode(self.bytes.get(self.string(name)?)?))
    }

    /// The string called `name`, or the number as its digits.
    pub(crate) fn label(&self, name: &str) -> Option<String> {
        let raw = self.raw(name)?;
        match raw.first()? {
            b'"' => Some(jsonstr::decode(raw).into_owned()),
            b'-' | b'0'..=b'9' => Some(String::from_utf8_lossy(raw).into_owned()),
            _ => None,
        }
    }

    pub(crate) fn is(&self, name: &str, value: &str) -> bool {
        self.text(name).is_some_and(|text| text == value)
    }

    pub(crate) fn is_true(&self, name: &str) -> bool {
        self.raw(name) == Some(b"true")
    }

    /// The whole number called `name`. `None` for any other value.
    pub(crate) fn count(&self, name: &str) -> Option<u64> {
        std::str::from_utf8(self.raw(name)?).ok()?.parse().ok()
    }

    /// The whole number called `name`, or 0.
    pub(crate) fn number(&self, name: &str) -> u64 {
        self.count(name).unwrap_or(0)
    }

    pub(crate) fn len(&self) -> usize {
        self.members.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// The keys, decoded.
    pub(crate) fn keys(&self) -> impl Iterator<Item = Cow<'a, str>> {
        self.members.iter().map(|member| self.key(member))
    }
}
