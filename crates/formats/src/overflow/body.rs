//! The fields of an error body that hold the error's own words.

use std::borrow::Cow;
use std::ops::Range;

use midfold_core::jsonstr;

use crate::fields::ObjectFields;
use crate::scan;

/// The bytes that are read at the start of a long text. Errors say what is wrong first or last; the text between is an
/// echo of the request.
const HEAD: usize = 8 * 1024;
/// The bytes that are read at the end of a long text.
const TAIL: usize = 2 * 1024;
/// The deepest level that is read. Error objects have a few levels: a gateway wraps a gateway that wraps a provider.
const DEPTH: usize = 8;
/// The most elements of a list of errors that are read.
const ELEMENTS: usize = 8;
/// The most lines of a stream that are read.
const LINES: usize = 64;

/// The words, codes and numbers of an error body.
#[derive(Debug, Default)]
pub(super) struct ErrorBody {
    /// The messages of the error, one per line.
    pub text: String,
    /// The codes and types of the error, in lower case.
    pub codes: Vec<String>,
    /// The tokens of the prompt: `n_prompt_tokens` (llama.cpp).
    pub have: Option<u64>,
    /// The tokens of the window: `n_ctx` (llama.cpp).
    pub limit: Option<u64>,
    /// Whether a stop reason says that the window was full.
    pub stopped_by_window: bool,
    /// Whether the body has an error object, or is an event that reports an error.
    pub is_error: bool,
}

impl ErrorBody {
    pub fn read(bytes: &[u8]) -> Self {
        let mut body = Self::default();
        body.document(bytes, 0);
        body
    }

    pub fn has_code(&self, codes: &[&str]) -> bool {
        self.codes.iter().any(|code| codes.contains(&code.as_str()))
    }

    /// Reads a body that is JSON, server-sent events, or plain text.
    fn document(&mut self, bytes: &[u8], depth: usize) {
        let start = scan::skip_space(bytes, 0);
        match bytes.get(start) {
            Some(b'{' | b'[') => match scan::value(bytes, start) {
                Some(range) => self.value(bytes, range, depth),
                // JSON that was cut off has no members to read, but its words can still say the cause.
                None => self.say(&String::from_utf8_lossy(ends(bytes).as_ref())),
            },
            Some(_) if is_stream(&bytes[start..]) => self.stream(&bytes[start..], depth),
            Some(_) => self.say(&String::from_utf8_lossy(ends(&bytes[start..]).as_ref())),
            None => {}
        }
    }

    fn stream(&mut self, bytes: &[u8], depth: usize) {
        for line in bytes.split(|byte| *byte == b'\n').take(LINES) {
            if let Some(data) = line.strip_prefix(b"data:")
                && depth < DEPTH
            {
                self.document(data, depth + 1);
            }
        }
    }

    fn value(&mut self, bytes: &[u8], range: Range<usize>, depth: usize) {
        if depth >= DEPTH {
            return;
        }
        match bytes.get(range.start) {
            Some(b'{') => {
                for member in scan::members(bytes, range) {
                    let Some(key) = bytes.get(member.key.start + 1..member.key.end - 1) else {
                        continue;
                    };
                    self.member(bytes, key, member.value, depth);
                }
            }
            Some(b'[') => {
                for element in scan::elements(bytes, range).take(ELEMENTS) {
                    self.value(bytes, element, depth + 1);
                }
            }
            _ => {}
        }
    }

