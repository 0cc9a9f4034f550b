//! Edits hooks in the settings file of a client. Text is inserted and removed at byte positions, so that the rest of
//! the file keeps its bytes.

use std::ops::Range;

use midfold::formats::scan::{self, Member};
use midfold::{Failure, FailureArea};
use serde_json::{Value, json};

/// A hook of midfold in the settings file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookSetting {
    /// The event that calls it.
    pub event: &'static str,
    /// Restricts the hook to some events of that kind: `compact` means starts after a compaction. `None` for all.
    pub matcher: Option<&'static str>,
    /// The command that the client runs.
    pub command: String,
    /// Seconds after which the client ends it.
    pub timeout: u32,
}

/// The change that a settings file needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SettingsChange {
    /// No change: the file is as it should be.
    None,
    /// The file gets this text.
    Text(String),
    /// The file is removed: it holds nothing but the hooks that were taken out.
    Remove,
}

/// Puts hooks into the text of a settings file, `None` where there is no file. Hooks of midfold that differ from these
/// are replaced.
///
/// # Errors
/// When the text is no JSON, or its hooks are no lists.
pub fn install(text: Option<&str>, hooks: &[HookSetting]) -> Result<SettingsChange, Failure> {
    let Some(text) = text.filter(|text| !text.trim().is_empty()) else {
        return Ok(SettingsChange::Text(fresh(hooks)));
    };
    check(text)?;
    let present = installed(text)?;
    // Further hooks of midfold in the file are those of an earlier version, and would run as well.
    if hooks.iter().all(|hook| present.contains(hook)) && present.len() == hooks.len() {
        return Ok(SettingsChange::None);
    }
    let mut text = without(text)?;
    for hook in hooks {
        text = with(&text, hook)?;
    }
    Ok(SettingsChange::Text(text))
}

/// Takes out the hooks that [`install`] put in. A file that [`install`] made and nobody changed is removed.
///
/// # Errors
/// As [`install`].
pub fn uninstall(text: Option<&str>) -> Result<SettingsChange, Failure> {
    let Some(text) = text.filter(|text| !text.trim().is_empty()) else {
        return Ok(SettingsChange::None);
    };
    check(text)?;
    let present = installed(text)?;
    if present.is_empty() {
        return Ok(SettingsChange::None);
    }
    if text == fresh(&present) {
        return Ok(SettingsChange::Remove);
    }
    without(text).map(SettingsChange::Text)
}

/// The hooks of midfold in the text.
///
/// # Errors
/// As [`install`].
pub fn installed(text: &str) -> Result<Vec<HookSetting>, Failure> {
    let root: Value = serde_json::from_str(text).map_err(not_json)?;
    let mut hooks = Vec::new();
    for (event, mark) in EVENTS {
        for group in root["hooks"][event].as_array().into_iter().flatten() {
            let matcher = match group["matcher"].as_str() {
                None | Some("" | "*") => None,
                Some("compact") => Some("compact"),
                // A hook with another matcher is not equal to ours, so `install` replaces it.
                Some(_) => Some("other"),
            };
            for hook in group["hooks"].as_array().into_iter().flatten() {
                if let Some(command) = hook["command"].as_str().filter(|line| is_ours(line, mark)) {
                    let timeout =
                        hook["timeout"].as_u64().and_then(|seconds| u32::try_from(seconds).ok());
                    let timeout = timeout.unwrap_or(0);
                    hooks.push(HookSetting {
                        event,
                        matcher,
                        command: command.to_owned(),
                        timeout,
                    });
                }
            }
        }
    }
    Ok(hooks)
}

/// The events of midfold's hooks, each with the part of its command that identifies it.
const EVENTS: [(&str, &str); 2] =
    [("PreCompact", " hooks pre-compact"), ("SessionStart", " hooks session-start")];

/// Whether midfold runs this command, whatever folder the program is in.
fn is_ours(command: &str, mark: &str) -> bool {
    command.split_once(mark).is_some_and(|(program, _)| {
        let program = program.trim().trim_matches(['\'', '"']);
        let name = program.rsplit(['/', '\\']).next().unwrap_or(program);
        name.trim_end_matches(".exe") == "midfold"
    })
}

