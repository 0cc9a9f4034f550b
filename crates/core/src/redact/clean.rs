//! Removes secrets from events. Every text that leaves the log, except a verbatim event, is made from cleaned
//! events.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ops::Range;

use aho_corasick::{AhoCorasick, MatchKind};
use bytes::Bytes;

use super::{REPLACEMENT, Redactor, merge, replace};
use crate::jsonstr;
use crate::log::Event;
use crate::screen::shown;
use crate::text_finder::TextFinder;
use crate::view::{BlockKind, BlockView, ByteRange, EventView, TextRef};

/// A secret of fewer bytes than this is not searched elsewhere, because it could be an ordinary word.
const KNOWN_AGAIN: usize = 8;
/// At most about this many secrets are searched without the finder for many.
const FEW: usize = 32;
/// At most this many secrets are remembered.
const MOST: usize = 4_096;

/// The secrets that a log has shown so far. A value that was recognised as a secret once (`DB_PASSWORD=…`) is
/// also hidden where it is repeated without such a name beside it.
///
/// ```
/// use midfold_core::redact::KnownSecrets;
/// let mut secrets = KnownSecrets::default();
/// assert_eq!(secrets.clean("DB_PASSWORD=hunter2!x"), "DB_PASSWORD=[REDACTED]");
/// assert_eq!(secrets.clean("log in with hunter2!x"), "log in with [REDACTED]");
/// assert_eq!(secrets.clean("nothing in here"), "nothing in here");
/// ```
#[derive(Clone, Debug, Default)]
pub struct KnownSecrets {
    known: BTreeSet<String>,
    /// Finds most of many known secrets; `None` while there are few.
    finder: Option<AhoCorasick>,
    /// Finds the secrets that `finder` does not have yet: that is built anew only now and then. It is not for many
    /// secrets, since all with the same beginning are compared wherever that is.
    fresh: TextFinder,
    /// How many secrets `fresh` has.
    fresh_count: usize,
}

impl KnownSecrets {
    /// The secrets that these events hold.
    #[must_use]
    pub fn of(events: &[Event]) -> Self {
        let mut secrets = Self::default();
        events.iter().for_each(|event| secrets.learn(&event.view, &event.bytes));
        secrets
    }

    /// Adds the secrets of a message.
    pub fn learn(&mut self, view: &EventView, bytes: &[u8]) {
        let mut scratch = String::new();
        for block in &view.blocks {
            self.block(block, bytes, &mut scratch);
        }
    }

    /// Whether no secret is known.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// How many secrets are known.
    #[must_use]
    pub fn len(&self) -> usize {
        self.known.len()
    }

    /// The text without its own secrets and without all known ones. Its own secrets are known afterwards.
    #[must_use]
    pub fn clean<'a>(&mut self, text: &'a str) -> Cow<'a, str> {
        let places = Redactor::shared().find(text);
        if places.is_empty() && self.is_empty() {
            return Cow::Borrowed(text);
        }
        self.note(places.iter().filter_map(|at| text.get(at.clone())));
        self.without(text)
    }

    /// The text without its own secrets and without all known ones. Its own secrets are not remembered.
    #[must_use]
    pub fn without<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let (out, _) = Redactor::shared().redact(text);
        let places = self.places(&out);
        if places.is_empty() { out } else { Cow::Owned(replace(&out, &places)) }
    }

    /// The byte ranges of known secrets in a text, in order and without overlaps.
    #[must_use]
    pub fn places(&self, text: &str) -> Vec<Range<usize>> {
        let known = self.finder.iter().flat_map(|finder| finder.find_iter(text));
        let mut places: Vec<_> = known.map(|hit| hit.start()..hit.end()).collect();
        places.extend(self.fresh.find(text).map(|fresh| fresh.at));
        places.sort_unstable_by_key(|place| place.start);
        merge(places)
    }

    /// Whether a name is a known secret, contains one, or is a long part of one.
    #[must_use]
    pub fn touch(&self, name: &str) -> bool {
        let random = name.len() >= KNOWN_AGAIN && name.bytes().any(|b| b.is_ascii_digit());
        let part = |secret: &String| random && secret.contains(name);
        !self.is_empty() && (!self.places(name).is_empty() || self.known.iter().any(part))
    }

    /// Remembers secrets. The finder is built anew once there are many new ones.
    fn note<'a>(&mut self, secrets: impl Iterator<Item = &'a str>) {
        for secret in secrets.filter(|secret| secret.len() >= KNOWN_AGAIN) {
            if self.known.len() < MOST
                && !secret.contains(REPLACEMENT)
                && self.known.insert(secret.to_owned())
            {
                self.fresh.add(secret);
                self.fresh_count += 1;
            }
        }
        // The limit grows with the finder, so that all builds together cost a fixed multiple of the last one.
        if self.fresh_count > FEW + self.known.len() / 16 {
            let longest =
                AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(&self.known);
            self.finder = longest.ok();
            (self.fresh, self.fresh_count) = (TextFinder::default(), 0);
        }
    }

    /// These events without secrets; `None` where no event holds one, which is the usual case.
    #[must_use]
    pub fn events(&mut self, events: &[Event]) -> Option<Vec<Event>> {
        let mut scratch = String::new();
        let mut cleaned: Vec<(usize, Event)> = Vec::new();
        for (at, event) in events.iter().enumerate() {
            cleaned.extend(self.event(event, &mut scratch).map(|event| (at, event)));
        }
        if cleaned.is_empty() {
            return None;
        }
        let mut out = events.to_vec();
        for (at, event) in cleaned {
            out[at] = event;
        }
        Some(out)
    }

    /// The event with cleaned texts in the blocks that hold secrets. Cleaned texts are appended to the event's bytes,
    /// so that the positions of all other parts stay valid. `None` where the event holds no secrets.
    fn event(&mut self, event: &Event, scratch: &mut String) -> Option<Event> {
        let texts: Vec<_> = event
            .view
            .blocks
            .iter()
            .map(|block| self.block(block, &event.bytes, scratch))
            .collect();
        if texts.iter().all(Option::is_none) {
            return None;
        }
        let mut bytes = event.bytes.to_vec();
        let mut clean = event.clone();
        for (block, text) in clean.view.blocks.iter_mut().zip(texts) {
            let Some(text) = text else { continue };
            let from = bytes.len();
            bytes.extend_from_slice(text.as_bytes());
            block.body = TextRef::raw(ByteRange::new(from, bytes.len()));
            block.texts = smallvec::smallvec![block.body];
        }
        clean.bytes = Bytes::from(bytes);
        Some(clean)
    }

    /// The cleaned text of a block; `None` where it holds no secret.
    fn block(&mut self, block: &BlockView, bytes: &[u8], scratch: &mut String) -> Option<String> {
        let text = block.text_with(bytes, scratch);
        let text = match memchr::memchr(0x1b, text.as_bytes()) {
            // A colour sequence may be inside a secret or before it, so such sequences are removed first.
            Some(_) => Cow::Owned(shown(text)),
            None => Cow::Borrowed(text),
        };
        let clean = self.text(&block.kind, &text);
        match clean {
            Cow::Owned(clean) if clean != text => Some(clean),
            // Where only colours were taken out, the text stays as it is.
            _ => None,
        }
    }

    /// The text of a block of this kind without secrets. Arguments of calls are searched as JSON.
    pub(crate) fn text<'a>(&mut self, kind: &BlockKind, text: &'a str) -> Cow<'a, str> {
        match kind {
            BlockKind::Call { .. } => self.arguments(text),
            _ => self.clean(text),
        }
    }

    /// The arguments of a call without secrets. Secrets are searched in the source and in each decoded string. JSON
    /// stays valid JSON.
    fn arguments<'a>(&mut self, text: &'a str) -> Cow<'a, str> {
        let mut out = String::new();
        let mut from = 0;
        for token in strings(text) {
            let source = &text[token.clone()];
            if !source.contains('\\') {
                continue;
            }
            let plain = jsonstr::decode(source.as_bytes());
            if let Cow::Owned(clean) = self.clean(&plain) {
                out.push_str(&text[from..token.start]);
                out.push_str(&jsonstr::encode(&clean));
                from = token.end;
            }
        }
        if from == 0 {
            return self.clean(text);
        }
        out.push_str(&text[from..]);
        // Then the whole source, because a name and its value are in different strings.
        Cow::Owned(self.clean(&out).into_owned())
    }
}

