//! A scripted model that looks up folded messages. It does so if a request has the proxy's recall tool, which no client
//! knows.

use serde_json::json;

use super::reply::{FactUse, ReplyCall};
use super::request_parts::{AskedParts, OfferedTool};
use super::shell::line;

/// The name of the recall tool.
const TOOL: &str = "midfold_recall";
/// The number of the line that is looked up in a step's output. The model never repeats this line, so only a look-up
/// can bring it back.
const LINE: u32 = 5;
/// Added to a step's number to name the fact in that line, so that it differs from other facts.
const LOOKED_UP: u32 = 20_000;

/// When the model looks something up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LookUps {
    /// Every so many steps, in a reply of its own before the call of the step.
    Before(u32),
    /// Every so many steps, in the same reply as the call of the step.
    Beside(u32),
    /// In every reply, as long as requests have the tool.
    Endless,
}

impl LookUps {
    /// The earlier step whose output is looked up with this step. Each is looked up once. `None` where nothing is due.
    fn part(self, step: u32) -> Option<u32> {
        let (Self::Before(every) | Self::Beside(every)) = self else { return Some(1) };
        step.is_multiple_of(every.max(1)).then(|| step / every.max(1))
    }

    /// The call that looks something up with this step, and whether the step waits for its result. `None` if nothing is
    /// due, it was looked up before, or the tool is missing.
    pub(super) fn call(
        self,
        step: u32,
        request: &AskedParts,
        tools: &[OfferedTool],
    ) -> Option<(ReplyCall, bool)> {
        let part = self.part(step)?;
        let is_done = self != Self::Endless && is_asked(request, part);
        if is_done || !tools.iter().any(|tool| tool.name == TOOL) {
            return None;
        }
        let arguments = json!({"query": name(part)});
        let call = ReplyCall { name: TOOL.to_owned(), arguments, custom: false };
        Some((call, !matches!(self, Self::Beside(_))))
    }

    /// Whether the prompt holds the line that was looked up for this step (or beside the step before). `None` where
    /// nothing was.
    pub(super) fn uses(self, step: u32, request: &AskedParts, read: &str) -> Option<FactUse> {
        let at = if matches!(self, Self::Beside(_)) { step.checked_sub(1)? } else { step };
        let part = self.part(at).filter(|part| is_asked(request, *part))?;
        Some(FactUse { step, part: part + LOOKED_UP, is_found: read.contains(&line(part, LINE)) })
    }
}

fn name(part: u32) -> String {
    let line = line(part, LINE);
    line.split(':').next().unwrap_or_default().to_owned()
}

/// Whether a call of the tool asks for this part. In an output a colon follows the name, so only a name at the end of a
/// string counts.
fn is_asked(request: &AskedParts, part: u32) -> bool {
    let name = name(part);
    let ends = [format!("{name}\""), format!("{name}\\")];
    request.items.iter().any(|item| {
        let text = item.to_string();
        text.contains(TOOL) && ends.iter().any(|end| text.contains(end))
    })
}
