//! The table of dialects: what a field is called in each, or why a dialect lacks it. Each cell has a message, and the
//! field is read from it.
//!
//! The same table is in `docs/FORMATS.md`: MIDFOLD_WRITE_DOCS=1 writes it anew.

use bytes::Bytes;
use midfold_core::{BlockKind, EventView, MediaKind, TextRef};
use midfold_formats::DialectKind;
use midfold_formats::request::{identity, without_marks};

/// A field that a dialect may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DialectField {
    /// That a call failed.
    Error,
    /// What binds reasoning to the messages before it.
    Signature,
    /// What is to be cached.
    CacheMark,
    /// Which call a result answers.
    Id,
    Image,
}

impl DialectField {
    const ALL: [Self; 5] = [Self::Error, Self::Signature, Self::CacheMark, Self::Id, Self::Image];

    fn name(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Signature => "signature",
            Self::CacheMark => "cache mark",
            Self::Id => "id",
            Self::Image => "image",
        }
    }
}

/// The place of a field in a dialect.
enum DialectCell {
    /// The place for people, and a message that has it there.
    At(&'static str, &'static str),
    /// Why the dialect lacks it.
    Lacks(&'static str),
}

use DialectCell::{At, Lacks};

/// The cell of each field. Neither match has a rest, so no new dialect and no new field can be forgotten.
fn cell(kind: DialectKind, field: DialectField) -> DialectCell {
    match kind {
        DialectKind::OpenAiChat => match field {
            DialectField::Error => Lacks("only the text of the result says it"),
            DialectField::Signature => At(
                "`reasoning_details`, `thinking_blocks`: `signature`, `data`",
                r#"{"role":"assistant","content":"a","thinking_blocks":[{"type":"thinking","thinking":"b","signature":"c"}]}"#,
            ),
            DialectField::CacheMark => At(
                "`cache_control`, `prompt_cache_breakpoint` of a part",
                r#"{"role":"user","content":[{"type":"text","text":"a","cache_control":{"type":"ephemeral"}}]}"#,
            ),
            DialectField::Id => At(
                "`tool_calls[].id`, `tool_call_id`",
                r#"{"role":"assistant","content":null,"tool_calls":[{"id":"ID7","type":"function","function":{"name":"f","arguments":"{}"}}]}"#,
            ),
            DialectField::Image => At(
                "`image_url`",
                r#"{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}]}"#,
            ),
        },
        DialectKind::OpenAiResponses => match field {
            DialectField::Error => At(
                "`status` of the output: `failed`",
                r#"{"type":"shell_call_output","call_id":"ID7","status":"failed","output":"a"}"#,
            ),
            DialectField::Signature => At(
                "`encrypted_content`",
                r#"{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"c"}"#,
            ),
            DialectField::CacheMark => At(
                "`prompt_cache_breakpoint` of a part",
                r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"a","prompt_cache_breakpoint":{"mode":"explicit"}}]}"#,
            ),
            DialectField::Id => At(
                "`call_id`",
                r#"{"type":"function_call","id":"fc_1","call_id":"ID7","name":"f","arguments":"{}"}"#,
            ),
            DialectField::Image => At(
                "`input_image`",
                r#"{"type":"message","role":"user","content":[{"type":"input_image","image_url":"data:image/png;base64,AAAA"}]}"#,
            ),
        },
        DialectKind::Anthropic => match field {
            DialectField::Error => At(
                "`is_error` of the block",
                r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"ID7","is_error":true,"content":"a"}]}"#,
            ),
            DialectField::Signature => At(
                "`signature`, `redacted_thinking`",
                r#"{"role":"assistant","content":[{"type":"thinking","thinking":"b","signature":"c"}]}"#,
            ),
            DialectField::CacheMark => At(
                "`cache_control` of the block",
                r#"{"role":"user","content":[{"type":"text","text":"a","cache_control":{"type":"ephemeral"}}]}"#,
            ),
            DialectField::Id => At(
                "`id`, `tool_use_id`",
                r#"{"role":"assistant","content":[{"type":"tool_use","id":"ID7","name":"f","input":{}}]}"#,
            ),
            DialectField::Image => At(
                "blocks `image`",
                r#"{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}}]}"#,
            ),
        },
        DialectKind::Gemini => match field {
            DialectField::Error => At(
                "`response.error`",
                r#"{"role":"user","parts":[{"functionResponse":{"id":"ID7","name":"f","response":{"error":"a"}}}]}"#,
            ),
            DialectField::Signature => At(
                "`thoughtSignature`",
                r#"{"role":"model","parts":[{"text":"b","thought":true,"thoughtSignature":"c"}]}"#,
            ),
            DialectField::CacheMark => Lacks("`cachedContent` is beside the messages"),
            DialectField::Id => At(
                "`functionCall.id`, `functionResponse.id`, both optional",
                r#"{"role":"model","parts":[{"functionCall":{"id":"ID7","name":"f","args":{}}}]}"#,
            ),
            DialectField::Image => At(
                "`inlineData`, `fileData`",
                r#"{"role":"user","parts":[{"inlineData":{"mimeType":"image/png","data":"AAAA"}}]}"#,
            ),
        },
        DialectKind::Bedrock => match field {
            DialectField::Error => At(
                "`toolResult.status`: `error`",
                r#"{"role":"user","content":[{"toolResult":{"toolUseId":"ID7","status":"error","content":[{"text":"a"}]}}]}"#,
            ),
            DialectField::Signature => At(
                "`reasoningText.signature`, `redactedContent`",
                r#"{"role":"assistant","content":[{"reasoningContent":{"reasoningText":{"text":"b","signature":"c"}}}]}"#,
            ),
            DialectField::CacheMark => At(
                "a block `cachePoint`",
                r#"{"role":"user","content":[{"text":"a"},{"cachePoint":{"type":"default"}}]}"#,
            ),
            DialectField::Id => At(
                "`toolUseId`",
                r#"{"role":"assistant","content":[{"toolUse":{"toolUseId":"ID7","name":"f","input":{}}}]}"#,
            ),
            DialectField::Image => At(
                "blocks `image`",
                r#"{"role":"user","content":[{"image":{"format":"png","source":{"bytes":"AAAA"}}}]}"#,
            ),
        },
        DialectKind::Ollama => match field {
            DialectField::Error => Lacks("only the text of the result says it"),
            DialectField::Signature => Lacks("`thinking` is plain text"),
            DialectField::CacheMark => Lacks("the server decides what it keeps"),
            DialectField::Id => At(
                "`tool_calls[].id`, `tool_call_id`, both optional",
                r#"{"role":"assistant","content":"","tool_calls":[{"id":"ID7","function":{"name":"f","arguments":{}}}]}"#,
            ),
            DialectField::Image => {
                At("`images`", r#"{"role":"user","content":"a","images":["iVBORw0KGgo="]}"#)
            }
        },
        DialectKind::ShareGpt => match field {
            DialectField::Error => Lacks("only the text of the response says it"),
            DialectField::Signature => Lacks("`<think>` is plain text"),
            DialectField::CacheMark => Lacks("no provider reads a row"),
            DialectField::Id => Lacks("responses pair with the calls by order"),
            DialectField::Image => Lacks("a turn is one text"),
        },
    }
}

