//! The ids of Responses items.

use memchr::memmem;

use crate::fields::ObjectFields;

/// The id of an item. `None` where it has none.
///
/// ```
/// use midfold_formats::request::item_id;
/// let call = br#"{"type":"function_call","id":"fc_1","call_id":"call_1","name":"ls","arguments":"{}"}"#;
/// assert_eq!(item_id(call).as_deref(), Some("fc_1"));
/// ```
#[must_use]
pub fn item_id(item: &[u8]) -> Option<String> {
    ObjectFields::of(item, 0..item.len()).label("id").filter(|id| !id.is_empty())
}

/// The id that an `item_reference` names. `None` for any other item.
///
/// ```
/// use midfold_formats::request::reference;
/// assert_eq!(reference(br#"{"type":"item_reference","id":"fc_1"}"#).as_deref(), Some("fc_1"));
/// assert_eq!(reference(br#"{"type":"message","id":"msg_1"}"#), None);
/// ```
#[must_use]
pub fn reference(item: &[u8]) -> Option<String> {
    // A reference is short, so a long item is not searched.
    const LONGEST: usize = 1024;
    if item.len() > LONGEST || memmem::find(item, b"item_reference").is_none() {
        return None;
    }
    let fields = ObjectFields::of(item, 0..item.len());
    fields.is("type", "item_reference").then(|| item_id(item))?
}
