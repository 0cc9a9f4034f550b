//! Reads `context_management.edits` of a Messages request.

use std::ops::Range;

use midfold_core::jsonstr;

use super::AnthropicRefusal;
use crate::fields::ObjectFields;
use crate::scan;

/// The default trigger of `clear_tool_uses_20250919`, in input tokens.
const CLEAR_TRIGGER: u64 = 100_000;
/// The number of tool uses that it keeps by default.
const CLEAR_KEEP: u64 = 3;
/// The default trigger of `compact_20260112`, in input tokens.
const COMPACT_TRIGGER: u64 = 150_000;
/// The smallest trigger that is allowed, in input tokens.
const COMPACT_TRIGGER_MIN: u64 = 50_000;

/// The types of edits that are read here.
pub(super) const OURS: [&str; 3] =
    ["clear_tool_uses_20250919", "clear_thinking_20251015", "compact_20260112"];

/// One edit of the context.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ContextEdit {
    /// `clear_thinking_20251015`.
    ClearThinking(ClearThinking),
    /// `clear_tool_uses_20250919`.
    ClearToolUses(ClearToolUses),
    /// `compact_20260112`.
    Compact(CompactEdit),
    /// An edit of another type. It is left to the provider.
    Other(String),
}

/// Replaces old results by a placeholder, the oldest first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClearToolUses {
    /// The size of a prompt from which the edit acts.
    pub trigger: EditTrigger,
    /// The number of newest tool uses that stay.
    pub keep: u64,
    /// The fewest tokens that the edit has to remove. It does nothing where it would remove less.
    pub clear_at_least: Option<u64>,
    /// The tools whose uses stay.
    pub exclude_tools: Vec<String>,
    /// Whether calls lose their input too.
    pub clear_tool_inputs: ClearInputs,
}

/// The size of a prompt from which an edit acts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EditTrigger {
    /// The prompt has more tokens than this.
    InputTokens(u64),
    /// The prompt has more tool uses than this.
    ToolUses(u64),
}

/// The tools whose calls lose their input.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ClearInputs {
    /// No tool.
    #[default]
    None,
    /// Every tool.
    All,
    /// Only these tools.
    Of(Vec<String>),
}

/// Removes old thinking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClearThinking {
    /// The thinking that stays.
    pub keep: KeepThinking,
}

/// The thinking that stays.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum KeepThinking {
    /// As much as the model keeps by default.
    #[default]
    ModelDefault,
    /// All thinking.
    All,
    /// That of the newest assistant turns: one turn or more.
    Turns(u64),
}

/// Summarises the whole prompt. The answer continues after the summary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompactEdit {
    /// The number of input tokens above which it acts, 50,000 or more.
    pub trigger: u64,
    /// Whether the answer ends after the summary.
    pub pause_after_compaction: bool,
    /// A prompt in place of the default one.
    pub instructions: Option<String>,
}

/// Reads the edits, in their order.
pub(super) fn read(
    request: &[u8],
    management: Range<usize>,
) -> Result<Vec<ContextEdit>, AnthropicRefusal> {
    let fields = ObjectFields::of(request, management);
    let Some(edits) = present(&fields, "edits") else { return Ok(Vec::new()) };
    if request.get(edits.start) != Some(&b'[') {
        return Err(AnthropicRefusal::invalid("context_management.edits: must be a list of edits"));
    }
    let mut parsed = Vec::new();
    for (at, edit) in scan::elements(request, edits).enumerate() {
        let place = EditPlace { at, fields: ObjectFields::of(request, edit), request };
        let edit = place.edit()?;
        if at > 0 && matches!(edit, ContextEdit::ClearThinking(_)) {
            return Err(place.refuse("clear_thinking_20251015 must be the first edit"));
        }
        parsed.push(edit);
    }
    Ok(parsed)
}

/// The range of the value. `None` where it is missing or `null`.
pub(super) fn present(fields: &ObjectFields<'_>, name: &str) -> Option<Range<usize>> {
    fields.get(name).filter(|_| fields.raw(name) != Some(b"null"))
}

/// One edit with its index, which errors name.
struct EditPlace<'a> {
    at: usize,
    request: &'a [u8],
    fields: ObjectFields<'a>,
}

