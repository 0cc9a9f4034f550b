//! The rows of Claude Code's event `session.compact`, as messages of Anthropic's API, and a context as rows again.
//!
//! A row has a handle of the client's. A row that goes back with its handle is the client's own message, with the images
//! and the thinking that a row does not show. A row without one is made of its text and its calls. So the user's words go
//! back by their handles. Answers and results do not: Claude Code 2.1.332 writes them into its transcript as children of
//! the messages that they are copies of, and a resumed session has all that was folded again. The step that runs is the
//! exception, because the API refuses its calls without their thinking.

use std::ops::Range;

use bytes::Bytes;
use midfold::RawEvent;
use midfold::blocking::ContextOrigin;
use midfold::core::project::Context;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Value, json};

/// A row of the client's transcript.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ClientRow {
    /// The role of its author.
    pub role: RowRole,
    /// Its text. It is empty where the row has only an image, thinking or calls.
    pub text: String,
    /// The calls of an assistant's row.
    #[serde(default)]
    pub tool_uses: Vec<RowCall>,
    /// The results of a user's row.
    #[serde(default)]
    pub tool_results: Vec<RowResult>,
    /// The client's name for the message.
    pub handle: String,
}

/// The author of a row.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum RowRole {
    /// The user, or a tool.
    User,
    /// The model.
    Assistant,
}

/// A call of a tool.
#[derive(Debug, Deserialize)]
pub struct RowCall {
    tool_use_id: String,
    tool: String,
    input: Box<RawValue>,
}

/// The result of a call.
#[derive(Debug, Deserialize)]
pub struct RowResult {
    tool_use_id: String,
    text: String,
    #[serde(default, rename = "isError")]
    is_error: bool,
}

/// The rows as messages: the client has a row for each block of an answer and for each result, the API has a message for
/// all of them.
#[derive(Debug)]
pub struct RowMessages {
    /// The messages.
    pub events: Vec<RawEvent>,
    /// The rows of each message.
    pub places: Vec<Range<usize>>,
}

impl RowMessages {
    /// Joins rows to messages. An answer of thinking alone is none.
    #[must_use]
    pub fn of(rows: &[ClientRow]) -> Self {
        let mut places: Vec<Range<usize>> = Vec::with_capacity(rows.len());
        for (at, row) in rows.iter().enumerate() {
            match places.last_mut() {
                Some(place) if row.continues(&rows[place.end - 1]) => place.end = at + 1,
                _ => places.push(at..at + 1),
            }
        }
        // The client would have words of a model that only thought.
        places.retain(|place| {
            let is_thinking = |row: &ClientRow| row.role == RowRole::Assistant && row.is_unseen();
            !rows[place.clone()].iter().all(is_thinking)
        });
        let message = |place: &Range<usize>| RawEvent::new(message(&rows[place.clone()]));
        Self { events: places.iter().map(message).collect(), places }
    }
}

impl ClientRow {
    /// Whether the API has both rows in one message: parts of an answer, and results that came one by one.
    fn continues(&self, before: &Self) -> bool {
        self.role == before.role
            && (self.role == RowRole::Assistant || (self.has_results() && before.has_results()))
    }

    fn has_results(&self) -> bool {
        !self.tool_results.is_empty()
    }

    /// Whether it has only what no row shows.
    fn is_unseen(&self) -> bool {
        self.text.is_empty() && self.tool_uses.is_empty() && !self.has_results()
    }

    /// Whether a row that is made of its words lacks nothing of it.
    fn is_all_words(&self) -> bool {
        !self.is_unseen() && self.tool_results.iter().all(|result| !result.text.is_empty())
    }
}

/// The text of a user's message whose rows show nothing. It goes back by its handle.
const UNSEEN: &str = "[Not text: an image, a document or thinking]";
/// The text of a result that is an image, as the client gets it. Its own row of such a result has none.
const IMAGE: &str = "[an image]";

