//! Splits prose into parts, which are sentences and list items, and weighs each part. There is no list of words: a
//! part is weighed by its position, its form, and the names and figures in it.

use std::sync::LazyLock;

use rustc_hash::FxHashSet;

use crate::ids::identifiers;
use crate::passage::{Passage, Voice};
use crate::recap::offer::weigh_offered;
use crate::recap::sentence::{clauses, sentences};
use crate::recap::statement::{LINE_BREAK, PART_CHARS, StatementSentence};

/// Bytes of a message that are read, half from each end, because a message can be a megabyte.
const LOOKED_AT: usize = 24_000;
/// Most parts of one message. Of more parts, the first and the last ones stay.
const PARTS: usize = 64;
/// A list item of more characters than this is split into sentences.
const ITEM_CHARS: usize = 240;
/// A sentence of fewer words than this says next to nothing (`Perfect!`).
const FEW_WORDS: usize = 4;
/// At most this many lines of a code block are quoted.
const CODE_LINES: usize = 3;

/// Weights of parts, in percent of an ordinary sentence.
mod weight {
    pub const SENTENCE: u32 = 100;
    /// The last sentence of a message usually concludes it …
    pub const LAST: u32 = 150;
    /// … unless it announces the call that follows, because the call is a statement of its own.
    pub const ANNOUNCES: u32 = 12;
    pub const FEW_WORDS: u32 = 15;
    pub const CODE: u32 = 35;
    /// Limit for the weight of names: each adds 10.
    pub const NAMED: u32 = 40;
    /// The least weight of a sentence that the user wrote: two words can answer a question.
    pub const ANSWER: u32 = 40;
    /// Added for each capitalised word inside a user's sentence, up to three …
    pub const NAME: u32 = 20;
    /// … for each figure, up to four …
    pub const FIGURE: u32 = 30;
    /// … and once for a negation and for a quotation.
    pub const NEGATED: u32 = 30;
    pub const QUOTED: u32 = 20;
    /// The weight of a question, in percent of what it would otherwise be.
    pub const QUESTION: u32 = 60;
}

/// The parts of a message of the assistant. `call` holds the arguments of the calls that follow, or is `None` at the
/// end of a turn.
#[must_use]
pub fn assistant(text: &str, call: Option<&str>) -> Vec<StatementSentence> {
    let mut parts = parts(text);
    weigh_offered(&mut parts);
    for part in parts.iter_mut().filter(|part| is_question(&part.text)) {
        part.weight = part.weight * weight::QUESTION / 100;
    }
    if let Some(last) = parts.last_mut() {
        match call {
            // A question waits for an answer, and a phrase like "Noted." concludes nothing.
            None if is_question(&last.text) || last.weight <= weight::FEW_WORDS => {}
            None => last.weight = last.weight * weight::LAST / 100,
            Some(arguments) if announces(&last.text, arguments) => {
                last.weight = weight::ANNOUNCES.min(last.weight);
            }
            Some(_) => {}
        }
    }
    parts
}

/// The parts of the assistant's words as an earlier recap quotes them.
pub(super) fn told(text: &str) -> Vec<StatementSentence> {
    let mut parts = parts(&text.replace(LINE_BREAK, "\n"));
    weigh_offered(&mut parts);
    parts
}

/// Whether the last sentence before a call only announces the call. It does where it has no names and figures ("Let
/// me run the tests."), or where at least half of them are in the call's arguments.
fn announces(sentence: &str, arguments: &str) -> bool {
    let figures =
        sentence.split_whitespace().map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()));
    let figures = figures.filter(|word| word.bytes().any(|b| b.is_ascii_digit()));
    let names: FxHashSet<&str> = identifiers(sentence).chain(figures).collect();
    let again = names.iter().filter(|name| arguments.contains(**name)).count();
    again * 2 >= names.len()
}

/// The parts of a message of the user. Texts that the user pasted are quoted as code is. A sentence weighs by its
/// form: figures, names, quotations and negations often state requirements, while a question has been answered since.
/// Whether a sentence says anything new is judged elsewhere, by comparison with other messages.
#[must_use]
pub fn user(passages: &[Passage]) -> Vec<StatementSentence> {
    let mut reader = ProseReader::default();
    for passage in passages.iter().filter(|passage| passage.is_said()) {
        let text = both_ends(&passage.text);
        match passage.voice {
            Voice::Shown => reader.shown(&text),
            _ => reader.text(&text),
        }
    }
    let mut parts = reader.end();
    for part in &mut parts {
        part.weight = weigh_users(&part.text, part.weight);
    }
    parts
}