fn has(field: DialectField, kind: DialectKind, message: &str, view: &EventView) -> bool {
    let is_own = |id: &Option<TextRef>| id.is_some_and(|id| id.decode(message.as_bytes()) == "ID7");
    match field {
        DialectField::Error => view.has_failed_result(),
        DialectField::Signature => {
            view.blocks.iter().any(|it| it.kind == BlockKind::Reasoning { bound: true })
        }
        DialectField::CacheMark => {
            let bytes = Bytes::from(message.to_owned());
            let bare = without_marks(&bytes);
            let same = identity(kind, &bytes) == identity(kind, &bare);
            bare != bytes && same && serde_json::from_slice::<serde_json::Value>(&bare).is_ok()
        }
        DialectField::Id => view.blocks.iter().any(|block| match &block.kind {
            BlockKind::Call { id, .. } | BlockKind::Result { id, .. } => is_own(id),
            _ => false,
        }),
        DialectField::Image => {
            let mut media = view.blocks.iter().flat_map(|block| &block.media);
            media.any(|media| media.kind == MediaKind::Image)
        }
    }
}

#[test]
fn each_field_of_a_dialect_is_read_where_the_table_says() {
    let mut read = 0;
    for kind in DialectKind::ALL {
        for field in DialectField::ALL {
            if let At(_, message) = cell(kind, field) {
                let view = kind.dialect().view(message.as_bytes());
                assert!(has(field, kind, message, &view), "{kind} {field:?}: {view:?}");
                // The message shows this field, and not all of them.
                let others = DialectField::ALL.iter().filter(|it| has(**it, kind, message, &view));
                assert!(others.count() <= 2, "{kind} {field:?}");
                read += 1;
            }
        }
    }
    assert!(read >= 24, "{read}");
}

/// The lines of the page between which the table is.
const BEGIN: &str = "<!-- begin of dialects -->\n";
const END: &str = "<!-- end of dialects -->\n";

fn table() -> String {
    let names = DialectField::ALL.map(DialectField::name);
    let mut out =
        format!("| dialect | {} |\n|{}\n", names.join(" | "), "---|".repeat(names.len() + 1));
    for kind in DialectKind::ALL {
        let cells = DialectField::ALL.map(|field| match cell(kind, field) {
            At(place, _) => place.to_owned(),
            Lacks(reason) => format!("– {reason}"),
        });
        out += &format!("| `{kind}` | {} |\n", cells.join(" | "));
    }
    out
}

#[test]
fn the_page_has_the_table_of_dialects() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/FORMATS.md");
    let page = std::fs::read_to_string(&path).unwrap();
    let (before, rest) = page.split_once(BEGIN).unwrap();
    let (_, after) = rest.split_once(END).unwrap();
    let wanted = format!("{before}{BEGIN}\n{}\n{END}{after}", table());
    if std::env::var_os("MIDFOLD_WRITE_DOCS").is_some() {
        std::fs::write(&path, &wanted).unwrap();
        return;
    }
    assert!(
        page == wanted,
        "docs/FORMATS.md is stale; MIDFOLD_WRITE_DOCS=1 cargo test -p midfold-formats dialect_columns writes it anew"
    );
}
