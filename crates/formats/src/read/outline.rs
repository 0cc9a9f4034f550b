//! The positions of the outermost members and messages, found in the same pass that checks the JSON.
//!
//! A request of 17 MB is one object with one long list. Scanning it again for each question would cost more than
//! checking it. Everything smaller is scanned by [`scan`](crate::scan).

use std::fmt;
use std::ops::Range;

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use crate::fields::ObjectFields;
use crate::scan::{self, Member};

/// The members of a request's body that hold its messages, in any dialect.
pub const LISTS: [&str; 4] = ["messages", "input", "contents", "conversations"];

/// The positions that were found in the only value of an input.
#[derive(Debug, Default)]
pub(super) struct ValueOutline {
    pub range: Range<usize>,
    /// The members of the value, if it is an object.
    members: Vec<Member>,
    /// Each list of messages, with its elements.
    lists: Vec<(Range<usize>, Vec<Range<usize>>)>,
}

/// The input, with its outline if it has one.
#[derive(Clone, Copy)]
pub(super) struct InputDocument<'a> {
    pub bytes: &'a [u8],
    pub outline: Option<&'a ValueOutline>,
}

impl<'a> InputDocument<'a> {
    /// The members of the object in `range`.
    pub(super) fn fields(self, range: Range<usize>) -> ObjectFields<'a> {
        match self.outline.filter(|outline| outline.range == range) {
            Some(outline) => ObjectFields::known(self.bytes, &outline.members),
            None => ObjectFields::of(self.bytes, range),
        }
    }

    /// The elements of the list in `range`.
    pub(super) fn elements(self, range: Range<usize>) -> impl Iterator<Item = Range<usize>> + 'a {
        let lists = self.outline.map(|outline| &outline.lists[..]).unwrap_or_default();
        let known = lists.iter().find(|list| list.0 == range).map(|list| &list.1[..]);
        let walked = if known.is_some() { 0..0 } else { range };
        let walked = scan::elements(self.bytes, walked);
        known.unwrap_or_default().iter().cloned().chain(walked)
    }
}

/// The outline of the value that starts at `start`. `None` where the input is not one object or list, or is not in the
/// usual shape.
pub(super) fn of(text: &str, start: usize) -> Option<ValueOutline> {
    let mut finder = OutlineFinder { text, outline: ValueOutline::default() };
    let mut deserializer = serde_json::Deserializer::from_str(text.get(start..)?);
    let range = match text.as_bytes().get(start)? {
        b'{' => {
            deserializer.deserialize_map(&mut finder).ok()?;
            // serde gives the positions of values, but not that of the closing bracket.
            let last = finder.outline.members.last().map_or(start + 1, |member| member.value.end);
            finder.closed(start, last)?
        }
        b'[' => {
            let elements = ElementList(text).deserialize(&mut deserializer).ok()?;
            let range = finder.closed(start, elements.last().map_or(start + 1, |at| at.end))?;
            finder.outline.lists.push((range.clone(), elements));
            range
        }
        _ => return None,
    };
    // Another value may follow: then this is no input of one value.
    deserializer.end().ok()?;
    Some(ValueOutline { range, ..finder.outline })
}

/// Collects the outline while serde reads the value.
struct OutlineFinder<'a> {
    text: &'a str,
    outline: ValueOutline,
}

impl<'a> OutlineFinder<'a> {
    /// The range of the container that starts at `start` and whose last value ends at `last`.
    fn closed(&self, start: usize, last: usize) -> Option<Range<usize>> {
        let bracket = scan::skip_space(self.text.as_bytes(), last);
        (bracket < self.text.len()).then_some(start..bracket + 1)
    }

    fn list_member<A: MapAccess<'a>>(
        &mut self,
        key: Range<usize>,
        map: &mut A,
    ) -> Result<Option<Member>, A::Error> {
        let bytes = self.text.as_bytes();
        let colon = scan::skip_space(bytes, key.end);
        let start = scan::skip_space(bytes, colon + 1);
        let elements = map.next_value_seed(ElementList(self.text))?;
        let last = elements.last().map_or(start + 1, |at| at.end);
        Ok(self.closed(start, last).map(|value| {
            self.outline.lists.push((value.clone(), elements));
            Member { key, value }
        }))
    }
}

impl<'a> Visitor<'a> for &mut OutlineFinder<'a> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'a>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<&RawValue>()? {
            let is_list = LISTS.iter().any(|name| key.get().trim_matches('"') == *name);
            let key = position(self.text, key);
            if is_list {
                let member = self.list_member(key, &mut map)?;
                self.outline.members.extend(member);
            } else {
                let value = position(self.text, map.next_value::<&RawValue>()?);
                self.outline.members.push(Member { key, value });
            }
        }
        Ok(())
    }
}

/// The range of a value that was borrowed from `text`.
fn position(text: &str, value: &RawValue) -> Range<usize> {
    let value = value.get();
    let start = (value.as_ptr() as usize).saturating_sub(text.as_ptr() as usize);
    start..start + value.len()
}

/// Collects the positions of a list's elements. It holds the text that they are in.
struct ElementList<'a>(&'a str);

impl<'a> DeserializeSeed<'a> for ElementList<'a> {
    type Value = Vec<Range<usize>>;

    fn deserialize<D: Deserializer<'a>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'a> Visitor<'a> for ElementList<'a> {
    type Value = Vec<Range<usize>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'a>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut elements = Vec::new();
        while let Some(element) = list.next_element::<&RawValue>()? {
            elements.push(position(self.0, element));
        }
        Ok(elements)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_the_scanner() {
        let texts = [
            r#" {"a" : 1e999 ,"messages": [ {"x":[]} , 2,"]" ] , "\ud800":"\ud800","messages":[]} "#,
            r#"{"messages":[],"input" : [ ] }"#,
            r#"[ [1] ,{"b":2}]"#,
            "{}",
            "[ ]",
        ];
        for text in texts {
            let start = scan::skip_space(text.as_bytes(), 0);
            let outline = of(text, start).unwrap();
            assert_eq!(scan::value(text.as_bytes(), start), Some(outline.range.clone()));
            let members: Vec<_> = scan::members(text.as_bytes(), outline.range).collect();
            assert_eq!(members, outline.members);
            for (range, elements) in outline.lists {
                let scanned: Vec<_> = scan::elements(text.as_bytes(), range.clone()).collect();
                assert_eq!(scan::value(text.as_bytes(), range.start), Some(range));
                assert_eq!(scanned, elements);
            }
        }
        for text in ["1", "{} {}", r#"{"input":"x"}"#, "[1", r#"{"a":}"#, ""] {
            assert!(of(text, 0).is_none(), "{text}");
        }
    }
}
