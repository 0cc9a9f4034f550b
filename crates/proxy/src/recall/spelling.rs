//! Adapts the ids of calls to the client's spelling. Some clients drop punctuation, and a result has to name the exact
//! id of its call.

use bytes::Bytes;
use midfold_core::jsonstr;
use midfold_core::view::{BlockKind, TextCoding, TextRef};
use midfold_formats::DialectKind;

/// The ids of the calls in these messages.
pub(super) fn ids<'a>(
    kind: DialectKind,
    messages: impl IntoIterator<Item = &'a Bytes>,
) -> Vec<String> {
    let of = |message: &Bytes| -> Vec<String> {
        refs(kind, message).map(|id| id.decode(message).into_owned()).collect()
    };
    messages.into_iter().flat_map(of).collect()
}

/// Returns the message with each id of a call replaced by the one of `ids` that differs only in punctuation.
pub(super) fn respelled(kind: DialectKind, message: &Bytes, ids: &[String]) -> Bytes {
    let mut out = Vec::new();
    let mut from = 0;
    for id in refs(kind, message) {
        let own = id.decode(message);
        let plain = || own.chars().filter(char::is_ascii_alphanumeric);
        let is_same = |it: &&String| it.chars().filter(char::is_ascii_alphanumeric).eq(plain());
        let Some(theirs) = ids.iter().find(is_same).filter(|theirs| **theirs != own) else {
            continue;
        };
        let token = id.token.to_usize();
        if id.nested.is_some() || id.coding != TextCoding::Str || token.start < from {
            continue;
        }
        out.extend_from_slice(&message[from..token.start]);
        out.extend_from_slice(jsonstr::encode(theirs).as_bytes());
        from = token.end;
    }
    if from == 0 {
        return message.clone();
    }
    out.extend_from_slice(&message[from..]);
    Bytes::from(out)
}

fn refs(kind: DialectKind, message: &Bytes) -> impl Iterator<Item = TextRef> {
    let blocks = kind.dialect().view(message).blocks;
    blocks.into_iter().filter_map(|block| match block.kind {
        BlockKind::Call { id, .. } => id,
        _ => None,
    })
}
