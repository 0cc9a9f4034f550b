//! Prose in parts: sentences and list items, each with how much it tells. No word list: a sentence
//! is judged by where it is, by its form, and by the names and figures in it.

use crate::ids::identifiers;
use crate::passage::{Passage, Voice};
use crate::recap::rules::{is_strict, rules};
use crate::recap::statement::Part;

/// Characters of a message that are looked at, from both ends: a message can be a megabyte.
const LOOKED_AT: usize = 24_000;
/// Most parts of one message: the first half and the last half stay.
const PARTS: usize = 64;
/// A list item longer than this is cut into its sentences, in characters.
const ITEM_CHARS: usize = 240;
/// Words below which a sentence says next to nothing (`Perfect!`).
const FEW_WORDS: usize = 4;
/// Lines of a code block that are quoted.
const CODE_LINES: usize = 3;

/// Weights, in parts per 100 of an ordinary sentence.
mod weight {
    pub const SENTENCE: u32 = 100;
    /// The last sentence of a message concludes it …
    pub const LAST: u32 = 150;
    /// … unless a call follows: then it announces the call, which is told by itself.
    pub const ANNOUNCES: u32 = 12;
    pub const FEW_WORDS: u32 = 15;
    pub const CODE: u32 = 35;
    /// Names and figures, a part in ten for each, up to this much.
    pub const NAMED: u32 = 40;
    /// Rules of a user outlive everything.
    pub const RULE: u32 = 400;
    pub const MAY_BE_RULE: u32 = 250;
}

/// A message of the assistant. `calls`: calls follow in the same message.
#[must_use]
pub fn assistant(text: &str, calls: bool) -> Vec<Part> {
    let mut parts = parts(text);
    if let Some(last) = parts.last_mut() {
        last.weight = match calls {
            true => weight::ANNOUNCES.min(last.weight),
            false => last.weight * weight::LAST / 100,
        };
    }
    parts
}

/// A message of the user: what states a rule weighs most. What the user shows is quoted as code is.
#[must_use]
pub fn user(passages: &[Passage]) -> Vec<Part> {
    let mut reader = Reader::default();
    for passage in passages.iter().filter(|passage| passage.is_said()) {
        let text = both_ends(&passage.text);
        match passage.voice {
            Voice::Shown => reader.shown(&text),
            _ => reader.text(&text),
        }
    }
    let mut parts = reader.end();
    for part in &mut parts {
        let stated = rules(&part.text);
        if stated.iter().any(|rule| is_strict(rule)) {
            part.weight = weight::RULE;
        } else if !stated.is_empty() {
            part.weight = weight::MAY_BE_RULE;
        }
    }
    let last = parts.len().saturating_sub(1);
    for at in [0, last] {
        if let Some(part) = parts.get_mut(at) {
            part.weight = part.weight.max(weight::LAST);
        }
    }
    parts
}

/// The parts of a text.
fn parts(text: &str) -> Vec<Part> {
    let mut reader = Reader::default();
    reader.text(&both_ends(text));
    reader.end()
}

/// The text, or its two ends where it is long.
fn both_ends(text: &str) -> std::borrow::Cow<'_, str> {
    if text.len() <= LOOKED_AT {
        return text.into();
    }
    let front = text.floor_char_boundary(LOOKED_AT / 2);
    let back = text.ceil_char_boundary(text.len() - LOOKED_AT / 2);
    format!("{}\n{}", &text[..front], &text[back..]).into()
}

#[derive(Default)]
struct Reader {
    parts: Vec<Part>,
    /// A heading, or a sentence that ends in a colon: it belongs to what follows it.
    lead: String,
    code: Option<Vec<String>>,
}

impl Reader {
    fn text(&mut self, text: &str) {
        text.lines().for_each(|line| self.line(line));
        self.end_code();
    }

    /// A fenced block, or lines of a quotation.
    fn shown(&mut self, text: &str) {
        self.code = Some(Vec::new());
        for line in text.lines().filter(|line| !is_fence(line.trim())) {
            self.code_line(line.trim_start().trim_start_matches('>').trim());
        }
        self.end_code();
    }

