//! Reads the compaction that a Responses request asks for, and the compaction items that it sends back.

use std::ops::Range;

use bytes::Bytes;
use memchr::memmem;

use crate::fields::ObjectFields;
use crate::request::without_member;
use crate::scan;
use crate::vendor::rewrite::Splices;
use crate::vendor::write::{ObjectWriter, list};

/// The smallest threshold that is allowed, in tokens.
pub const THRESHOLD_MIN: u64 = 1_000;

/// The compaction that a request asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OpenaiRequest {
    /// Whether `context_management` has an entry of the type `compaction`.
    pub compacts: bool,
    /// The `compact_threshold` of that entry, in tokens. `None` leaves the choice to the vendor.
    pub threshold: Option<u64>,
    /// The range of a `compaction_trigger` that is the last item. The answer is then one compaction item.
    pub trigger: Option<Range<usize>>,
}

/// The refusal of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenaiRefusal {
    /// The fault and the remedy.
    pub message: String,
    /// The parameter that is wrong.
    pub param: String,
    /// The vendor's code, where it has one.
    pub code: Option<String>,
}

impl OpenaiRefusal {
    /// The body of the response, whose status is 400.
    ///
    /// ```
    /// use midfold_formats::vendor::openai::OpenaiRefusal;
    /// let refusal = OpenaiRefusal { message: "no".into(), param: "input".into(), code: None };
    /// assert_eq!(
    ///     refusal.body(),
    ///     br#"{"error":{"message":"no","type":"invalid_request_error","param":"input","code":null}}"#
    /// );
    /// ```
    #[must_use]
    pub fn body(&self) -> Vec<u8> {
        let error = ObjectWriter::new()
            .text("message", &self.message)
            .text("type", "invalid_request_error")
            .text("param", &self.param)
            .text_or_null("code", self.code.as_deref())
            .finish();
        ObjectWriter::new().raw("error", &error).finish()
    }

    /// The refusal of a compaction item that cannot be opened.
    #[must_use]
    pub fn undecodable(item: usize) -> Self {
        Self {
            message:
                "Could not decode the compaction blob. Ensure it is unmodified from the compact \
                      response."
                    .to_owned(),
            param: format!("input[{item}].encrypted_content"),
            code: Some("invalid_encrypted_content".to_owned()),
        }
    }

    fn invalid(param: String, message: String) -> Self {
        Self { message, param, code: Some("invalid_value".to_owned()) }
    }
}

impl std::fmt::Display for OpenaiRefusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.param, self.message)
    }
}

impl std::error::Error for OpenaiRefusal {}

/// Reads the compaction that a request asks for. Entries of `context_management` of other types (Volcengine has some)
/// are skipped.
///
/// # Errors
///
/// An [`OpenaiRefusal`] for a threshold that is no number or below [`THRESHOLD_MIN`], and for a trigger that is not the
/// last item.
///
/// ```
/// use midfold_formats::vendor::openai::read_request;
/// let request = br#"{"input":[{"type":"compaction_trigger"}],
///     "context_management":[{"type":"compaction","compact_threshold":200000}]}"#;
/// let parsed = read_request(request)?;
/// assert_eq!(parsed.threshold, Some(200_000));
/// assert!(parsed.trigger.is_some());
/// # Ok::<(), midfold_formats::vendor::openai::OpenaiRefusal>(())
/// ```
pub fn read_request(request: &[u8]) -> Result<OpenaiRequest, OpenaiRefusal> {
    let fields = ObjectFields::of(request, 0..request.len());
    let mut parsed = OpenaiRequest::default();
    let management = fields.array("context_management").unwrap_or(0..0);
    for (at, entry) in scan::elements(request, management).enumerate() {
        let entry = ObjectFields::of(request, entry);
        if !entry.is("type", "compaction") {
            continue;
        }
        parsed.compacts = true;
        parsed.threshold = match entry.raw("compact_threshold") {
            None | Some(b"null") => None,
            Some(_) => {
                let threshold = entry.count("compact_threshold").filter(|n| *n >= THRESHOLD_MIN);
                Some(threshold.ok_or_else(|| {
                    OpenaiRefusal::invalid(
                        format!("context_management[{at}].compact_threshold"),
                        format!("It must be a whole number of tokens, at least {THRESHOLD_MIN}."),
                    )
                })?)
            }
        };
    }
    let mut triggers = items(request, &fields, b"compaction_trigger");
    let is_trigger = |item: &Range<usize>| {
        ObjectFields::of(request, item.clone()).is("type", "compaction_trigger")
    };
    if let Some((at, trigger)) = triggers.find(|(_, item)| is_trigger(item)) {
        let input = fields.array("input").unwrap_or(0..0);
        if scan::elements(request, input).last().as_ref() != Some(&trigger) {
            return Err(misplaced(at));
        }
        parsed.trigger = Some(trigger);
    }
    Ok(parsed)
}

