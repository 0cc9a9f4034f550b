//! Reads a person's answers out of tool results, in the forms in which clients write them there.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::jsonstr;

/// Whose words the result of a tool holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum AnswerSource {
    /// The tool's own.
    #[default]
    Nobody,
    /// A person's where the client marks them as such: a plan that is approved with a remark.
    Marked,
    /// A person's, all of them: a question to the user.
    Person,
}

impl AnswerSource {
    pub(crate) fn is_nobody(&self) -> bool {
        *self == Self::Nobody
    }
}

/// Elements in which clients put a person's words.
const ANSWER_TAGS: &[&str] = &["answer", "feedback", "user_message"];
/// Members of a JSON result whose texts are a person's words, at any depth.
const ANSWER_KEYS: &[&str] =
    &["answer", "answers", "user_response", "user_answer", "user_input", "response", "feedback"];
/// Members inside [`ANSWER_KEYS`] whose texts are not a person's words.
const ASKED: &[&str] = &["question", "questions", "id", "header", "type", "options", "choices"];
/// The text between a question and its answer, as in `"Which?"="The first"`.
const BETWEEN: &str = "\"=\"";
/// What Claude Code writes behind an answer: the preview that the person chose, which is not the person's, and a note.
const PREVIEW: &str = "\" selected preview:";
const NOTE: &str = "\" user notes: ";
/// The end of the whole list where its last answer has a note.
const AFTER_NOTES: &str = ". You can now continue";
/// The words that clients write before an answer without its question.
const LEADS: &[&str] = &[
    "User has answered your questions:",
    "User has answered your question:",
    "User responded:",
    "User answered:",
    "The user answered:",
    "User response:",
    "User's answer:",
];
/// At most this many answers of one result are read.
const MOST: usize = 32;
/// A result of more bytes than this is not read, because nobody types so much.
const LONGEST: usize = 1 << 16;

impl AnswerSource {
    /// The answers of a person in the result of such a tool. Empty where there are none.
    pub(crate) fn of<'a>(self, result: &'a str) -> Vec<Cow<'a, str>> {
        if self == Self::Nobody || result.len() > LONGEST {
            return Vec::new();
        }
        let text = result.trim();
        let mut answers = elements(text);
        if answers.is_empty() && self == Self::Person {
            answers = match text.as_bytes().first() {
                Some(b'{' | b'[') => members(text),
                _ if text.contains(BETWEEN) => pairs(text),
                _ => vec![Cow::Borrowed(without_lead(text))],
            };
        }
        answers.retain(|answer| !answer.trim().is_empty());
        answers.truncate(MOST);
        answers
    }
}

fn without_lead(text: &str) -> &str {
    LEADS.iter().find_map(|lead| text.strip_prefix(lead)).unwrap_or(text).trim()
}

/// The texts of [`ANSWER_TAGS`] in a result, in order.
fn elements(text: &str) -> Vec<Cow<'_, str>> {
    let mut tagged: Vec<(usize, &str)> = Vec::new();
    for name in ANSWER_TAGS {
        let (open, close) = (format!("<{name}>"), format!("</{name}>"));
        let mut from = 0;
        while let Some(at) = text[from..].find(&open).map(|at| from + at + open.len()) {
            let Some(end) = text[at..].find(&close).map(|end| at + end) else { break };
            tagged.push((at, text[at..end].trim()));
            from = end;
        }
    }
    tagged.sort_unstable();
    tagged.into_iter().map(|(_, answer)| Cow::Borrowed(answer)).collect()
}

/// The answers and notes in `"Q1"="A1", "Q2"="A2" user notes: N2. …`. An answer without a note ends before the next
/// question, the last one at its last quotation mark.
fn pairs(text: &str) -> Vec<Cow<'_, str>> {
    let parts: Vec<&str> = text.split(BETWEEN).skip(1).collect();
    let mut out = Vec::new();
    for (at, part) in parts.iter().enumerate() {
        let is_last = at + 1 == parts.len();
        if let Some(end) = [PREVIEW, NOTE].iter().filter_map(|mark| part.find(mark)).min() {
            out.push(Cow::Borrowed(&part[..end]));
            out.extend(note(&part[end..], is_last).map(Cow::Borrowed));
            continue;
        }
        // An answer may hold quotation marks, so the last end mark before the next question counts.
        let end = if is_last { part.rfind("\".") } else { part.rfind("\", \"") };
        let end = end.or_else(|| part.rfind('"')).unwrap_or(part.len());
        out.push(Cow::Borrowed(&part[..end]));
    }
    out
}

/// The note in what follows an answer, up to the next question or the end of the list.
fn note(behind: &str, is_last: bool) -> Option<&str> {
    let end = behind.rfind(if is_last { AFTER_NOTES } else { ", \"" }).unwrap_or(behind.len());
    let behind = &behind[..end];
    // A preview has no quotation mark behind it.
    let mark = &NOTE[1..];
    behind.strip_prefix(NOTE).or_else(|| behind.rsplit_once(mark).map(|(_, note)| note))
}

/// The texts in a JSON result that are a person's words.
fn members(text: &str) -> Vec<Cow<'_, str>> {
    let mut walk = JsonWalk { text, at: 0, answers: Vec::new() };
    walk.value(false, 0);
    walk.answers
}