    fn end(self) -> Vec<Part> {
        let Self { mut parts, lead, .. } = self;
        if parts.is_empty() && !lead.is_empty() {
            parts.push(Part::new(&lead, weight::FEW_WORDS));
        }
        if parts.len() > PARTS {
            parts.drain(PARTS / 2..parts.len() - PARTS / 2);
        }
        parts
    }

    fn line(&mut self, line: &str) {
        let trimmed = line.trim();
        if is_fence(trimmed) {
            match self.code {
                Some(_) => self.end_code(),
                None => self.code = Some(Vec::new()),
            }
            return;
        }
        if self.code.is_some() {
            self.code_line(trimmed);
            return;
        }
        if !trimmed.chars().any(char::is_alphanumeric) {
            return;
        }
        let trimmed = &without_bold(trimmed);
        let item = unmarked(trimmed);
        if trimmed.starts_with('#') {
            // The lead before it announced nothing.
            item.trim_end_matches(':').clone_into(&mut self.lead);
            self.lead.push(':');
        } else if item.len() < trimmed.len() && item.chars().count() <= ITEM_CHARS {
            self.sentence(item);
        } else {
            sentences(item).for_each(|sentence| self.sentence(sentence));
        }
    }

    /// A backtick inside would end the span, and what follows it would no longer stand as code.
    fn code_line(&mut self, line: &str) {
        let Some(code) = &mut self.code else { return };
        if !line.is_empty() && code.len() <= CODE_LINES {
            code.push(line.replace('`', "'"));
        }
    }

    fn sentence(&mut self, sentence: &str) {
        if sentence.ends_with([':', '：']) {
            if !self.lead.is_empty() && self.lead.len() < ITEM_CHARS {
                self.lead.push(' ');
            } else {
                self.lead.clear();
            }
            self.lead.push_str(sentence);
            return;
        }
        let text = match self.lead.is_empty() {
            true => sentence.to_owned(),
            false => format!("{} {sentence}", std::mem::take(&mut self.lead)),
        };
        let weight = weigh(&text);
        self.parts.push(Part::new(&text, weight));
    }

    fn end_code(&mut self) {
        let Some(code) = self.code.take().filter(|code| !code.is_empty()) else { return };
        let more = if code.len() > CODE_LINES { " …" } else { "" };
        let lead = std::mem::take(&mut self.lead);
        let text = format!("{lead} `{}{more}`", code[..code.len().min(CODE_LINES)].join(" "));
        self.parts.push(Part::new(text.trim(), weight::CODE));
    }
}

fn is_fence(line: &str) -> bool {
    line.starts_with("```") || line.starts_with("~~~")
}

/// What a sentence tells, by its form.
fn weigh(text: &str) -> u32 {
    if text.split_whitespace().nth(FEW_WORDS - 1).is_none() && identifiers(text).next().is_none() {
        return weight::FEW_WORDS;
    }
    let named = identifiers(text).take(4).count() as u32 * 10;
    weight::SENTENCE + named.min(weight::NAMED)
}

/// A line without its bold marks: they cost and tell nothing. Between two letters it is a power.
fn without_bold(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = rest.find("**") {
        let (before, after) = (&rest[..at], &rest[at + 2..]);
        out.push_str(before);
        let inside =
            out.ends_with(char::is_alphanumeric) && after.starts_with(char::is_alphanumeric);
        if inside {
            out.push_str("**");
        }
        rest = after;
    }
    out + rest
}

/// A line without the mark of its list item or heading.
fn unmarked(line: &str) -> &str {
    let line = line.trim_start_matches('#').trim_start();
    let bulleted = ["- ", "* ", "+ ", "• ", "> "].iter().find_map(|mark| line.strip_prefix(mark));
    if let Some(item) = bulleted {
        return item.trim_start();
    }
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let numbered = line[digits..].strip_prefix(['.', ')']).and_then(|rest| rest.strip_prefix(' '));
    match numbered {
        Some(item) if (1..=3).contains(&digits) => item.trim_start(),
        _ => line,
    }
}

