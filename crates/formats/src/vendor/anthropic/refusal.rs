//! Errors in Anthropic's shape, with the codes for which its clients raise typed exceptions.

use crate::vendor::write::ObjectWriter;

/// The `error.details.error_code` of a request that compaction refuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ErrorCode {
    /// Other content is in front of a signed block.
    BlockMisplaced,
    /// There is more than one block with content, and one of them is signed.
    BlockAmbiguous,
    /// The signature does not verify.
    SignatureInvalid,
    /// The block is not the one that was signed.
    ContentMismatch,
    /// The tools are not those that were signed.
    ToolChangesMismatch,
    /// There is no message to summarise.
    NothingToSummarize,
    /// The last assistant turn is not finished.
    IncompleteTurn,
    /// There are more references to tools than a summary can hold.
    TooManyToolReferences,
    /// The summary could not be made now; a later attempt may succeed.
    Unavailable,
}

impl ErrorCode {
    /// All codes.
    pub const ALL: [Self; 9] = [
        Self::BlockMisplaced,
        Self::BlockAmbiguous,
        Self::SignatureInvalid,
        Self::ContentMismatch,
        Self::ToolChangesMismatch,
        Self::NothingToSummarize,
        Self::IncompleteTurn,
        Self::TooManyToolReferences,
        Self::Unavailable,
    ];

    /// The code on the wire.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::BlockMisplaced => "compaction_block_misplaced",
            Self::BlockAmbiguous => "compaction_block_ambiguous",
            Self::SignatureInvalid => "compaction_signature_invalid",
            Self::ContentMismatch => "compaction_content_mismatch",
            Self::ToolChangesMismatch => "compaction_tool_changes_mismatch",
            Self::NothingToSummarize => "compaction_nothing_to_summarize",
            Self::IncompleteTurn => "compaction_incomplete_turn",
            Self::TooManyToolReferences => "compaction_too_many_tool_references",
            Self::Unavailable => "compaction_unavailable",
        }
    }
}

/// The refusal of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnthropicRefusal {
    /// The code, where the vendor has one.
    pub code: Option<ErrorCode>,
    /// The fault, its place in the request, and the remedy.
    pub message: String,
}

impl AnthropicRefusal {
    /// The refusal of a request that is not valid.
    #[must_use]
    pub fn invalid(message: impl Into<String>) -> Self {
        Self { code: None, message: message.into() }
    }

    /// The refusal of a request, with a code.
    #[must_use]
    pub fn of(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code: Some(code), message: message.into() }
    }

    /// The HTTP status: 400, or 529 where a later attempt may succeed.
    #[must_use]
    pub fn status(&self) -> u16 {
        if self.code == Some(ErrorCode::Unavailable) { 529 } else { 400 }
    }

    /// The body of the response.
    ///
    /// ```
    /// use midfold_formats::vendor::anthropic::{ErrorCode, AnthropicRefusal};
    /// let refusal = AnthropicRefusal::of(ErrorCode::SignatureInvalid, "no");
    /// assert_eq!(
    ///     refusal.body(Some("req_1")),
    ///     br#"{"type":"error","error":{"type":"invalid_request_error","message":"no","details":{"error_code":"compaction_signature_invalid"}},"request_id":"req_1"}"#
    /// );
    /// ```
    #[must_use]
    pub fn body(&self, request_id: Option<&str>) -> Vec<u8> {
        let kind = if self.status() == 529 { "overloaded_error" } else { "invalid_request_error" };
        let mut error = ObjectWriter::of(kind).text("message", &self.message);
        if let Some(code) = self.code {
            error =
                error.raw("details", &ObjectWriter::new().text("error_code", code.name()).finish());
        }
        ObjectWriter::of("error")
            .raw("error", &error.finish())
            .text_if("request_id", request_id)
            .finish()
    }
}

impl std::fmt::Display for AnthropicRefusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for AnthropicRefusal {}
