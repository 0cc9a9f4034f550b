//! The attributes of a span of OpenTelemetry.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

use midfold_core::event::Usage;
use midfold_core::jsonstr;

use crate::fields::ObjectFields;
use crate::{scan, usage};

/// The attributes of a span and of its events, by name.
pub(super) struct SpanAttributes<'a> {
    input: &'a [u8],
    values: BTreeMap<String, Range<usize>>,
}

impl<'a> SpanAttributes<'a> {
    pub(super) fn of(span: &ObjectFields<'a>) -> Self {
        let mut attributes = Self { input: span.bytes(), values: BTreeMap::new() };
        span.objects("events").for_each(|(_, event)| attributes.add(&event));
        attributes.add(span);
        attributes
    }

    /// Adds the attributes of OTLP, which are a list, or those of an SDK, which are an object.
    fn add(&mut self, holder: &ObjectFields<'a>) {
        for (_, attribute) in holder.objects("attributes") {
            let value = attribute.object("value").unwrap_or(0..0);
            let value = scan::members(self.input, value).next();
            self.values.extend(attribute.label("key").zip(value.map(|value| value.value)));
        }
        let members = scan::members(self.input, holder.object("attributes").unwrap_or(0..0));
        let name = |key: Range<usize>| jsonstr::decode(&self.input[key]).into_owned();
        let named: Vec<_> = members.map(|member| (name(member.key), member.value)).collect();
        self.values.extend(named);
    }

    pub(super) fn get(&self, name: &str) -> Option<Range<usize>> {
        self.values.get(name).cloned()
    }

    /// The first of the attributes whose names begin with this.
    pub(super) fn first_below(&self, prefix: &str) -> Option<Range<usize>> {
        let (name, at) = self.values.range(prefix.to_owned()..).next()?;
        name.starts_with(prefix).then(|| at.clone())
    }

    /// The token of a text.
    pub(super) fn token(&self, name: &str) -> Option<&'a [u8]> {
        let token = &self.input[self.get(name)?];
        token.starts_with(b"\"").then_some(token)
    }

    /// A text, or a number as its digits: the first of these attributes.
    pub(super) fn label(&self, names: &[&str]) -> Option<Cow<'a, str>> {
        let raw = names.iter().find_map(|name| self.get(name)).map(|at| &self.input[at])?;
        match raw.first()? {
            b'"' => Some(jsonstr::decode(raw)),
            _ => std::str::from_utf8(raw).ok().map(Cow::Borrowed),
        }
    }

    fn count(&self, names: &[&str]) -> u64 {
        self.label(names).and_then(|text| text.parse().ok()).unwrap_or(0)
    }

    pub(super) fn usage(&self) -> Option<Usage> {
        usage::known(Usage {
            prompt: self.count(&["gen_ai.usage.input_tokens", "llm.token_count.prompt"]),
            output: self.count(&["gen_ai.usage.output_tokens", "llm.token_count.completion"]),
            cache_read: self.count(&[
                "gen_ai.usage.cache_read.input_tokens",
                "llm.token_count.prompt_details.cache_read",
            ]),
            cache_write: self.count(&[
                "gen_ai.usage.cache_creation.input_tokens",
                "llm.token_count.prompt_details.cache_write",
            ]),
        })
    }
}
