//! A scripted model that takes a line of a fold's recap for the content of a file that it writes.

use serde_json::Value;

use super::request_parts::AskedParts;
use super::shell::NOT_FOUND;

/// When the model copies a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopiedLines {
    /// Every so many steps, in a reply of its own before the call of the step.
    Before(u32),
    /// Every so many steps, in the same reply as the call of the step.
    Beside(u32),
    /// Before the first step with a recap, again and again until a client has run the call.
    Stubborn,
}

impl CopiedLines {
    /// Whether the call is in a reply of its own.
    pub(super) fn is_alone(self) -> bool {
        !matches!(self, Self::Beside(_))
    }

    /// The command with this step that writes a line of the recap. `None` where nothing is due, or where the request has
    /// no recap.
    pub(super) fn command(self, step: u32, request: &AskedParts) -> Option<String> {
        let file = self.file(step)?;
        let has = |item: &Value| {
            let text = item.to_string();
            text.contains(&file) && (self != Self::Stubborn || text.contains(NOT_FOUND))
        };
        if request.items.iter().any(has) {
            return None;
        }
        let mut lines = Vec::new();
        request.items.iter().for_each(|item| add_lines(item, &mut lines));
        let line = lines.iter().find(|line| is_of_recap(line))?;
        Some(format!("cat > {file} <<'END'\n{line}\nEND"))
    }

    /// The file that is written with this step.
    fn file(self, step: u32) -> Option<String> {
        match self {
            Self::Before(every) | Self::Beside(every) => {
                step.is_multiple_of(every.max(1)).then(|| format!("copied_{step}.txt"))
            }
            Self::Stubborn => Some("copied_again.txt".to_owned()),
        }
    }
}

/// Whether a recap tells of a call in this line.
fn is_of_recap(line: &str) -> bool {
    let numbered = line.strip_prefix('@').and_then(|rest| rest.split_once(' '));
    numbered.is_some_and(|(number, text)| {
        number.parse::<u32>().is_ok() && (text.starts_with("ran ") || text.starts_with("saw "))
    })
}

fn add_lines(value: &Value, lines: &mut Vec<String>) {
    match value {
        Value::String(text) => lines.extend(text.lines().map(str::to_owned)),
        Value::Array(all) => all.iter().for_each(|item| add_lines(item, lines)),
        Value::Object(all) => all.values().for_each(|item| add_lines(item, lines)),
        _ => {}
    }
}