fn not_json(error: serde_json::Error) -> Failure {
    let (line, column) = (error.line(), error.column());
    let text = error.to_string();
    let reason = text.split(" at line ").next().unwrap_or("it cannot be read");
    Failure::new(FailureArea::Input, format!("not JSON at line {line}, column {column}: {reason}"))
        .hint("nothing was changed; correct it there, comments are not allowed")
}

fn check(text: &str) -> Result<(), Failure> {
    let root: Value = serde_json::from_str(text).map_err(not_json)?;
    let odd = |place: &str, wanted: &str| {
        Err(Failure::new(FailureArea::Input, format!("{place} is not {wanted}"))
            .hint("nothing was changed; correct it there"))
    };
    if !root.is_object() {
        return odd("the file", "an object of settings");
    }
    match root.get("hooks") {
        None => return Ok(()),
        Some(hooks) if hooks.is_object() => {}
        Some(_) => return odd("`hooks`", "an object"),
    }
    for (event, _) in EVENTS {
        if root["hooks"].get(event).is_some_and(|list| !list.is_array()) {
            return odd(&format!("`hooks.{event}`"), "a list");
        }
    }
    Ok(())
}

/// The entry for a hook in the list of its event.
fn group(hook: &HookSetting) -> Value {
    let command = json!({ "type": "command", "command": hook.command, "timeout": hook.timeout });
    match hook.matcher {
        Some(matcher) => json!({ "matcher": matcher, "hooks": [command] }),
        None => json!({ "hooks": [command] }),
    }
}

/// The text of a file with only these hooks.
fn fresh(hooks: &[HookSetting]) -> String {
    let mut text = "{\n}\n".to_owned();
    for hook in hooks {
        text = with(&text, hook).unwrap_or(text);
    }
    text
}

/// The text with one more hook. The objects and the list around it are added where they are missing.
fn with(text: &str, hook: &HookSetting) -> Result<String, Failure> {
    let bytes = text.as_bytes();
    let style = FileIndent::of(text);
    let Some(root) = scan::value(bytes, 0) else { return check(text).map(|()| text.to_owned()) };
    let Some(hooks) = scan::get(bytes, root.clone(), "hooks") else {
        let value = json!({ hook.event: [group(hook)] });
        return Ok(add(text, &root, Some("hooks"), &value, style, 1));
    };
    let Some(list) = scan::get(bytes, hooks.clone(), hook.event) else {
        return Ok(add(text, &hooks, Some(hook.event), &json!([group(hook)]), style, 2));
    };
    Ok(add(text, &list, None, &group(hook), style, 3))
}

/// Adds a value after the last one of an object (with `key`) or a list.
fn add(
    text: &str,
    inside: &Range<usize>,
    key: Option<&str>,
    value: &Value,
    style: FileIndent<'_>,
    depth: usize,
) -> String {
    let bytes = text.as_bytes();
    let last = match key {
        Some(_) => scan::members(bytes, inside.clone()).map(|member| member.value.end).last(),
        None => scan::elements(bytes, inside.clone()).map(|element| element.end).last(),
    };
    let key = key.map_or(String::new(), |key| format!("{}:{}", json!(key), style.space()));
    let added = format!("{}{key}{}", style.line(depth), style.text(value, depth));
    match last {
        Some(end) => format!("{},{added}{}", &text[..end], &text[end..]),
        None => {
            let (open, close) = (inside.start + 1, inside.end - 1);
            format!("{}{added}{}{}", &text[..open], style.line(depth - 1), &text[close..])
        }
    }
}

/// The text without the hooks of midfold, and without the lists and objects that become empty.
fn without(text: &str) -> Result<String, Failure> {
    let mut text = text.to_owned();
    for (event, mark) in EVENTS {
        while let Some(range) = first(&text, event, mark) {
            text.replace_range(range, "");
        }
    }
    check(&text)?;
    Ok(text)
}