    /// Reads one member of an error object. Members with other names are ignored, because they may echo the request.
    fn member(&mut self, bytes: &[u8], key: &[u8], value: Range<usize>, depth: usize) {
        match key {
            b"error" | b"errors"
                if !matches!(
                    &bytes[value.clone()],
                    b"null" | b"[]" | b"{}" | b"\"\"" | b"false"
                ) =>
            {
                self.is_error = true;
                self.message(bytes, value, depth);
            }
            // Baidu answers a refused request with 200 and these two members in place of a reply.
            b"error_msg" | b"error_code" => {
                self.is_error = true;
                self.code(bytes, value.clone());
                self.message(bytes, value, depth);
            }
            // MiniMax has this object in every answer, with the code 0 and `success` in those that are none.
            b"base_resp" => {
                let status = ObjectFields::of(bytes, value.clone());
                if status.number("status_code") != 0 {
                    self.is_error = true;
                    self.message(bytes, value, depth);
                }
            }
            b"message" | b"Message" | b"msg" | b"detail" | b"details" | b"error_description"
            | b"error_message" | b"errorMessage" | b"description" | b"title" | b"raw"
            | b"reason" | b"status_msg" => {
                self.message(bytes, value, depth);
            }
            b"response"
            | b"metadata"
            | b"body"
            | b"cause"
            | b"delta"
            | b"choices"
            | b"data"
            | b"incomplete_details" => self.value(bytes, value, depth + 1),
            b"code" | b"type" | b"__type" | b"status" | b"error_type" => self.code(bytes, value),
            b"stop_reason" | b"stopReason" | b"finish_reason" => {
                let reason = text(bytes, value);
                self.stopped_by_window |= reason.contains("context_window_exceeded");
            }
            b"n_prompt_tokens" => self.have = number(bytes, value),
            b"n_ctx" => self.limit = number(bytes, value),
            _ => {}
        }
    }

    /// Reads a message: a text, an object, or a JSON document in a string, as gateways quote a provider's answer.
    fn message(&mut self, bytes: &[u8], value: Range<usize>, depth: usize) {
        if bytes.get(value.start) != Some(&b'"') {
            self.value(bytes, value, depth + 1);
            return;
        }
        let words = text(bytes, value);
        let inner = words.trim_start();
        // A text that only begins like JSON is read as words.
        if inner.starts_with(['{', '['])
            && depth < DEPTH
            && scan::value(inner.as_bytes(), 0).is_some()
        {
            self.document(inner.as_bytes(), depth + 1);
        } else {
            self.say(&words);
        }
    }

    fn say(&mut self, text: &str) {
        let text = ends(text.as_bytes());
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        self.text.push_str(&plain_words(&String::from_utf8_lossy(&text)));
    }

    fn code(&mut self, bytes: &[u8], value: Range<usize>) {
        // A longer value is a sentence and no code.
        if value.len() > 120 {
            return;
        }
        let code = text(bytes, value).to_ascii_lowercase();
        // AWS writes a namespace before a type's name and a URL after it.
        let code = code.rsplit('#').next().unwrap_or_default();
        let code = code.split(':').next().unwrap_or_default();
        if matches!(code, "response.failed" | "error") {
            self.is_error = true;
        }
        // These codes are in every error and say nothing. Three digits repeat the status.
        let is_status = code.len() == 3 && code.bytes().all(|byte| byte.is_ascii_digit());
        if !is_status && !matches!(code, "" | "null" | "error") {
            self.codes.push(code.to_owned());
        }
    }
}

/// The text without the escapes of HTML and of JSON in JSON, as gateways write them into what a provider said.
pub(super) fn plain_words(text: &str) -> String {
    const ESCAPES: [(&str, &str); 12] = [
        ("&quot;", "\""),
        ("&#34;", "\""),
        ("&#39;", "'"),
        ("&#x27;", "'"),
        ("&apos;", "'"),
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&nbsp;", " "),
        ("&amp;", "&"),
        ("\\u0027", "'"),
        ("\\u003e", ">"),
        ("\u{2019}", "'"),
    ];
    let plain = text.replace('\u{a0}', " ");
    ESCAPES.iter().fold(plain, |text, (escape, plain)| {
        if text.contains(escape) { text.replace(escape, plain) } else { text }
    })
}

fn is_stream(bytes: &[u8]) -> bool {
    bytes.starts_with(b"data:") || bytes.starts_with(b"event:")
}

/// The text of a string token, or the JSON of any other value.
fn text(bytes: &[u8], value: Range<usize>) -> Cow<'_, str> {
    let source = &bytes[value];
    if source.first() == Some(&b'"') {
        jsonstr::decode(source)
    } else {
        String::from_utf8_lossy(source)
    }
}

fn number(bytes: &[u8], value: Range<usize>) -> Option<u64> {
    text(bytes, value).parse().ok()
}

/// The two ends of a long text, with a line break between them.
fn ends(text: &[u8]) -> Cow<'_, [u8]> {
    if text.len() <= HEAD + TAIL {
        return Cow::Borrowed(text);
    }
    Cow::Owned([&text[..HEAD], b"\n", &text[text.len() - TAIL..]].concat())
}