impl EditPlace<'_> {
    fn refuse(&self, reason: &str) -> AnthropicRefusal {
        AnthropicRefusal::invalid(format!("context_management.edits.{}: {reason}", self.at))
    }

    fn edit(&self) -> Result<ContextEdit, AnthropicRefusal> {
        match self.fields.text("type").as_deref() {
            Some("clear_tool_uses_20250919") => {
                self.clear_tool_uses().map(ContextEdit::ClearToolUses)
            }
            Some("clear_thinking_20251015") => {
                Ok(ContextEdit::ClearThinking(ClearThinking { keep: self.keep_thinking()? }))
            }
            Some("compact_20260112") => self.compact().map(ContextEdit::Compact),
            Some(other) => Ok(ContextEdit::Other(other.to_owned())),
            None => Err(self.refuse("type: is required")),
        }
    }

    fn clear_tool_uses(&self) -> Result<ClearToolUses, AnthropicRefusal> {
        let trigger = self.measure("trigger", &["input_tokens", "tool_uses"])?;
        let trigger = match trigger {
            Some(("tool_uses", value)) => EditTrigger::ToolUses(value),
            Some((_, value)) => EditTrigger::InputTokens(value),
            None => EditTrigger::InputTokens(CLEAR_TRIGGER),
        };
        let keep = self.measure("keep", &["tool_uses"])?.map_or(CLEAR_KEEP, |(_, value)| value);
        let least = self.measure("clear_at_least", &["input_tokens"])?;
        let clear_tool_inputs = match self.fields.raw("clear_tool_inputs") {
            None | Some(b"null" | b"false") => ClearInputs::None,
            Some(b"true") => ClearInputs::All,
            Some(_) => ClearInputs::Of(self.names("clear_tool_inputs")?),
        };
        Ok(ClearToolUses {
            trigger,
            keep,
            clear_at_least: least.map(|(_, value)| value),
            exclude_tools: self.names("exclude_tools")?,
            clear_tool_inputs,
        })
    }

    fn keep_thinking(&self) -> Result<KeepThinking, AnthropicRefusal> {
        if present(&self.fields, "keep").is_none() {
            return Ok(KeepThinking::ModelDefault);
        }
        let keep = self.fields.inner("keep");
        if self.fields.is("keep", "all") || keep.is("type", "all") {
            return Ok(KeepThinking::All);
        }
        match self.measure("keep", &["thinking_turns"])? {
            Some((_, turns)) if turns > 0 => Ok(KeepThinking::Turns(turns)),
            _ => Err(self.refuse("keep.value must be at least 1")),
        }
    }

    fn compact(&self) -> Result<CompactEdit, AnthropicRefusal> {
        let trigger = self.measure("trigger", &["input_tokens"])?;
        let trigger = trigger.map_or(COMPACT_TRIGGER, |(_, value)| value);
        if trigger < COMPACT_TRIGGER_MIN {
            return Err(self.refuse("trigger.value must be at least 50000"));
        }
        let pause = self.fields.raw("pause_after_compaction");
        if !matches!(pause, None | Some(b"true" | b"false" | b"null")) {
            return Err(self.refuse("pause_after_compaction: must be true or false"));
        }
        Ok(CompactEdit {
            trigger,
            pause_after_compaction: pause == Some(b"true"),
            instructions: text(&self.fields, "instructions")
                .map_err(|()| self.refuse("instructions: must be a string"))?,
        })
    }

    /// Reads `{"type": one of the kinds, "value": a number}`. `None` where the member is missing or `null`.
    fn measure<'k>(
        &self,
        name: &str,
        kinds: &[&'k str],
    ) -> Result<Option<(&'k str, u64)>, AnthropicRefusal> {
        if present(&self.fields, name).is_none() {
            return Ok(None);
        }
        let inner = self.fields.inner(name);
        let kind = inner.text("type").unwrap_or_default();
        let Some(kind) = kinds.iter().find(|known| **known == kind) else {
            let kinds = kinds.join("' or '");
            return Err(self.refuse(&format!("{name}.type must be '{kinds}'")));
        };
        let value = inner.count("value");
        let value =
            value.ok_or_else(|| self.refuse(&format!("{name}.value must be a whole number")))?;
        Ok(Some((kind, value)))
    }

    /// Reads a list of names. Empty where the member is missing or `null`.
    fn names(&self, name: &str) -> Result<Vec<String>, AnthropicRefusal> {
        let Some(at) = present(&self.fields, name) else { return Ok(Vec::new()) };
        let refuse = || self.refuse(&format!("{name}: must be a list of tool names"));
        let list = self.fields.array(name).filter(|list| *list == at).ok_or_else(refuse)?;
        let name = |at: Range<usize>| match &self.request[at] {
            token @ [b'"', ..] => Ok(jsonstr::decode(token).into_owned()),
            _ => Err(refuse()),
        };
        scan::elements(self.request, list).map(name).collect()
    }
}

/// Reads a text that may be missing or `null`. `Err` for any other value.
pub(super) fn text(fields: &ObjectFields<'_>, name: &str) -> Result<Option<String>, ()> {
    match (present(fields, name), fields.text(name)) {
        (None, _) => Ok(None),
        (Some(_), Some(text)) => Ok(Some(text.into_owned())),
        (Some(_), None) => Err(()),
    }
}