/// The weight of a sentence that the user wrote.
fn weigh_users(text: &str, weight: u32) -> u32 {
    let starts_high = |word: &&str| word.chars().next().is_some_and(char::is_uppercase);
    let has_digit = |word: &&str| word.bytes().any(|b| b.is_ascii_digit());
    let count = |words: usize, most: u32| u32::try_from(words).unwrap_or(most).min(most);
    let names = count(text.split_whitespace().skip(1).filter(starts_high).count(), 3);
    let figures = count(text.split_whitespace().filter(has_digit).count(), 4);
    let mut weight = weight.max(weight::ANSWER) + names * weight::NAME + figures * weight::FIGURE;
    if is_negated(text) {
        weight += weight::NEGATED;
    }
    if text.contains(['"', '“', '„', '«', '「', '`']) {
        weight += weight::QUOTED;
    }
    if is_question(text) {
        weight = weight * weight::QUESTION / 100;
    }
    weight
}

fn is_question(text: &str) -> bool {
    text.ends_with(['?', '？', '؟'])
}

/// Whether a text holds a word that denies or forbids. Languages have few such words, so a list of them suffices. In
/// scripts without spaces between words, they are searched inside the text.
pub(super) fn is_negated(text: &str) -> bool {
    static WORDS: LazyLock<FxHashSet<&str>> =
        LazyLock::new(|| include_str!("../../data/negations.txt").lines().collect());
    let lower = text.to_lowercase().replace('’', "'");
    let denies = |word: &str| WORDS.contains(word.trim_matches('\'')) || word.ends_with("n't");
    lower.split(|c: char| !c.is_alphanumeric() && c != '\'').any(denies)
        || WORDS.iter().any(|word| is_unspaced(word) && lower.contains(word))
}

/// Whether a word is in a script without spaces between words.
fn is_unspaced(word: &str) -> bool {
    word.chars().any(|c| matches!(c, '\u{3040}'..='\u{30ff}' | '\u{4e00}'..='\u{9fff}'))
}

/// The parts of the user's words as an earlier recap quotes them.
pub(super) fn asked(text: &str) -> Vec<StatementSentence> {
    user(&[Passage::user(&text.replace(LINE_BREAK, "\n"))])
}

/// The parts of a text, before position and author are weighed.
fn parts(text: &str) -> Vec<StatementSentence> {
    let mut reader = ProseReader::default();
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

/// Splits text into weighed parts, line by line.
#[derive(Default)]
struct ProseReader {
    parts: Vec<StatementSentence>,
    /// A heading, or a sentence that ends in a colon, which is joined to what follows.
    lead: String,
    /// Whether a short sentence was already joined to the last part.
    has_verdict: bool,
    /// Whether the next sentence is the first of its line.
    begins_line: bool,
    code: Option<Vec<String>>,
}

impl ProseReader {
    fn text(&mut self, text: &str) {
        text.lines().for_each(|line| self.line(line));
        self.end_code();
    }

    /// Adds a text that the user pasted: a fenced block, or lines of a quotation.
    fn shown(&mut self, text: &str) {
        self.code = Some(Vec::new());
        for line in text.lines().filter(|line| !is_fence(line.trim())) {
            self.code_line(line.trim_start().trim_start_matches('>').trim());
        }
        self.end_code();
    }

    fn end(self) -> Vec<StatementSentence> {
        let Self { mut parts, lead, .. } = self;
        if parts.is_empty() && !lead.is_empty() {
            parts.push(StatementSentence::new(&lead, weight::FEW_WORDS));
        }
        if parts.len() > PARTS {
            parts.drain(PARTS / 2..parts.len() - PARTS / 2);
        }
        parts
    }

    /// Reads one line: a fence, a line of code, a heading, a list item or prose.
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
        self.begins_line = true;
        if trimmed.starts_with('#') {
            // The lead before this heading announced nothing, so it is dropped.
            item.trim_end_matches(':').clone_into(&mut self.lead);
            self.lead.push(':');
        } else if is_item(trimmed) && item.chars().count() <= ITEM_CHARS {
            self.sentence(item);
        } else {
            sentences(item).for_each(|sentence| self.sentence(sentence));
        }
    }

    /// Adds a line of code. Backticks are replaced, because one inside the quotation would end its code span.
    fn code_line(&mut self, line: &str) {
        let Some(code) = &mut self.code else { return };
        if !line.is_empty() && code.len() <= CODE_LINES {
            code.push(line.replace('`', "'"));
        }
    }

    /// Adds a sentence. One that ends in a colon waits for the next one, and a very short one joins the one before.
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
        // A phrase like "Given up." is about the sentence before it, so it is joined to that.
        if weight <= weight::FEW_WORDS
            && !self.begins_line
            && !std::mem::replace(&mut self.has_verdict, true)
            && let Some(before) = self.parts.last_mut().filter(|part| part.weight > weight)
            && before.text.len() + text.len() < PART_CHARS
        {
            before.text.push(' ');
            before.text.push_str(&text);
            return;
        }
        self.has_verdict = weight <= weight::FEW_WORDS;
        for clause in clauses(&text) {
            let begins_line = std::mem::take(&mut self.begins_line);
            self.parts
                .push(StatementSentence { begins_line, ..StatementSentence::new(clause, weight) });
        }
    }

    fn end_code(&mut self) {
        let Some(code) = self.code.take().filter(|code| !code.is_empty()) else { return };
        let more = if code.len() > CODE_LINES { " …" } else { "" };
        let lead = std::mem::take(&mut self.lead);
        let text = format!("{lead} `{}{more}`", code[..code.len().min(CODE_LINES)].join(" "));
        self.parts.push(StatementSentence::new(text.trim(), weight::CODE));
    }
}