/// A tolerant walk over JSON: broken JSON ends the walk, and the texts found before are kept.
struct JsonWalk<'a> {
    text: &'a str,
    /// Byte offset of the cursor.
    at: usize,
    /// The texts that are a person's words.
    answers: Vec<Cow<'a, str>>,
}

/// Objects and lists are read down to this depth.
const DEPTH: usize = 12;

impl<'a> JsonWalk<'a> {
    /// The next byte that is not white space. The cursor is before it then.
    fn peek_byte(&mut self) -> Option<u8> {
        let rest = &self.text.as_bytes()[self.at..];
        self.at += rest.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        self.text.as_bytes().get(self.at).copied()
    }

    /// The string that starts at the cursor, with its quotes. `None` where it does not end.
    fn token(&mut self) -> Option<&'a [u8]> {
        let rest = &self.text.as_bytes()[self.at..];
        let mut escaped = false;
        let end = rest.iter().skip(1).position(|byte| {
            let ends = *byte == b'"' && !escaped;
            escaped = *byte == b'\\' && !escaped;
            ends
        })?;
        self.at += end + 2;
        rest.get(..end + 2)
    }

    /// Reads a value. Returns whether there was one; `false` ends the walk.
    fn value(&mut self, is_persons: bool, depth: usize) -> bool {
        match self.peek_byte() {
            Some(b'"') => {
                let Some(token) = self.token() else { return false };
                if is_persons {
                    self.answers.push(jsonstr::decode(token));
                }
                true
            }
            Some(open @ (b'{' | b'[')) if depth < DEPTH => {
                self.at += 1;
                self.inside(open == b'{', is_persons, depth + 1)
            }
            Some(b'{' | b'[' | b'}' | b']') | None => false,
            Some(_) => {
                let rest = &self.text.as_bytes()[self.at..];
                let ends = |byte: &u8| matches!(byte, b',' | b'}' | b']');
                self.at += rest.iter().position(ends).unwrap_or(rest.len());
                true
            }
        }
    }

    /// Reads the rest of an object or a list. Returns whether its end was found.
    fn inside(&mut self, is_object: bool, is_persons: bool, depth: usize) -> bool {
        loop {
            match self.peek_byte() {
                Some(b'}' | b']') => {
                    self.at += 1;
                    return true;
                }
                Some(b',' | b':') => self.at += 1,
                Some(b'"') if is_object => {
                    let Some(key) = self.token().map(jsonstr::decode) else { return false };
                    if self.peek_byte() != Some(b':') {
                        return false;
                    }
                    self.at += 1;
                    let names = |list: &[&str]| list.contains(&&*key);
                    // Inside an answer everything is the person's, except the question that some clients repeat there.
                    let persons = names(ANSWER_KEYS) || is_persons && !names(ASKED);
                    if !self.value(persons, depth) {
                        return false;
                    }
                }
                Some(_) if !is_object => {
                    if !self.value(is_persons, depth) {
                        return false;
                    }
                }
                _ => return false,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_found_in_every_form() {
        let person = [
            ("Keep it.", &["Keep it."][..]),
            (
                "User has answered your questions: \"Which \"a\"?\"=\"No, \"b\"\", \"And?\"=\"None\". You can go on.",
                &["No, \"b\"", "None"],
            ),
            (
                "User has answered your questions: \"Which?\"=\"The first\" user notes: soon",
                &["The first", "soon"],
            ),
            (
                "User has answered your questions: \"Db?\"=\"Postgres\" user notes: only 16, \"or\" 17, \"Port?\"=\"5433\", \"Color?\"=\"Blue\" user notes: call it \"ocean\". You can. You can now continue with the user's answers in mind.",
                &["Postgres", "only 16, \"or\" 17", "5433", "Blue", "call it \"ocean\". You can"],
            ),
            (
                "User has answered your questions: \"Font?\"=\"Mono\" selected preview:\nAa \"Bb\" user notes: no serif, \"Size?\"=\"9\" selected preview:\n9 pt. You can now continue",
                &["Mono", "no serif", "9"],
            ),
            (
                r#"{"answers":{"q0":{"answers":["One"]},"q1":{"answers":["Two \"x\""]}}}"#,
                &["One", "Two \"x\""],
            ),
            (r#"{"answers":{"0":"One"}}"#, &["One"]),
            (
                r#"{"question":"Which?","choices_offered":["a","b"],"user_response":"b, soon"}"#,
                &["b, soon"],
            ),
            (r#"{"answers":[{"question":"Which?","answer":"a"}]}"#, &["a"]),
            (r#"{"ok":true,"note":"nothing"}"#, &[]),
            (r#"{"answers":["One","#, &["One"]),
            ("He said:\n<answer>\nOne\n</answer> and <feedback>Two</feedback>", &["One", "Two"]),
            ("User responded: One", &["One"]),
        ];
        for (text, wanted) in person {
            assert_eq!(AnswerSource::Person.of(text), wanted, "{text}");
            assert_eq!(AnswerSource::Nobody.of(text).len(), 0, "{text}");
        }
        assert_eq!(AnswerSource::Marked.of("Approved.\n<feedback>Soon.</feedback>"), ["Soon."]);
        assert_eq!(AnswerSource::Marked.of("Approved.").len(), 0);
    }
}
