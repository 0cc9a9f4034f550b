//! Arguments of calls that a provider refuses: those that the limit of an answer cut, and those that are no object.

use std::borrow::Cow;

use bytes::Bytes;

use crate::json::is_json;
use crate::jsonstr;
use crate::profile::ArgumentForm;
use crate::view::{BlockView, EventView, Role, TextCoding};

/// The argument that holds what is there of arguments that were cut.
const CUT: &str = "cut_off_arguments";
/// The argument that holds a text which never was JSON.
const TEXT: &str = "arguments";

/// The arguments as a JSON object. Those that are none become an object that holds their text and says whether it was
/// cut.
///
/// ```
/// use midfold_core::arguments::as_object;
/// assert_eq!(as_object(r#"{"path":"a"}"#), r#"{"path":"a"}"#);
/// assert_eq!(as_object(r#"{"path":"a"#), r#"{"cut_off_arguments":"{\"path\":\"a"}"#);
/// assert_eq!(as_object("ls -la"), r#"{"arguments":"ls -la"}"#);
/// assert_eq!(as_object(""), "{}");
/// ```
#[must_use]
pub fn as_object(arguments: &str) -> Cow<'_, str> {
    let text = arguments.trim();
    match text.as_bytes() {
        b"" | b"null" => Cow::Borrowed("{}"),
        [b'{', ..] if is_json(text) => Cow::Borrowed(text),
        [b'{', ..] => Cow::Owned(holding(CUT, text)),
        _ => Cow::Owned(holding(TEXT, text)),
    }
}

fn holding(name: &str, text: &str) -> String {
    format!("{{\"{name}\":{}}}", jsonstr::encode(text))
}

/// The JSON in the place of a call's arguments, where a provider that wants this form refuses them. `None` where it takes
/// them.
#[must_use]
pub fn in_form(bytes: &[u8], call: &BlockView, form: ArgumentForm) -> Option<String> {
    let written = call.body.token.of(bytes);
    // Arguments inside a string with other blocks (ShareGPT) were read as JSON, so they are whole.
    if form == ArgumentForm::Text || !call.is_call() || call.body.nested.is_some() {
        return None;
    }
    let is_object = written.first().is_none_or(|first| *first == b'{');
    if form == ArgumentForm::Object {
        return (!is_object).then(|| as_object(&call.body.decode(bytes)).into_owned());
    }
    let text = (call.body.coding == TextCoding::Str).then(|| call.body.decode(bytes))?;
    // Tools of free text have no JSON as arguments.
    let is_cut = text.trim_start().starts_with(['{', '[']) && !is_json(&text);
    is_cut.then(|| jsonstr::encode(&holding(CUT, &text)))
}

/// A message of the model with the arguments of its calls in this form; `None` where nothing has to change.
#[must_use]
pub(crate) fn with_form(bytes: &[u8], view: &EventView, form: ArgumentForm) -> Option<Bytes> {
    if view.role != Role::Assistant {
        return None;
    }
    let calls = view.blocks.iter().filter_map(|call| Some((call, in_form(bytes, call, form)?)));
    let (mut out, mut from) = (Vec::new(), 0);
    for (call, written) in calls {
        let place = call.body.token.to_usize();
        out.extend_from_slice(bytes.get(from..place.start)?);
        out.extend_from_slice(written.as_bytes());
        from = place.end;
    }
    out.extend_from_slice(bytes.get(from..)?);
    (from > 0).then(|| out.into())
}
