//! What `verify` needs to know of the wire: the validator of a profile, and that every message is
//! one JSON value.

use bytes::Bytes;
use midfold_core::{Profile, Violation};

use crate::dialect::DialectKind;
use crate::profile;

/// The validator that a [`midfold_core::verify::Case`] takes.
///
/// ```
/// use bytes::Bytes;
/// use midfold_formats::{DialectKind, profile, verify};
///
/// let validate = verify::validator(DialectKind::OpenAiChat, profile::OPENAI);
/// let found = validate(&[Bytes::from_static(br#"{"role":"user","content":"#)]);
/// assert_eq!(found[0].rule, "not-json");
/// ```
pub fn validator(kind: DialectKind, profile: Profile) -> impl Fn(&[Bytes]) -> Vec<Violation> {
    move |context| {
        let mut found: Vec<Violation> =
            context.iter().enumerate().filter_map(|(at, bytes)| not_json(at, bytes)).collect();
        found.extend(profile::validate(context, kind, &profile));
        found
    }
}

fn not_json(index: usize, bytes: &[u8]) -> Option<Violation> {
    let error = serde_json::from_slice::<serde::de::IgnoredAny>(bytes).err()?;
    let detail = format!("not one JSON value: {error}");
    Some(Violation { rule: "not-json", index, detail, provider_text: "" })
}
