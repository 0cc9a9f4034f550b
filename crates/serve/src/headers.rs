//! HTTP headers: those of midfold, and those that are not forwarded.

use hyper::header::{
    ACCEPT_ENCODING, CONNECTION, CONTENT_LENGTH, EXPECT, HOST, HeaderMap, HeaderName, HeaderValue,
    PROXY_AUTHENTICATE, PROXY_AUTHORIZATION, TE, TRAILER, TRANSFER_ENCODING, UPGRADE, USER_AGENT,
};
use midfold_proxy::{OutgoingRequest, RequestSender};

/// A request with `midfold: off` is forwarded without midfold. All of midfold's headers begin with this word.
const SWITCH: &str = "midfold";
/// The preset for a request.
const POLICY: &str = "midfold-policy";
/// The id of the request in the log.
pub(crate) const REQUEST: HeaderName = HeaderName::from_static("midfold-request");
/// The id of the conversation's session.
pub(crate) const SESSION: HeaderName = HeaderName::from_static("midfold-session");
/// The fold through which the request was read.
pub(crate) const FOLD: HeaderName = HeaderName::from_static("midfold-fold");
/// Tokens of the request before the fold.
pub(crate) const BEFORE: HeaderName = HeaderName::from_static("midfold-tokens-before");
/// Tokens of the request that was sent.
pub(crate) const AFTER: HeaderName = HeaderName::from_static("midfold-tokens-after");
/// Why a request was sent unchanged.
pub(crate) const FAULT: HeaderName = HeaderName::from_static("midfold-fault");

/// The beta features of Anthropic that a client asks for.
const BETA: &str = "anthropic-beta";
/// Tokens that were left out of results, because with them the request would not fit the window.
pub(crate) const CUT: HeaderName = HeaderName::from_static("midfold-cut");
/// Tokens that the answer may have, if midfold lowered them.
pub(crate) const REPLY: HeaderName = HeaderName::from_static("midfold-max-tokens");
/// How many calls of the answer hold placeholders of a fold as content.
pub(crate) const PLACEHOLDERS: HeaderName = HeaderName::from_static("midfold-placeholders");
/// The window that the request has to fit, in tokens, and its source.
pub(crate) const WINDOW: HeaderName = HeaderName::from_static("midfold-window");

/// Headers in which clients name their session (measured: Codex, Claude Code, opencode, pi, OpenHands, Vibe).
const SESSIONS: [&str; 7] = [
    "session-id",
    "session_id",
    "x-claude-code-session-id",
    "x-session-id",
    "x-litellm-session-id",
    "x-affinity",
    "thread-id",
];

/// Headers that hold for one connection only, or are set again for the next one.
const HOPS: [HeaderName; 10] = [
    CONNECTION,
    CONTENT_LENGTH,
    EXPECT,
    HOST,
    PROXY_AUTHENTICATE,
    PROXY_AUTHORIZATION,
    TE,
    TRAILER,
    TRANSFER_ENCODING,
    UPGRADE,
];

/// The headers of a request for the upstream, without midfold's and those of the connection. If midfold reads the
/// answer (`is_read`), it asks for one without compression.
pub fn for_upstream(headers: &HeaderMap, is_read: bool) -> HeaderMap {
    let mut out = without_ours(passing(headers));
    if is_read {
        out.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    }
    out
}

/// The headers of the upstream's answer for the client. Only this server says what midfold did, also where the upstream
/// is another midfold.
pub fn for_client(headers: &HeaderMap) -> HeaderMap {
    let mut out = without_ours(passing(headers));
    // The body is forwarded unchanged, so its length holds.
    if let Some(length) = headers.get(CONTENT_LENGTH) {
        out.insert(CONTENT_LENGTH, length.clone());
    }
    out
}

/// The headers without those of midfold.
fn without_ours(mut headers: HeaderMap) -> HeaderMap {
    let is_ours = |name: &&HeaderName| name.as_str().starts_with(SWITCH);
    let own: Vec<_> = headers.keys().filter(is_ours).cloned().collect();
    own.iter().for_each(|name| drop(headers.remove(name)));
    headers
}

/// The headers without those of the connection, including those that its `connection` header names.
fn passing(headers: &HeaderMap) -> HeaderMap {
    let mut out = headers.clone();
    let named: Vec<HeaderName> = headers
        .get_all(CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|name| name.trim().parse().ok())
        .collect();
    for name in HOPS.iter().chain(&named) {
        out.remove(name);
    }
    out.remove("keep-alive");
    out
}

/// Whether the client switched midfold off for this request.
pub fn is_off(headers: &HeaderMap) -> bool {
    headers.get(SWITCH).is_some_and(|value| value.as_bytes().eq_ignore_ascii_case(b"off"))
}

/// Reads the sender of a request from its headers.
pub fn who(headers: &HeaderMap, scope: String, model: Option<String>) -> RequestSender {
    let text = |name: &str| Some(headers.get(name)?.to_str().ok()?.to_owned());
    // In `claude-cli/2.1.0 (external, cli)` the first word names the program.
    let client = text(USER_AGENT.as_str())
        .and_then(|agent| Some(agent.split_whitespace().next()?.chars().take(100).collect()));
    let hint = SESSIONS.into_iter().find_map(text);
    let asks_for_million = text(BETA).is_some_and(|betas| betas.contains("context-1m"));
    RequestSender {
        scope,
        hint,
        client,
        preset: text(POLICY),
        model,
        asks_for_million,
        ..RequestSender::default()
    }
}

/// Adds headers to an answer that say what midfold did with its request.
pub(crate) fn tell(headers: &mut HeaderMap, outgoing: &OutgoingRequest) {
    let mut set = |name: HeaderName, text: &str| {
        if let Ok(value) = HeaderValue::from_str(text) {
            headers.insert(name, value);
        }
    };
    if let Some(session) = &outgoing.session {
        set(SESSION, session);
        // The fold of a session that is not stored cannot be looked up.
        if let Some(fold) = outgoing.fold {
            set(FOLD, &fold.to_hex()[..16]);
        }
    }
    if outgoing.window.is_some() {
        set(BEFORE, &outgoing.tokens_before.to_string());
        // One request has one size, and the two estimates are made of different counts.
        let after =
            if outgoing.is_whole() { outgoing.tokens_before } else { outgoing.tokens_after };
        set(AFTER, &after.to_string());
    }
    if let Some((window, from)) = &outgoing.window {
        set(WINDOW, &format!("{window}; from={}", from.name()));
    }
    if let Some(reply) = outgoing.reply {
        set(REPLY, &reply.to_string());
    }
    if outgoing.cut > 0 {
        set(CUT, &outgoing.cut.to_string());
    }
    if let Some(fault) = outgoing.fault {
        set(FAULT, fault.name());
    }
}
