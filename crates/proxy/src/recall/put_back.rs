//! Writes hidden exchanges into a request.

use bytes::Bytes;
use midfold_core::Role;
use midfold_core::exchanges::{ShownReply, is_unrun};
use midfold_core::view::{BlockKind, TextRef};
use midfold_formats::DialectKind;
use midfold_formats::recall_tool::{OwnTool, in_front_of, results};
use midfold_formats::request::Request;

use super::hidden::HiddenExchange;

/// The messages of a request with its exchanges in their places. `shown` are the replies that the client has, and each
/// exchange belongs to this history.
pub(crate) fn with_exchanges<'a>(
    request: &Request,
    shown: &[ShownReply],
    exchanges: impl Iterator<Item = &'a HiddenExchange>,
) -> Vec<Bytes> {
    let kind = request.kind();
    let client: Vec<Bytes> = request.messages().collect();
    let mut out = Vec::with_capacity(client.len());
    let mut next = 0;
    for exchange in exchanges {
        let first = exchange.replies.checked_sub(exchange.shown).and_then(|at| shown.get(at));
        let last = exchange.replies.checked_sub(1).and_then(|at| shown.get(at));
        let (Some(first), Some(last)) = (first, last) else { continue };
        if first.start < next {
            continue;
        }
        out.extend_from_slice(&client[next..first.start]);
        let client_messages = &client[first.start..=last.end];
        out.extend(with_calls_of(kind, &exchange.messages, client_messages));
        next = last.end + 1;
        if !exchange.behind.is_empty() {
            let behind = client.get(next);
            let is_models = |message: &Bytes| kind.dialect().view(message).role == Role::Assistant;
            let behind = behind.filter(|message| !is_models(message));
            match behind.and_then(|message| in_front_of(kind, message, &exchange.behind)) {
                Some(with) => {
                    out.push(with);
                    next += 1;
                }
                None => out.extend(results(kind, &exchange.behind)),
            }
        }
    }
    out.extend_from_slice(&client[next.min(client.len())..]);
    out
}

/// A call of the client's own, as a message spells it.
struct OwnCall {
    id: Option<TextRef>,
    arguments: TextRef,
}

/// The messages of an exchange, with the client's own calls as the client spells them: what it sends leaves as it sent
/// it, and its results name the ids that it knows.
fn with_calls_of(kind: DialectKind, messages: &[Bytes], client_messages: &[Bytes]) -> Vec<Bytes> {
    let spelled = client_messages.iter().flat_map(|message| {
        let calls = own_calls(kind, message).into_iter();
        calls.map(move |call| (message, call))
    });
    let mut spelled = spelled.collect::<Vec<_>>().into_iter();
    let respelled = |message: &Bytes| {
        let calls = own_calls(kind, message).into_iter();
        // As many on both sides, and the same ones in the same order: the place proves it.
        let pairs: Vec<_> = calls.map_while(|call| Some((call, spelled.next()?))).collect();
        let mut parts: Vec<(TextRef, &[u8])> = Vec::new();
        for (own, (source, call)) in &pairs {
            let mut replace = |from: TextRef, to: TextRef| {
                let is_alike =
                    from.coding == to.coding && from.nested.is_none() && to.nested.is_none();
                let (old, new) = (from.token.of(message), to.token.of(source));
                if is_alike && !old.is_empty() && !new.is_empty() && old != new {
                    parts.push((from, new));
                }
            };
            own.id.zip(call.id).into_iter().for_each(|(from, to)| replace(from, to));
            replace(own.arguments, call.arguments);
        }
        spliced(message, parts)
    };
    messages.iter().map(respelled).collect()
}

/// The calls in a message that the client knows.
fn own_calls(kind: DialectKind, message: &Bytes) -> Vec<OwnCall> {
    let view = kind.dialect().view(message);
    let call = |block: &midfold_core::view::BlockView| match block.kind {
        BlockKind::Call { id, name } => {
            let is_hidden = name
                .is_some_and(|name| OwnTool::named(&name.decode(message)).is_some())
                || id.is_some_and(|id| is_unrun(&id.decode(message)));
            (!is_hidden).then_some(OwnCall { id, arguments: block.body })
        }
        _ => None,
    };
    view.blocks.iter().filter_map(call).collect()
}

/// The message with these parts replaced.
fn spliced(message: &Bytes, mut parts: Vec<(TextRef, &[u8])>) -> Bytes {
    if parts.is_empty() {
        return message.clone();
    }
    parts.sort_unstable_by_key(|(part, _)| part.token.start);
    let mut out = Vec::with_capacity(message.len());
    let mut from = 0;
    for (part, with) in parts {
        let token = part.token.to_usize();
        if token.start < from {
            continue;
        }
        out.extend_from_slice(&message[from..token.start]);
        out.extend_from_slice(with);
        from = token.end;
    }
    out.extend_from_slice(&message[from..]);
    Bytes::from(out)
}
