//! The parts of `verify` that depend on the wire format: the validator of a profile, the check that every message is
//! one JSON value, and the envelope.

use bytes::Bytes;
use midfold_core::fold::Fold;
use midfold_core::log::EventLog;
use midfold_core::verify::{ProofCase, ProofReport};
use midfold_core::{ProviderProfile, Violation};

use crate::dialect::DialectKind;
use crate::profile;
use crate::read::Envelope;

/// Checks the result for a conversation. `log` and `envelope` are the input, `after` are the messages of the result,
/// and `budget` is the most tokens that these may have.
#[must_use]
pub fn check(
    kind: DialectKind,
    log: &EventLog,
    envelope: &Envelope,
    after: &[Bytes],
    fold: Option<&Fold>,
    budget: Option<u64>,
) -> ProofReport {
    let before: Vec<Bytes> = log.events().iter().map(|event| event.bytes.clone()).collect();
    let beside: Vec<&[u8]> =
        [&envelope.system, &envelope.tools].into_iter().flatten().map(|part| &part[..]).collect();
    midfold_core::verify::verify(&ProofCase {
        before: &before,
        after,
        envelope: &beside,
        dialect: kind.dialect(),
        counter: &**log.counter(),
        validate: &validator(kind, *log.profile()),
        budget,
        fold,
    })
}

/// The validator for a [`midfold_core::verify::ProofCase`].
///
/// ```
/// use bytes::Bytes;
/// use midfold_formats::{DialectKind, profile, verify};
///
/// let validate = verify::validator(DialectKind::OpenAiChat, profile::OPENAI);
/// let found = validate(&[Bytes::from_static(br#"{"role":"user","content":"#)]);
/// assert_eq!(found[0].rule, "not-json");
/// ```
pub fn validator(
    kind: DialectKind,
    profile: ProviderProfile,
) -> impl Fn(&[Bytes]) -> Vec<Violation> {
    move |context| {
        let mut violations: Vec<Violation> =
            context.iter().enumerate().filter_map(|(at, bytes)| not_json(at, bytes)).collect();
        violations.extend(profile::validate(context, kind, &profile));
        violations
    }
}

fn not_json(index: usize, bytes: &[u8]) -> Option<Violation> {
    let error = serde_json::from_slice::<serde::de::IgnoredAny>(bytes).err()?;
    let detail = format!("not one JSON value: {error}");
    Some(Violation { rule: "not-json", index, detail, provider_text: "" })
}