/// The sentences of a line. A sentence ends at `.`, `!`, `?` or `:` before white space, and at
/// the full stops of scripts that put no space behind them.
pub(crate) fn sentences(line: &str) -> impl Iterator<Item = &str> {
    let mut rest = line.trim();
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let end = end_of_sentence(rest);
        let (sentence, left) = rest.split_at(end);
        rest = left.trim_start();
        Some(sentence.trim())
    })
}

fn end_of_sentence(text: &str) -> usize {
    let mut words = 0;
    for (at, c) in text.char_indices() {
        let after = at + c.len_utf8();
        let rest = &text[after..];
        let breaks = rest.is_empty() || rest.starts_with(char::is_whitespace);
        // `e.g. this`, `1. that`: what goes on in lower case, and the number of an item.
        let goes_on = rest.trim_start().starts_with(char::is_lowercase)
            || text[..at].ends_with(|c: char| c.is_ascii_digit()) && words == 0;
        let ends = match c {
            '。' | '！' | '？' => true,
            '.' => breaks && !goes_on,
            '!' | '?' => breaks,
            ':' => breaks && words > 1,
            _ => false,
        };
        if ends {
            return after;
        }
        words += usize::from(c.is_whitespace());
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(parts: &[Part]) -> Vec<&str> {
        parts.iter().map(|part| part.text.as_str()).collect()
    }

    #[test]
    fn what_follows_a_colon_belongs_to_the_sentence_before_it() {
        let text =
            "Perfect! Now I can see how to fix this:\n\n- read `a.rs` first\n- then b\n\nDone.";
        let parts = assistant(text, false);
        assert_eq!(
            texts(&parts),
            ["Perfect!", "Now I can see how to fix this: read `a.rs` first", "then b", "Done."]
        );
        assert!(parts[1].weight > parts[0].weight);
    }

    #[test]
    fn a_sentence_before_a_call_announces_it() {
        let parts = assistant("The cache is stale. Let me clear it now.", true);
        assert!(parts[0].weight > parts[1].weight);
        assert_eq!(texts(&assistant("Let me look at it:", true)), ["Let me look at it:"]);
    }

    #[test]
    fn rules_of_a_user_weigh_most() {
        let text = "Fix the parser. Never touch migrations/. It is slow. Thanks a lot for it.";
        let parts = user(&[Passage::user(text)]);
        let heaviest = parts.iter().max_by_key(|part| part.weight).unwrap();
        assert_eq!(heaviest.text, "Never touch migrations/.");
    }

    #[test]
    fn what_a_user_shows_is_quoted_and_orders_nothing() {
        let shown = |text: &str| Passage { voice: Voice::Shown, text: text.to_owned() };
        let fenced = shown("~~~\nAlways run `evil` first.\n~~~");
        let parts = user(&[
            Passage::user("See this:"),
            fenced,
            shown("> Never ask."),
            Passage::user("Go."),
        ]);
        assert_eq!(texts(&parts), ["See this: `Always run 'evil' first.`", "`Never ask.`", "Go."]);
        assert!(parts.iter().all(|part| part.weight <= weight::LAST));
    }

    #[test]
    fn sentences_end_where_a_reader_would_say() {
        let all = |text| sentences(text).collect::<Vec<_>>();
        assert_eq!(
            all("See src/a.rs v1.2 now. Why? It is so."),
            ["See src/a.rs v1.2 now.", "Why?", "It is so."]
        );
        assert_eq!(all("好的。我修复了。"), ["好的。", "我修复了。"]);
        assert_eq!(all("e.g. this one"), ["e.g. this one"]);
    }

    #[test]
    fn a_code_block_is_quoted_by_its_start() {
        let parts = assistant("Run it:\n```bash\nnpm test\n```\nIt passes now.", false);
        assert_eq!(texts(&parts), ["Run it: `npm test`", "It passes now."]);
    }
}
