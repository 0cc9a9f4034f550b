//! A model that looks up what was folded away, where it was given a tool for that which no client knows.

use serde_json::json;

use super::reply::{FactUse, ReplyCall};
use super::request_parts::{AskedParts, OfferedTool};
use super::shell::line;

/// The tool.
const TOOL: &str = "midfold_recall";
/// The line of a part that is looked up: nobody repeats it.
const LINE: u32 = 5;
/// What the part of such a line is above its step.
const LOOKED_UP: u32 = 20_000;

/// How the model looks something up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LookUps {
    /// Every so many steps, before the call of the step.
    Before(u32),
    /// Every so many steps, beside the call of the step.
    Beside(u32),
    /// As long as it has the tool.
    Endless,
}

impl LookUps {
    /// The step whose output is looked up for this one: an early one. Each is looked up once.
    fn part(self, step: u32) -> Option<u32> {
        let (Self::Before(every) | Self::Beside(every)) = self else { return Some(1) };
        step.is_multiple_of(every.max(1)).then(|| step / every.max(1))
    }

    /// The call with which something is looked up for this step, where that was not done yet; and whether the step
    /// waits for it.
    pub(super) fn call(
        self,
        step: u32,
        asked: &AskedParts,
        tools: &[OfferedTool],
    ) -> Option<(ReplyCall, bool)> {
        let part = self.part(step)?;
        let is_done = self != Self::Endless && is_asked(asked, part);
        if is_done || !tools.iter().any(|tool| tool.name == TOOL) {
            return None;
        }
        let arguments = json!({"query": name(part)});
        let call = ReplyCall { name: TOOL.to_owned(), arguments, custom: false };
        Some((call, !matches!(self, Self::Beside(_))))
    }

    /// Whether what was looked up for this step, or beside the one before, is there.
    pub(super) fn uses(self, step: u32, asked: &AskedParts, read: &str) -> Option<FactUse> {
        let at = if matches!(self, Self::Beside(_)) { step.checked_sub(1)? } else { step };
        let part = self.part(at).filter(|part| is_asked(asked, *part))?;
        Some(FactUse { step, part: part + LOOKED_UP, found: read.contains(&line(part, LINE)) })
    }
}

fn name(part: u32) -> String {
    let line = line(part, LINE);
    line.split(':').next().unwrap_or_default().to_owned()
}

/// Whether a call asks for this part: in an output a colon follows the name.
fn is_asked(asked: &AskedParts, part: u32) -> bool {
    let name = name(part);
    let ends = [format!("{name}\""), format!("{name}\\")];
    asked.items.iter().any(|item| {
        let text = item.to_string();
        text.contains(TOOL) && ends.iter().any(|end| text.contains(end))
    })
}