/// The byte ranges of the JSON strings in a text, with their quotes. None where the text is not JSON.
fn strings(text: &str) -> impl Iterator<Item = Range<usize>> {
    let bytes = text.as_bytes();
    let mut at = 0;
    let is_json = text.trim_start().starts_with(['{', '[']);
    std::iter::from_fn(move || {
        let start = at + memchr::memchr(b'"', bytes.get(at..).filter(|_| is_json)?)?;
        let mut end = start + 1;
        loop {
            end += memchr::memchr2(b'"', b'\\', bytes.get(end..)?)?;
            if bytes[end] == b'"' {
                at = end + 1;
                return Some(start..at);
            }
            end += 2;
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_stay_json_whatever_goes() {
        let source = r#"{"command":"cat <<E\nexport DB_PASSWORD=hunter2!x\nE","path":"a"}"#;
        let mut secrets = KnownSecrets::default();
        let clean = secrets.arguments(source);
        assert_eq!(clean, source.replace("hunter2!x", REPLACEMENT));
        assert_eq!(secrets.len(), 1);
        let key = format!("-----BEGIN {} KEY-----\\n{}", "RSA PRIVATE", "MIIEabc".repeat(9));
        let cut = format!(r#"{{"content":"{key}","path":"b"}}"#);
        assert_eq!(
            KnownSecrets::default().arguments(&cut),
            r#"{"content":"[REDACTED]","path":"b"}"#
        );
    }

    proptest::proptest! {
        /// Secrets that are learned one by one are found as if they were learned at once, however many secrets there are.
        #[test]
        fn secrets_that_came_late_are_found_like_the_first(
            secrets in proptest::collection::vec("[ab1]{6,12}", 1..160),
        ) {
            let text = secrets.join(" and ");
            let mut known = KnownSecrets::default();
            for secret in &secrets {
                known.note([&**secret].into_iter());
                proptest::prop_assert!(secret.len() < KNOWN_AGAIN || known.touch(secret));
            }
            let mut at_once = KnownSecrets::default();
            at_once.note(secrets.iter().rev().map(|secret| &**secret));
            proptest::prop_assert_eq!(known.places(&text), at_once.places(&text));
            let without_secrets = known.without(&text).into_owned();
            let mut long = secrets.iter().filter(|secret| secret.len() >= KNOWN_AGAIN);
            proptest::prop_assert!(long.all(|secret| !without_secrets.contains(&**secret)));
        }
    }

    #[test]
    fn a_part_of_a_secret_is_no_name() {
        let mut secrets = KnownSecrets::default();
        let _ = secrets.clean("PASSWORD=abcd1234+efgh5678");
        assert!(secrets.touch("abcd1234") && secrets.touch("x_abcd1234+efgh5678"));
        assert!(!secrets.touch("abcd") && !secrets.touch("src/main.rs"));
    }
}
