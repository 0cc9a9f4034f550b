//! Calls inside the script of another call. Some clients have one tool that runs a script (Codex' `exec`, code modes
//! of MCP hosts), and the script calls the other tools, as in `tools.exec_command({cmd: "…"})`.
//!
//! Only literals are read: strings, templates, lists, objects, and names that were set to one of these.

use std::borrow::Cow;
use std::sync::LazyLock;

use memchr::memmem::Finder;
use rustc_hash::FxHashMap;

use super::ToolTable;
use super::args::CallArguments;
use crate::jsonstr;

/// The names of the objects in a script whose members are the tools.
const HOLDERS: [&str; 2] = ["tools", "codemode"];
/// Arguments that hold the script, where the arguments are not the script itself. Proxies that know no custom tools send
/// the text of one as `input`.
const CODE: [&str; 4] = ["code", "script", "source", "input"];
/// Values nested deeper than this are not read.
const DEEPEST: usize = 32;

/// The tool and the arguments that a call really means: those of the calls in its script, or its own where it has no
/// script.
pub(crate) fn inner_call<'a>(
    tool: Cow<'a, str>,
    arguments: Cow<'a, str>,
) -> (Cow<'a, str>, Cow<'a, str>) {
    match nested(&arguments) {
        Some((tool, arguments)) => (Cow::Owned(tool), Cow::Owned(arguments)),
        None => (tool, arguments),
    }
}

/// The value of a literal.
#[derive(Clone, Debug)]
enum LiteralValue {
    /// A string, without quotes.
    Text(String),
    /// Any literal but a string, as JSON.
    Json(String),
}

impl LiteralValue {
    /// The value in the form of call arguments: a string without quotes, or JSON.
    fn text(&self) -> &str {
        let (Self::Text(text) | Self::Json(text)) = self;
        text
    }

    fn json(&self) -> Cow<'_, str> {
        match self {
            Self::Text(text) => Cow::Owned(quoted(text)),
            Self::Json(json) => Cow::Borrowed(json),
        }
    }
}

fn quoted(text: &str) -> String {
    let mut out = Vec::new();
    jsonstr::encode_into(text, &mut out);
    String::from_utf8(out).unwrap_or_default()
}

