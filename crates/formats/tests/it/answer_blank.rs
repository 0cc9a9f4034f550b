//! Answers of each dialect that say nothing: they are no reply, and one that stopped at the window may be mended.

use midfold_formats::DialectKind::{self, Anthropic, Bedrock, OpenAiChat};
use midfold_formats::answer::{AnswerFacts, AnswerFraming, AnswerTee, PassVerdict};
use midfold_formats::overflow::Diagnosis;

const OVERFLOW: PassVerdict =
    PassVerdict::Overflow(Diagnosis::Overflow { have: None, limit: None });

/// The verdict on an answer, and its facts.
fn read(kind: DialectKind, framing: AnswerFraming, body: &str) -> (PassVerdict, AnswerFacts) {
    let mut tee = AnswerTee::new(kind, framing);
    tee.push(body.as_bytes());
    (tee.verdict(), tee.finish())
}

#[test]
fn a_list_of_blanks_is_no_reply() {
    for (kind, empty, full) in [
        (
            Anthropic,
            r#"{"type":"message","content":¶,"stop_reason":"model_context_window_exceeded"}"#,
            r#"[{"type":"text","text":"a"}]"#,
        ),
        (
            Bedrock,
            r#"{"output":{"message":{"role":"assistant","content":¶}},"stopReason":"model_context_window_exceeded"}"#,
            r#"[{"text":"a"}]"#,
        ),
    ] {
        for list in ["[]", "[ ]", "[\n ]"] {
            let (verdict, facts) = read(kind, AnswerFraming::Json, &empty.replace('¶', list));
            assert_eq!((verdict, facts.output.len()), (OVERFLOW, 0), "{kind:?} {list:?}");
        }
        let (verdict, facts) = read(kind, AnswerFraming::Json, &empty.replace('¶', full));
        assert_eq!((verdict, facts.output.len()), (PassVerdict::Fine, 1), "{kind:?}");
    }
}

#[test]
fn a_choice_without_words_that_stopped_at_the_window_may_be_mended() {
    let choice = |part: &str| {
        format!(r#"{{"choices":[{{{part},"finish_reason":"model_context_window_exceeded"}}]}}"#)
    };
    for part in [
        r#""message":{"role":"assistant","content":"","tool_calls":[ ]}"#,
        r#""delta":{"role":"assistant","content":null,"function_call":{ }}"#,
    ] {
        assert_eq!(read(OpenAiChat, AnswerFraming::Json, &choice(part)).0, OVERFLOW, "{part}");
    }
    let part = r#""message":{"role":"assistant","content":"a"}"#;
    assert_eq!(read(OpenAiChat, AnswerFraming::Json, &choice(part)).0, PassVerdict::Fine);
}

#[test]
fn a_text_block_that_was_cut_off_before_its_first_word_is_not_sent() {
    let start = |text: &str| {
        format!(
            "data: {{\"type\":\"content_block_start\",\"index\":0,\"content_block\":{{\"type\":\"text\",\"text\":\"{text}\"}}}}\n\n"
        )
    };
    let delta = |text: &str| {
        format!(
            "data: {{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{{\"type\":\"text_delta\",\"text\":\"{text}\"}}}}\n\n"
        )
    };
    for blank in [start(""), start("\\n"), start("") + &delta(" ") + &delta("\\n")] {
        assert_eq!(read(Anthropic, AnswerFraming::Sse, &blank).1.output.len(), 0, "{blank}");
    }
    for said in [start("a"), start("") + &delta("\\n") + &delta("a")] {
        assert_eq!(read(Anthropic, AnswerFraming::Sse, &said).1.output.len(), 1, "{said}");
    }
}
