//! Documents in messages and in results: what is sent as text is read and counted as text, what is packed by
//! its pages.

use midfold_core::{BlockKind, EventView, MediaExtent, MediaRef};
use midfold_formats::DialectKind;
use serde_json::{Value, json};

/// `%PDF-1.4` and a page tree of three pages.
const PDF: &str = "JVBERi0xLjQKMiAwIG9iaiA8PC9UeXBlL1BhZ2VzL0NvdW50IDM+PiBlbmRvYmo\
                   KJSB0aGlzIGlzIGEgY29tbWVudCBiZWhpbmQgdGhlIHRyZWU=";

fn view(kind: DialectKind, message: &Value) -> (EventView, String) {
    let text = message.to_string();
    (kind.dialect().view(text.as_bytes()), text)
}

fn media(kind: DialectKind, message: &Value) -> MediaRef {
    let (view, text) = view(kind, message);
    let found: Vec<_> = view.blocks.iter().flat_map(|block| &block.media).collect();
    assert_eq!(found.len(), 1, "{kind} {text}");
    *found[0]
}

#[test]
fn a_document_of_text_is_read() {
    let text = "The contract ends in May.";
    let sources = [
        json!({"type": "text", "media_type": "text/plain", "data": text}),
        json!({"type": "content", "content": [{"type": "text", "text": text}]}),
        json!({"type": "content", "content": text}),
    ];
    for source in sources {
        let document = json!({"type": "document", "source": source});
        let beside =
            json!({"role": "user", "content": [document, {"type": "text", "text": "And?"}]});
        let inside = json!({"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "t", "content": [document]}]});
        for message in [beside, inside] {
            let (view, bytes) = view(DialectKind::Anthropic, &message);
            let block = &view.blocks[0];
            assert_eq!(block.text(bytes.as_bytes()), text, "{bytes}");
            assert_eq!(block.media[0].extent, MediaExtent::Read, "{bytes}");
        }
        // What a document says is nobody's words.
        let message = json!({"role": "user", "content": [document]});
        let (view, bytes) = view(DialectKind::Anthropic, &message);
        assert_eq!(view.text_of(bytes.as_bytes(), |kind| *kind == BlockKind::Text), "");
    }
}

#[test]
fn a_packed_document_tells_its_pages_in_every_dialect() {
    let url = format!("data:application/pdf;base64,{PDF}");
    let source = json!({"type": "base64", "media_type": "application/pdf", "data": PDF});
    let cases = [
        (
            DialectKind::Anthropic,
            json!({"role": "user", "content": [{"type": "document", "source": source}]}),
        ),
        (
            DialectKind::Anthropic,
            json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t",
                "content": [{"type": "document", "source": source}]}]}),
        ),
        (
            DialectKind::OpenAiChat,
            json!({"role": "user", "content": [{"type": "file", "file": {"filename": "a.pdf", "file_data": url}}]}),
        ),
        (
            DialectKind::OpenAiResponses,
            json!({"role": "user", "content": [{"type": "input_file", "filename": "a.pdf", "file_data": url}]}),
        ),
        (
            DialectKind::Gemini,
            json!({"role": "user", "parts": [{"inlineData": {"mimeType": "application/pdf", "data": PDF}}]}),
        ),
        (
            DialectKind::Bedrock,
            json!({"role": "user", "content": [{"document": {"name": "a", "format": "pdf", "source": {"bytes": PDF}}}]}),
        ),
    ];
    for (kind, message) in cases {
        assert_eq!(media(kind, &message).extent, MediaExtent::Pages(3), "{kind} {message}");
    }
}

#[test]
fn a_packed_text_tells_its_bytes() {
    let base64 = "SXQgc2F5cyBsaXR0bGUu".repeat(8);
    let message = json!({"role": "user", "parts": [{"inlineData": {"mimeType": "text/plain", "data": base64}}]});
    assert!(matches!(media(DialectKind::Gemini, &message).extent, MediaExtent::Text(120)));
    let held = json!({"role": "user", "content": [{"type": "document", "source": {"type": "file", "file_id": "f"}}]});
    assert_eq!(media(DialectKind::Anthropic, &held).extent, MediaExtent::Unknown);
}