/// Whether written arguments may hold a script that calls tools. This is a cheap test: almost no arguments pass it,
/// and only those that do are decoded.
pub(crate) fn may_call(arguments: &[u8]) -> bool {
    static FINDERS: LazyLock<[Finder<'static>; 2]> = LazyLock::new(|| HOLDERS.map(Finder::new));
    FINDERS.iter().any(|finder| finder.find(arguments).is_some())
}

/// The tool and arguments of the calls in a script; `None` where there are none. Several calls become one command, or
/// else the last one counts.
fn nested(arguments: &str) -> Option<(String, String)> {
    if !may_call(arguments.as_bytes()) {
        return None;
    }
    let calls = if arguments.trim_start().starts_with('{') {
        let code = CallArguments::read(arguments).first(&CODE.map(str::to_owned))?;
        CodeScript::new(&code).calls()
    } else {
        CodeScript::new(arguments).calls()
    };
    match &calls[..] {
        [] => None,
        [(tool, value)] => Some((tool.clone(), value.text().to_owned())),
        [.., (tool, value)] => {
            one_command(&calls).or_else(|| Some((tool.clone(), value.text().to_owned())))
        }
    }
}

/// Joins several calls into one command: in their order, the commands that they run and the patches that they apply.
fn one_command(calls: &[(String, LiteralValue)]) -> Option<(String, String)> {
    let tools = ToolTable::builtin();
    let mut lines = Vec::new();
    for (tool, value) in calls {
        let arguments = value.text();
        let facts = tools.facts(tool, arguments);
        if let Some(command) = facts.command {
            lines.push(command);
        } else if facts.changed().is_some() && matches!(value, LiteralValue::Text(_)) {
            lines.push(format!("apply_patch <<'END_OF_PATCH'\n{arguments}\nEND_OF_PATCH"));
        }
    }
    let command = format!(r#"{{"cmd":{}}}"#, quoted(&lines.join("\n")));
    (!lines.is_empty()).then(|| ("exec_command".to_owned(), command))
}

/// A script whose literals are read.
struct CodeScript<'a> {
    /// The part that is not read yet.
    rest: &'a str,
    /// The names that were set to literals.
    names: FxHashMap<&'a str, LiteralValue>,
}

impl<'a> CodeScript<'a> {
    fn new(code: &'a str) -> Self {
        Self { rest: code, names: FxHashMap::default() }
    }

    /// The calls of tools in the script, in order.
    fn calls(mut self) -> Vec<(String, LiteralValue)> {
        let mut calls = Vec::new();
        while let Some(first) = self.peek() {
            // A string is read whole, so that code inside it is not taken for calls.
            if matches!(first, '"' | '\'' | '`') {
                self.value(0);
            } else if is_name(first) {
                let name = self.name();
                if matches!(name, "const" | "let" | "var") {
                    self.declared();
                } else if HOLDERS.contains(&name) {
                    calls.extend(self.call());
                }
            } else {
                self.skip(first);
            }
        }
        calls
    }

    /// Reads a call behind `tools`: the member, and the first argument. `None` where no call follows.
    fn call(&mut self) -> Option<(String, LiteralValue)> {
        let name = if self.take('.') {
            self.name().to_owned()
        } else if self.take('[') {
            let name = self.value(0)?.text().to_owned();
            self.take(']').then_some(name)?
        } else {
            return None;
        };
        if name.is_empty() || !self.take('(') {
            return None;
        }
        Some((name, self.value(0).unwrap_or_else(|| LiteralValue::Json("{}".to_owned()))))
    }

    /// Reads a declaration behind `const`, and notes the name where its value is a literal. Any other value is read on
    /// as code.
    fn declared(&mut self) {
        self.peek();
        let name = self.name();
        if name.is_empty() || !self.take('=') {
            return;
        }
        let before = self.rest;
        match self.value(0) {
            Some(value) => drop(self.names.insert(name, value)),
            None => self.rest = before,
        }
    }

    /// A literal, a name that was set to one, or several of these joined by `+`. `None` for any other expression.
    fn value(&mut self, depth: usize) -> Option<LiteralValue> {
        let mut value = self.operand(depth)?;
        while self.take('+') {
            let more = self.operand(depth)?;
            value = LiteralValue::Text(value.text().to_owned() + more.text());
        }
        Some(value)
    }

    /// A single literal, or a name that was set to one.
    fn operand(&mut self, depth: usize) -> Option<LiteralValue> {
        if depth > DEEPEST {
            return None;
        }
        match self.peek()? {
            quote @ ('"' | '\'' | '`') => Some(LiteralValue::Text(self.string(quote))),
            '{' => self.object(depth),
            '[' => self.list(depth),
            first if first.is_ascii_digit() || first == '-' => self.number(),
            first if is_name(first) => {
                let before = self.rest;
                let literal = match self.name() {
                    word @ ("true" | "false" | "null") => Some(LiteralValue::Json(word.to_owned())),
                    "String" if self.rest.starts_with(".raw`") => {
                        self.rest = &self.rest[".raw".len()..];
                        Some(LiteralValue::Text(self.raw_template()))
                    }
                    name => self.names.get(name).cloned(),
                };
                // A name followed by a member or a call is not a literal.
                if literal.is_none() || self.rest.trim_start().starts_with(['.', '(', '[']) {
                    self.rest = before;
                    return None;
                }
                literal
            }
            _ => None,
        }
    }

    /// Reads an object literal into JSON. Members that are not literals are left out.
    fn object(&mut self, depth: usize) -> Option<LiteralValue> {
        self.take('{').then_some(())?;
        let mut object = Vec::new();
        loop {
            match self.peek()? {
                '}' => {
                    self.skip('}');
                    return Some(LiteralValue::Json(format!("{{{}}}", object.join(","))));
                }
                ',' => self.skip(','),
                first => {
                    let is_string = matches!(first, '"' | '\'');
                    let key = if is_string { self.string(first) } else { self.name().to_owned() };
                    if key.is_empty() {
                        return None;
                    }
                    let value = if self.take(':') {
                        self.member(depth + 1)?
                    } else {
                        // The short form `{cmd}` has the value of that name.
                        self.names.get(key.as_str()).cloned()
                    };
                    object.extend(value.map(|value| format!("{}:{}", quoted(&key), value.json())));
                }
            }
        }
    }

    /// Reads a list literal into JSON, or into text where it is joined.
    fn list(&mut self, depth: usize) -> Option<LiteralValue> {
        self.take('[').then_some(())?;
        let mut list: Vec<LiteralValue> = Vec::new();
        loop {
            match self.peek()? {
                ']' => {
                    self.skip(']');
                    break;
                }
                ',' => self.skip(','),
                _ => list.extend(self.member(depth + 1)?),
            }
        }
        // `["line", …].join("\n")`, which scripts write for texts of several lines.
        if let Some(rest) = self.rest.trim_start().strip_prefix(".join(") {
            self.rest = rest;
            let between = self.value(depth + 1)?;
            self.take(')').then_some(())?;
            let texts: Vec<&str> = list.iter().map(LiteralValue::text).collect();
            return Some(LiteralValue::Text(texts.join(between.text())));
        }
        let values: Vec<_> = list.iter().map(LiteralValue::json).collect();
        Some(LiteralValue::Json(format!("[{}]", values.join(","))))
    }

    /// The value of a member. The inner `None` means that it is not a literal, and was skipped; the outer one means
    /// that the script ended.
    fn member(&mut self, depth: usize) -> Option<Option<LiteralValue>> {
        let before = self.rest;
        let value = self.value(depth);
        // A literal counts only where the member ends behind it; with an operator it is another value.
        if value.is_some() && matches!(self.peek(), Some(',' | '}' | ']')) {
            return Some(value);
        }
        self.rest = before;
        let mut open = 0usize;
        loop {
            match self.peek()? {
                ',' | '}' | ']' if open == 0 => return Some(None),
                quote @ ('"' | '\'' | '`') => drop(self.string(quote)),
                first => {
                    match first {
                        '(' | '[' | '{' => open += 1,
                        ')' | ']' | '}' => open = open.saturating_sub(1),
                        _ => {}
                    }
                    self.skip(first);
                }
            }
        }
    }

    fn number(&mut self) -> Option<LiteralValue> {
        let end =
            self.rest.find(|c: char| !matches!(c, '0'..='9' | '.' | '-' | '_' | 'e' | 'E' | '+'));
        let (digits, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        self.rest = rest;
        let digits = digits.replace('_', "");
        digits.parse::<f64>().is_ok().then_some(LiteralValue::Json(digits))
    }

    /// Reads a string literal, with its escapes replaced. An unfinished string reaches to the end of the script.
    fn string(&mut self, quote: char) -> String {
        self.rest = &self.rest[quote.len_utf8()..];
        let mut text = String::new();
        let mut chars = self.rest.char_indices();
        while let Some((at, c)) = chars.next() {
            match c {
                _ if c == quote => {
                    self.rest = &self.rest[at + c.len_utf8()..];
                    return if quote == '`' { self.filled(&text) } else { text };
                }
                '\\' => match chars.next().map(|(_, c)| c) {
                    Some('n') => text.push('\n'),
                    Some('t') => text.push('\t'),
                    Some('r') => text.push('\r'),
                    Some('b') => text.push('\u{8}'),
                    Some('f') => text.push('\u{c}'),
                    Some('0') => text.push('\0'),
                    Some('\n') | None => {}
                    Some('x') => text.extend(code(&mut chars, 2)),
                    Some('u') => text.extend(code(&mut chars, 4)),
                    Some(other) => text.push(other),
                },
                c => text.push(c),
            }
        }
        self.rest = "";
        text
    }

    /// A raw template, whose backslashes are plain text.
    fn raw_template(&mut self) -> String {
        let inner = &self.rest[1..];
        let end = inner.find('`').unwrap_or(inner.len());
        self.rest = inner.get(end + 1..).unwrap_or_default();
        inner[..end].to_owned()
    }

    /// A template in which the known names are replaced by their values.
    fn filled(&self, template: &str) -> String {
        let mut out = String::new();
        let mut rest = template;
        while let Some((before, after)) = rest.split_once("${") {
            out.push_str(before);
            let Some((name, behind)) = after.split_once('}') else {
                return out + "${" + after;
            };
            match self.names.get(name.trim()) {
                Some(value) => out.push_str(value.text()),
                None => out.extend(["${", name, "}"]),
            }
            rest = behind;
        }
        out + rest
    }

    fn name(&mut self) -> &'a str {
        let end = self.rest.find(|c| !is_name(c)).unwrap_or(self.rest.len());
        let (name, rest) = self.rest.split_at(end);
        self.rest = rest;
        name
    }

    /// The next character that is neither blank nor part of a comment.
    fn peek(&mut self) -> Option<char> {
        loop {
            self.rest = self.rest.trim_start();
            let end = if self.rest.starts_with("//") {
                self.rest.find('\n')
            } else if self.rest.starts_with("/*") {
                self.rest.find("*/").map(|at| at + 2)
            } else {
                return self.rest.chars().next();
            };
            self.rest = &self.rest[end.unwrap_or(self.rest.len())..];
        }
    }

    /// Skips the next character if it is the wanted one. Returns whether it was.
    fn take(&mut self, wanted: char) -> bool {
        let is_next = self.peek() == Some(wanted);
        if is_next {
            self.skip(wanted);
        }
        is_next
    }

    fn skip(&mut self, c: char) {
        self.rest = &self.rest[c.len_utf8()..];
    }
}

/// Reads the character with this many hexadecimal digits.
fn code(chars: &mut std::str::CharIndices<'_>, digits: usize) -> Option<char> {
    let digits: String = chars.take(digits).map(|(_, c)| c).collect();
    u32::from_str_radix(&digits, 16).ok().and_then(char::from_u32)
}

fn is_name(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '$')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(script: &str) -> (String, String) {
        let (tool, arguments) = inner_call("exec".into(), script.into());
        (tool.into_owned(), arguments.into_owned())
    }

    #[test]
    fn one_call_is_what_a_script_means() {
        let cases = [
            (
                r#"const r = await tools.exec_command({cmd:"pytest -q","workdir":'/w', n: 1_000, tty:false}); text(r.output)"#,
                ("exec_command", r#"{"cmd":"pytest -q","workdir":"/w","n":1000,"tty":false}"#),
            ),
            (
                "const patch = \"*** Begin Patch\\n*** Update File: a.py\\n\"; // tools.no()\ntext(await tools.apply_patch(patch))",
                ("apply_patch", "*** Begin Patch\n*** Update File: a.py\n"),
            ),
            (
                "const file = 'a.py';\nawait tools.exec_command({cmd: `sed -n '1,4p' ${file} ${other}`, ms: later(1, {a: 2})})",
                ("exec_command", r#"{"cmd":"sed -n '1,4p' a.py ${other}"}"#),
            ),
            (
                "tools['apply_patch'](['*** Begin Patch', '*** Add File: b', '+x'].join('\\n'))",
                ("apply_patch", "*** Begin Patch\n*** Add File: b\n+x"),
            ),
            (
                "const cmd = 'ls ' + \"-l\"; await codemode.run({cmd})",
                ("run", r#"{"cmd":"ls -l"}"#),
            ),
            ("text(await tools.list_agents())", ("list_agents", "{}")),
            (r"await tools.apply_patch(String.raw`*** Begin\n`)", ("apply_patch", r"*** Begin\n")),
        ];
        for (script, (tool, arguments)) in cases {
            assert_eq!(of(script), (tool.to_owned(), arguments.to_owned()), "{script}");
            let wrapped = format!(r#"{{"code":{}}}"#, quoted(script));
            assert_eq!(of(&wrapped), (tool.to_owned(), arguments.to_owned()), "{script}");
        }
    }

    #[test]
    fn several_calls_are_one_command() {
        let script = "const [a, b] = await Promise.all([tools.exec_command({cmd:'ls'}), tools.exec_command({cmd:'pytest -q'})]);
            const p = '*** Begin Patch\\n*** Update File: a.py\\n@@\\n-x\\n+y\\n*** End Patch'; await tools.apply_patch(p); await tools.update_plan({plan:[]})";
        let (tool, arguments) = of(script);
        let facts = ToolTable::builtin().facts(&tool, &arguments);
        assert_eq!(facts.writes, ["a.py"], "{arguments}");
        assert!(
            facts.command.is_some_and(|command| command.starts_with("ls\npytest -q\napply_patch"))
        );
    }

    #[test]
    fn what_calls_nothing_is_itself() {
        for script in [
            "ls tools",
            r#"{"command":"python -m tools.exec_command(1)"}"#,
            "text('tools.exec_command({})')",
            "tools",
            "tools.",
            "tools.x",
            "",
            "{",
        ] {
            assert_eq!(of(script), ("exec".to_owned(), script.to_owned()));
        }
        for broken in
            ["tools.x({a:'", "tools.x([[", "tools.x({a:b(", "tools[", "const tools = tools.x({"]
        {
            of(broken);
        }
        of(&format!("tools.x({}", "[".repeat(100_000)));
    }
}