/// The bytes to remove to take out the first hook of midfold for an event. `None` where there is no such hook.
fn first(text: &str, event: &str, mark: &str) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let root = scan::value(bytes, 0)?;
    let all: Vec<Member> = scan::members(bytes, root.clone()).collect();
    // Of keys that occur twice the last one counts, as for JSON parsers.
    let hooks_at = all.iter().rposition(|member| member.is(bytes, "hooks"))?;
    let events: Vec<Member> = scan::members(bytes, all[hooks_at].value.clone()).collect();
    let event_at = events.iter().rposition(|member| member.is(bytes, event))?;
    let groups: Vec<Range<usize>> = scan::elements(bytes, events[event_at].value.clone()).collect();
    let (group_at, hook_at, commands) = groups.iter().enumerate().find_map(|(at, group)| {
        let list = scan::get(bytes, group.clone(), "hooks")?;
        let commands: Vec<Range<usize>> = scan::elements(bytes, list).collect();
        let own = commands.iter().position(|hook| {
            let value: Value = serde_json::from_slice(&bytes[hook.clone()]).unwrap_or_default();
            value["command"].as_str().is_some_and(|command| is_ours(command, mark))
        })?;
        Some((at, own, commands))
    })?;
    // The removed range is the largest part that holds nothing but this hook, so that no empty list or object is left.
    if commands.len() > 1 {
        return Some(cut(bytes, &commands, hook_at));
    }
    if groups.len() > 1 {
        return Some(cut(bytes, &groups, group_at));
    }
    let whole = |members: &[Member]| members.iter().map(Member::whole).collect::<Vec<_>>();
    match events.len() {
        1 => Some(cut(bytes, &whole(&all), hooks_at)),
        _ => Some(cut(bytes, &whole(&events), event_at)),
    }
}

/// The range of one of several values, together with the comma before or after it. For the only value it includes the
/// space around it.
fn cut(bytes: &[u8], all: &[Range<usize>], at: usize) -> Range<usize> {
    let own = all[at].clone();
    match (at.checked_sub(1).and_then(|before| all.get(before)), all.get(at + 1)) {
        (Some(before), _) => before.end..own.end,
        (None, Some(next)) => own.start..next.start,
        (None, None) => {
            let space = |byte: &&u8| byte.is_ascii_whitespace();
            let before = bytes[..own.start].iter().rev().take_while(space).count();
            let behind = bytes[own.end..].iter().take_while(space).count();
            own.start - before..own.end + behind
        }
    }
}

/// The style in which the file is written: its step of indentation and its line ending. `step` is `None` where the file
/// is a single line.
#[derive(Clone, Copy)]
struct FileIndent<'a> {
    step: Option<&'a str>,
    end: &'a str,
}

impl<'a> FileIndent<'a> {
    fn of(text: &'a str) -> Self {
        let end = if text.contains("\r\n") { "\r\n" } else { "\n" };
        let inside = text.trim_end();
        let Some(at) = inside.find('\n') else { return Self { step: None, end } };
        let line = &inside[at + 1..];
        let space = &line[..line.len() - line.trim_start_matches([' ', '\t']).len()];
        Self { step: Some(if space.is_empty() { "  " } else { space }), end }
    }

    fn line(self, depth: usize) -> String {
        self.step.map_or(String::new(), |step| format!("{}{}", self.end, step.repeat(depth)))
    }

    fn space(self) -> &'static str {
        if self.step.is_some() { " " } else { "" }
    }

    fn text(self, value: &Value, depth: usize) -> String {
        let Some(step) = self.step else { return value.to_string() };
        let mut text = Vec::new();
        let pretty = serde_json::ser::PrettyFormatter::with_indent(step.as_bytes());
        let mut writer = serde_json::Serializer::with_formatter(&mut text, pretty);
        if serde::Serialize::serialize(value, &mut writer).is_err() {
            return value.to_string();
        }
        String::from_utf8_lossy(&text).replace('\n', &self.line(depth))
    }
}