fn is_fence(line: &str) -> bool {
    line.starts_with("```") || line.starts_with("~~~")
}

/// The weight of a sentence by its form.
fn weigh(text: &str) -> u32 {
    let is_short = text.split_whitespace().nth(FEW_WORDS - 1).is_none();
    if is_short && identifiers(text).next().is_none() && !text.bytes().any(|b| b.is_ascii_digit()) {
        return weight::FEW_WORDS;
    }
    let named = identifiers(text).take(4).count() as u32 * 10;
    weight::SENTENCE + named.min(weight::NAMED)
}

/// Removes the bold marks of a line, which cost tokens and say nothing. Between two letters or digits, `**` is an
/// operator and stays.
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

/// Removes the mark of a heading or a list item. The number of an item stays, because people choose by it.
fn unmarked(line: &str) -> &str {
    let line = line.trim_start_matches('#').trim_start();
    BULLETS.iter().find_map(|mark| line.strip_prefix(mark)).map_or(line, str::trim_start)
}

const BULLETS: [&str; 5] = ["- ", "* ", "+ ", "• ", "> "];

/// Whether a line is a list item, with a bullet or a number.
fn is_item(line: &str) -> bool {
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let behind = line[digits..].strip_prefix(['.', ')']);
    BULLETS.iter().any(|mark| line.starts_with(mark))
        || (1..=3).contains(&digits) && behind.is_some_and(|rest| rest.starts_with(' '))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recap::offer::OFFERED;

    fn texts(parts: &[StatementSentence]) -> Vec<&str> {
        parts.iter().map(|part| part.text.as_str()).collect()
    }

    #[test]
    fn what_follows_a_colon_belongs_to_the_sentence_before_it() {
        let text =
            "Perfect! Now I can see how to fix this:\n\n- read `a.rs` first\n- then b\n\nDone.";
        let parts = assistant(text, None);
        assert_eq!(
            texts(&parts),
            ["Perfect!", "Now I can see how to fix this: read `a.rs` first", "then b", "Done."]
        );
        assert!(parts[1].weight > parts[0].weight);
    }

    #[test]
    fn a_sentence_before_a_call_announces_it() {
        let parts = assistant("The cache is stale. Let me clear it now.", Some(""));
        assert!(parts[0].weight > parts[1].weight);
        assert_eq!(texts(&assistant("Let me look at it:", Some(""))), ["Let me look at it:"]);
    }

    #[test]
    fn a_short_sentence_stays_with_the_one_that_it_is_about() {
        let parts = assistant(
            "One pass is enough for all of it. Given up. So. Then come least squares.",
            None,
        );
        let wanted =
            ["One pass is enough for all of it. Given up.", "So.", "Then come least squares."];
        assert_eq!(texts(&parts), wanted);
    }

    #[test]
    fn a_finding_before_a_call_is_no_announcement() {
        let weight = |text: &str, call: &str| assistant(text, Some(call)).pop().unwrap().weight;
        let ordinary = weight::SENTENCE;
        for (text, call) in [
            ("S03 DONE: price 4.38, approved by Bela Novak, no remarks.", "cat data/S04/mails.txt"),
            ("The cause is in src/lex.rs: it drops the token.", "sed -i s/a/b/ src/parse.rs"),
        ] {
            assert!(weight(text, call) >= ordinary, "{text}");
        }
        for (text, call) in [
            ("Now let me look at src/lex.rs again.", "cat src/lex.rs"),
            ("Let me run all the tests of it now.", "pytest -q"),
        ] {
            assert_eq!(weight(text, call), weight::ANNOUNCES, "{text}");
        }
    }

    #[test]
    fn what_a_user_forbids_weighs_more_in_every_language() {
        let weight = |text: &str| user(&[Passage::user(text)])[0].weight;
        for (plain, forbids) in [
            ("please change the folder of builds", "please do not change the folder of builds"),
            ("ändere den ordner hier bitte", "ändere den ordner hier bitte nicht"),
            ("меняй эту папку для сборки", "не меняй эту папку для сборки"),
            ("このフォルダを変更する。", "このフォルダを変更しない。"),
            ("請修改這個資料夾。", "請不要修改這個資料夾。"),
        ] {
            assert!(weight(forbids) > weight(plain), "{forbids}");
        }
        // The greeting contains the syllable of a Korean negation.
        assert_eq!(
            weight("안녕하세요 반갑습니다 오늘도 좋네요"),
            weight("여러분 반갑습니다 오늘도 좋네요")
        );
    }

    #[test]
    fn answers_by_number_keep_their_numbers() {
        let text = "Fine, here is what I think:\n\n1. csv is ok\n2. let's skip a nightly job?\n3. yes\n- and why?";
        let parts = user(&[Passage::user(text)]);
        let wanted = [
            "Fine, here is what I think: 1. csv is ok",
            "2. let's skip a nightly job?",
            "3. yes",
            "and why?",
        ];
        assert_eq!(texts(&parts), wanted);
        assert!(parts.iter().all(|part| part.begins_line));
    }

    #[test]
    fn an_offered_list_outweighs_a_remark_and_a_question_weighs_less() {
        let weights = |text: &str| -> Vec<u32> {
            assistant(text, None).iter().map(|part| part.weight).collect()
        };
        let list =
            weights("Sketches are ready: A) three ears of rye, B) an oven. They are all in ink.");
        assert_eq!(list, [OFFERED, weight::LAST]);
        assert_eq!(weights("The lamp is broken. Where did you put it then?"), [100, 60]);
        assert_eq!(weights("Noted."), [weight::FEW_WORDS]);
    }

    #[test]
    fn sentences_end_in_every_script() {
        for (text, count) in [
            ("これは長い文です。価格は4.38です！本当ですか？", 3),
            ("هل هذا صحيح؟ نعم. لا تحذف المجلد.", 3),
            ("यह ठीक है। कभी मत बदलो।", 2),
            ("Das ist z.B. so. Der Preis ist 3,5 Euro.", 2),
            ("1. First of all. 2. Second.", 2),
            ("Three of them are left: 1. Casa Bellini, by the sea. 2. Zora.", 3),
            ("The answer is 42. It was 41.", 2),
            ("A plain `!=` is wrong. Is a!b so?", 2),
        ] {
            let found: Vec<_> = sentences(text).collect();
            assert_eq!(found.len(), count, "{found:?}");
        }
    }

    #[test]
    fn a_long_sentence_is_told_in_pieces_and_not_cut() {
        let long = "one clause of it, ".repeat(90);
        let parts = assistant(&long, None);
        assert!(parts.len() > 1 && parts.iter().all(|part| !part.text.ends_with('…')));
        let told = parts.iter().map(|part| &*part.text).collect::<Vec<_>>().join(" ");
        assert_eq!(told, long.trim());
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
        let parts = assistant("Run it:\n```bash\nnpm test\n```\nIt passes now.", None);
        assert_eq!(texts(&parts), ["Run it: `npm test`", "It passes now."]);
    }
}