/// The refusal of a trigger at this index of the input, which is not the last one.
fn misplaced(at: usize) -> OpenaiRefusal {
    OpenaiRefusal::invalid(
        format!("input[{at}]"),
        "An item of type 'compaction_trigger' must be the last item of the input.".to_owned(),
    )
}

/// The request without the entries of `context_management` that [`read_request`] reads. Entries of other types stay.
///
/// ```
/// use midfold_formats::vendor::openai::without_management;
/// let request = r#"{"context_management":[{"type":"compaction"},{"type":"other"}],"input":[]}"#;
/// assert_eq!(
///     without_management(&request.into()),
///     r#"{"context_management":[{"type":"other"}],"input":[]}"#
/// );
/// ```
#[must_use]
pub fn without_management(request: &Bytes) -> Bytes {
    let fields = ObjectFields::of(request, 0..request.len());
    let Some(management) = fields.array("context_management") else { return request.clone() };
    let is_other =
        |at: &Range<usize>| !ObjectFields::of(request, at.clone()).is("type", "compaction");
    let others: Vec<_> = scan::elements(request, management.clone()).filter(is_other).collect();
    if others.is_empty() {
        return without_member(request, "context_management");
    }
    let mut splices = Splices::default();
    splices.replace(management, list(others.into_iter().map(|at| &request[at])));
    splices.apply(request).into()
}

/// The request with an empty input, if it has none and names the answer that it continues.
#[must_use]
pub fn with_input(request: &Bytes) -> Bytes {
    let Some(whole) = scan::value(request, scan::skip_space(request, 0)) else {
        return request.clone();
    };
    let fields = ObjectFields::of(request, whole.clone());
    if !fields.has("previous_response_id") || !matches!(fields.raw("input"), None | Some(b"null")) {
        return request.clone();
    }
    let mut splices = Splices::default();
    splices.set(request, whole, "input", b"[]");
    splices.apply(request).into()
}

/// Whether an item instructs the model or gives it tools. Such items are not part of the dialogue: a summary never
/// replaces them, and they keep their place.
#[must_use]
pub fn instructs(item: &[u8]) -> bool {
    let fields = ObjectFields::of(item, 0..item.len());
    fields.is("type", "additional_tools")
        || fields.is("role", "system")
        || fields.is("role", "developer")
}

/// Whether an item is a message of the user.
#[must_use]
pub fn is_users(item: &[u8]) -> bool {
    let fields = ObjectFields::of(item, 0..item.len());
    fields.is("role", "user") && (!fields.has("type") || fields.is("type", "message"))
}

/// The items of the input that contain this word, with their indices.
fn items<'a>(
    request: &'a [u8],
    fields: &ObjectFields<'_>,
    word: &'a [u8],
) -> impl Iterator<Item = (usize, Range<usize>)> + 'a {
    // Most requests do not contain the word, and are large, so the whole request is searched first.
    let input = fields.array("input").filter(|_| memmem::find(request, word).is_some());
    scan::elements(request, input.unwrap_or(0..0))
        .enumerate()
        .filter(move |(_, item)| memmem::find(&request[item.clone()], word).is_some())
}

/// A `compaction` item that a request sends back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlacedItem {
    /// The index of the item in `input`.
    pub item: usize,
    /// The range of the item in the request.
    pub range: Range<usize>,
    /// The item's id: `cmp_…`. `None` where the client left it out.
    pub id: Option<String>,
    /// The encrypted data of whoever made the item.
    pub encrypted_content: String,
}

/// The compaction items of a request, in their order. Everything before the last of them may be left out of a request
/// without `previous_response_id`.
#[must_use]
pub fn compaction_items(request: &[u8]) -> Vec<PlacedItem> {
    let fields = ObjectFields::of(request, 0..request.len());
    let mut placed = Vec::new();
    for (at, range) in items(request, &fields, b"compaction") {
        let item = ObjectFields::of(request, range.clone());
        if item.is("type", "compaction") {
            let text = |name| item.text(name).map(std::borrow::Cow::into_owned);
            let (id, content) = (text("id"), text("encrypted_content").unwrap_or_default());
            placed.push(PlacedItem { item: at, id, encrypted_content: content, range });
        }
    }
    placed
}
