//! Finds the output of a command in what a harness writes around it: JSON with the exit code beside the output, the
//! results of several calls of one script, or fields such as `Output: `.

use std::borrow::Cow;

use super::exit;
use crate::tools::args::CallArguments;

/// The output of a command, and what is beside it.
pub(super) struct ResultBody<'a> {
    /// The output; the whole text where nothing is around it.
    pub text: Cow<'a, str>,
    /// The exit code, where a field has it. Of several results, the last that failed counts.
    pub exit: Option<i64>,
    /// The id of the session in which the command ran, and still runs where there is no exit code.
    pub session: Option<String>,
}

/// A longer text is content, and no result that a harness wrote, in bytes.
const LONGEST: usize = 1 << 20;
/// The lines that a harness writes above the results of a script.
const HEADS: [&str; 5] = ["Script ", "Wall time", "Output:", "Chunk ID:", "Original token count:"];
/// The fields that hold an output in a result that is no JSON.
const FIELDS: [&str; 2] = ["Output: ", "Stdout: "];

impl<'a> ResultBody<'a> {
    /// Finds the output in the text of a result.
    pub(super) fn of(text: &'a str) -> Self {
        let inner = below_head(text);
        if inner.len() <= LONGEST
            && inner.starts_with(['{', '['])
            && inner.ends_with(['}', ']'])
            && let Some(body) = Self::json(text, inner)
        {
            return body;
        }
        let is_fields = text.starts_with("Command: ") || text.starts_with(FIELDS[0]);
        let start =
            FIELDS.iter().filter(|_| is_fields).find_map(|field| match text.find(field)? {
                0 => Some(field.len()),
                at => (text.as_bytes()[at - 1] == b'\n').then_some(at + field.len()),
            });
        Self { text: Cow::Borrowed(&text[start.unwrap_or(0)..]), exit: None, session: None }
    }

    /// Reads a JSON result such as `{"output": "…", "exit_code": 0}`, a list of them, or several in a row. `None`
    /// where it is no result of a command.
    fn json(text: &'a str, inner: &'a str) -> Option<Self> {
        let code = exit::in_json(inner);
        // JSON over several lines may be a file that the command shows, unless it has an exit code.
        let spread = inner.starts_with("{\n") || inner.starts_with("[\n");
        if spread && code.is_none() {
            return None;
        }
        // The reader takes several values in a row for a list, so that one form serves for all.
        let listed = format!("{{\"all\":[{inner}]}}");
        let fields = CallArguments::read(&listed);
        let named = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
        let texts = |names: &[&str]| fields.all(&named(names));
        let ids = named(&["session_id", "sessionId", "cell_id"]);
        let session = fields.number(&ids).map(|id| id.to_string()).or_else(|| fields.first(&ids));
        let outputs = texts(&["output", "stdout"]);
        if outputs.is_empty() && code.is_none() && session.is_none() && inner.starts_with('[') {
            return None;
        }
        let parts = [outputs, texts(&["stderr"]), texts(&["error"])].concat();
        let joined =
            parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n");
        // An empty output is an output, too, where an exit code says that this is the result of a command.
        let is_empty_output =
            fields.has(&named(&["output", "stdout"])) && (code.is_some() || session.is_some());
        let text = match joined.is_empty() && !is_empty_output {
            true => Cow::Borrowed(text),
            false => Cow::Owned(joined),
        };
        Some(Self { text, exit: code, session })
    }
}

/// The text below the lines that a harness writes above results.
fn below_head(text: &str) -> &str {
    let mut rest = text.trim();
    while HEADS.iter().any(|head| rest.starts_with(head)) {
        rest = rest.split_once('\n').map_or("", |(_, below)| below.trim_start());
    }
    rest
}

/// The output alone, where a harness writes lines above it that end in `Output:`.
pub(super) fn below_output(text: &str) -> &str {
    const ABOVE: usize = 8;
    let start = text.trim_start();
    let is_head = start.starts_with("Process ") || HEADS.iter().any(|head| start.starts_with(head));
    let mut lines = text.split_inclusive('\n').take(ABOVE).scan(0, |at, line| {
        *at += line.len();
        Some((*at, line))
    });
    let ends = |(_, line): &(usize, &str)| line.trim_end() == "Output:";
    let end = lines.find(ends).filter(|_| is_head).map_or(0, |(end, _)| end);
    &text[end..]
}