#[derive(Serialize)]
struct ApiMessage<'a> {
    role: &'static str,
    content: ApiContent<'a>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum ApiContent<'a> {
    Text(&'a str),
    Blocks(Vec<ApiBlock<'a>>),
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum ApiBlock<'a> {
    Text {
        text: &'a str,
    },
    ToolUse {
        id: &'a str,
        name: &'a str,
        input: &'a RawValue,
    },
    ToolResult {
        tool_use_id: &'a str,
        content: &'a str,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        is_error: bool,
    },
}

/// A message of rows of one role. Texts are joined, because a row that is made of a message has one text.
fn message(rows: &[ClientRow]) -> Bytes {
    let texts: Vec<_> =
        rows.iter().map(|row| &row.text[..]).filter(|text| !text.is_empty()).collect();
    let mut text = texts.join("\n\n");
    let calls = rows.iter().flat_map(|row| &row.tool_uses).map(|call| ApiBlock::ToolUse {
        id: &call.tool_use_id,
        name: &call.tool,
        input: &call.input,
    });
    let results =
        rows.iter().flat_map(|row| &row.tool_results).map(|result| ApiBlock::ToolResult {
            tool_use_id: &result.tool_use_id,
            content: if result.text == IMAGE { "" } else { &result.text },
            is_error: result.is_error,
        });
    let (calls, mut blocks): (Vec<_>, Vec<_>) = (calls.collect(), results.collect());
    if text.is_empty() && calls.is_empty() && blocks.is_empty() {
        UNSEEN.clone_into(&mut text);
    }
    let is_user = rows.iter().any(|row| row.role == RowRole::User);
    let content = if blocks.is_empty() && calls.is_empty() {
        ApiContent::Text(&text)
    } else {
        if !text.is_empty() {
            blocks.push(ApiBlock::Text { text: &text });
        }
        blocks.extend(calls);
        ApiContent::Blocks(blocks)
    };
    let role = if is_user { "user" } else { "assistant" };
    // Strings and JSON that was read can always be written.
    serde_json::to_vec(&ApiMessage { role, content }).unwrap_or_default().into()
}

/// The rows that take the place of a transcript.
#[derive(Debug, Default)]
pub struct AnswerRows {
    /// The rows, as the client takes them. One with only a `handle` is the client's own message.
    pub rows: Vec<Value>,
    /// The number of rows of the transcript that stayed word for word.
    pub unchanged: usize,
}

impl AnswerRows {
    /// The rows of a context over a transcript.
    #[must_use]
    pub fn of(
        context: &Context,
        origins: &[ContextOrigin],
        rows: &[ClientRow],
        places: &[Range<usize>],
    ) -> Self {
        let mut answer = Self::default();
        for (piece, origin) in context.pieces().zip(origins) {
            let place = origin.place.filter(|_| origin.is_same).and_then(|place| places.get(place));
            let own = place.map_or(&rows[..0], |place| &rows[place.clone()]);
            if place.is_some_and(|place| stays_by_handle(rows, place)) {
                answer.unchanged += own.len();
                answer.rows.extend(own.iter().map(|row| json!({ "handle": row.handle })));
            } else {
                answer.unchanged += own.iter().filter(|row| row.is_all_words()).count();
                answer.rows.push(written_row(&piece.bytes));
            }
        }
        answer
    }
}

/// Whether the rows of an unchanged message go back by their handles.
fn stays_by_handle(rows: &[ClientRow], place: &Range<usize>) -> bool {
    let own = &rows[place.clone()];
    if own.iter().all(|row| row.role == RowRole::User && !row.has_results()) {
        return true;
    }
    let step_is_open = rows.last().is_some_and(ClientRow::has_results);
    let behind = &rows[place.end..];
    match own[0].role {
        RowRole::Assistant => step_is_open && behind.iter().all(|row| row.role == RowRole::User),
        // An image is in no row that is made of words.
        RowRole::User => {
            step_is_open
                && behind.is_empty()
                && own.iter().flat_map(|row| &row.tool_results).any(|result| result.text.is_empty())
        }
    }
}

/// A row of a message that midfold wrote or shortened.
fn written_row(message: &[u8]) -> Value {
    let message: Value = serde_json::from_slice(message).unwrap_or_default();
    let content = &message["content"];
    let blocks = || content.as_array().into_iter().flatten();
    let blocks_of = |kind: &'static str| blocks().filter(move |block| block["type"] == kind);
    let calls: Vec<_> = blocks_of("tool_use")
        .map(|call| {
            let (id, tool, input) = (&call["id"], &call["name"], &call["input"]);
            json!({ "tool_use_id": id, "tool": tool, "input": input })
        })
        .collect();
    let results: Vec<_> = blocks_of("tool_result")
        .map(|result| {
            let (is_error, text) = (result["is_error"] == true, text_of(&result["content"]));
            let text = if text.is_empty() { IMAGE } else { &text };
            json!({ "tool_use_id": result["tool_use_id"], "text": text, "isError": is_error })
        })
        .collect();
    let mut row = json!({ "role": message["role"], "text": text_of(content), "toolUses": calls });
    if !results.is_empty() {
        row["toolResults"] = results.into();
    }
    row
}

/// The text of content: a string, or the texts of its blocks.
fn text_of(content: &Value) -> String {
    let texts = content.as_array().into_iter().flatten().filter_map(|block| block["text"].as_str());
    let texts: Vec<_> = content.as_str().into_iter().chain(texts).collect();
    texts.join("\n\n")
}
