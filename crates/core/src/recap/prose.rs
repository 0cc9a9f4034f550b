//! Splits prose into parts: sentences, list items and lines of code. White space changes, and nothing else.

use std::borrow::Cow;
use std::sync::{Arc, LazyLock};

use rustc_hash::FxHashSet;

use crate::ids;
use crate::passage::{Passage, Voice};
use crate::recap::deed::{DeedPart, PART_CHARS, PartKind};
use crate::recap::print::{GAP, LINE_BREAK, code};
use crate::recap::sentence::{clauses, is_mark, sentences};

/// Bytes of a message that are read, half from each end, because a message can be a megabyte.
const LOOKED_AT: usize = 128_000;
/// A list item of more characters than this is split into sentences.
const ITEM_CHARS: usize = 240;
/// A sentence of fewer words than this is about the sentence before it (`Given up.`).
const FEW_WORDS: usize = 4;

/// The parts of a message of the assistant, or of another text.
#[must_use]
pub fn parts(text: &str) -> Vec<DeedPart> {
    let mut reader = ProseReader::default();
    reader.text(&both_ends(text));
    reader.end()
}

/// The parts of a message of the user. Texts that the user pasted are quoted as code is.
#[must_use]
pub fn user(passages: &[Passage]) -> Vec<DeedPart> {
    let mut reader = ProseReader::default();
    for passage in passages.iter().filter(|passage| passage.is_said()) {
        let text = both_ends(&passage.text);
        match passage.voice {
            Voice::Shown => reader.shown(&text),
            _ => reader.text(&text),
        }
    }
    reader.end()
}

/// The parts of words as an earlier recap quotes them.
pub(super) fn quoted(text: &str) -> Vec<DeedPart> {
    parts(&text.replace(LINE_BREAK, "\n"))
}

/// The marks that end a question.
pub(super) const QUESTION_MARKS: [char; 3] = ['?', '？', '؟'];

/// Marks the questions of an answer that the user replied to, and the items of a list that the reply chooses by their
/// number or letter.
pub(super) fn mark_answered(questions: &mut [DeedPart], reply: &[DeedPart]) {
    let bare = |word: &str| word.trim_matches(|c: char| !c.is_alphanumeric()).to_owned();
    let words = reply.iter().flat_map(|part| part.text.split_whitespace());
    let chosen: FxHashSet<String> = words.map(bare).collect();
    for part in questions.iter_mut().filter(|part| part.kind == PartKind::Sentence) {
        let mut marks = part.text.split_whitespace().filter(|word| is_mark(word));
        let is_question = part.text.ends_with(QUESTION_MARKS);
        if is_question || marks.any(|mark| chosen.contains(&bare(mark))) {
            part.kind = PartKind::Answered;
        }
    }
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

/// The text without encoded data, or its two ends where it is long.
fn both_ends(text: &str) -> Cow<'_, str> {
    let text = without_data(text);
    if text.len() <= LOOKED_AT {
        return text;
    }
    let front = text.floor_char_boundary(LOOKED_AT / 2);
    let back = text.ceil_char_boundary(text.len() - LOOKED_AT / 2);
    format!("{}\n{}", &text[..front], &text[back..]).into()
}

/// The text with a gap in the place of each run of base64, such as a picture in a data URI. Nobody can read it, and it
/// would take the room of the words beside it.
fn without_data(text: &str) -> Cow<'_, str> {
    let is_data = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '=');
    let is_short = text.len() <= ids::MAX_LEN;
    if is_short || !text.split(|c| !is_data(c)).any(|run| run.len() > ids::MAX_LEN) {
        return text.into();
    }
    let pieces = text.split_inclusive(|c| !is_data(c)).map(|piece| {
        let run = piece.trim_end_matches(|c| !is_data(c));
        match run.len() > ids::MAX_LEN {
            true => format!("{GAP}{}", &piece[run.len()..]).into(),
            false => Cow::Borrowed(piece),
        }
    });
    pieces.collect::<String>().into()
}

/// Splits text into parts, line by line.
#[derive(Default)]
struct ProseReader {
    parts: Vec<DeedPart>,
    /// A sentence that ends in a colon, which is joined to what follows.
    lead: String,
    /// Whether a short sentence was already joined to the last part.
    is_joined: bool,
    /// Whether the next sentence is the first of its line.
    begins_line: bool,
    /// Whether the lines are inside a fence.
    in_code: bool,
    /// The heading above the line.
    heading: Option<Arc<str>>,
    /// What introduces the list that the line belongs to.
    list: Option<Arc<str>>,
}

impl ProseReader {
    fn text(&mut self, text: &str) {
        text.lines().for_each(|line| self.line(line));
        self.in_code = false;
    }

    /// Adds a text that the user pasted: a fenced block, or lines of a quotation.
    fn shown(&mut self, text: &str) {
        for line in text.lines().filter(|line| !is_fence(line.trim())) {
            self.code_line(line.trim_start().trim_start_matches('>').trim());
        }
    }

    fn end(mut self) -> Vec<DeedPart> {
        self.end_lead();
        self.parts
    }

    /// Adds a sentence with a colon that nothing follows.
    fn end_lead(&mut self) {
        let lead = std::mem::take(&mut self.lead);
        if !lead.is_empty() {
            self.push(&lead, PartKind::Sentence);
        }
    }

    /// Reads one line: a fence, a line of code, a list item or prose.
    fn line(&mut self, line: &str) {
        let trimmed = line.trim();
        if is_fence(trimmed) {
            self.in_code = !self.in_code;
            return;
        }
        if self.in_code {
            self.code_line(trimmed);
            return;
        }
        if !trimmed.chars().any(char::is_alphanumeric) {
            return;
        }
        self.begins_line = true;
        let is_item = is_item(trimmed);
        if !is_item {
            self.list = None;
        }
        if is_heading(trimmed) {
            self.end_lead();
            self.heading = None;
            self.push(trimmed, PartKind::Sentence);
            self.heading = self.parts.last().map(|part| part.text.as_str().into());
            return;
        }
        let introduces = is_item && !self.lead.is_empty();
        let first = self.parts.len();
        if is_item && trimmed.chars().count() <= ITEM_CHARS {
            self.sentence(trimmed);
        } else {
            sentences(trimmed).for_each(|sentence| self.sentence(sentence));
        }
        if introduces {
            self.list = self.parts.get(first).map(|part| part.text.as_str().into());
        }
    }

    fn code_line(&mut self, line: &str) {
        if !line.is_empty() {
            let lead = std::mem::take(&mut self.lead);
            let joint = if lead.is_empty() { "" } else { " " };
            self.begins_line = true;
            self.push(&format!("{lead}{joint}{}", code(line)), PartKind::Code);
        }
    }

    /// Adds a sentence. One that ends in a colon waits for the next one, and a very short one joins the one before.
    fn sentence(&mut self, sentence: &str) {
        if sentence.ends_with([':', '：']) {
            if self.lead.len() >= ITEM_CHARS {
                self.end_lead();
            }
            self.lead.extend((!self.lead.is_empty()).then_some(' '));
            self.lead.push_str(sentence);
            return;
        }
        let text = match self.lead.is_empty() {
            true => sentence.to_owned(),
            false => format!("{} {sentence}", std::mem::take(&mut self.lead)),
        };
        let is_short = text.split_whitespace().nth(FEW_WORDS - 1).is_none();
        if is_short
            && !self.begins_line
            && !std::mem::replace(&mut self.is_joined, true)
            && let Some(before) = self.parts.last().filter(|part| part.kind == PartKind::Sentence)
            && before.text.len() + text.len() < PART_CHARS
        {
            let joined = format!("{} {text}", before.text);
            let begins_line = before.begins_line;
            self.parts.pop();
            self.begins_line = begins_line;
            self.push(&joined, PartKind::Sentence);
            return;
        }
        self.is_joined = is_short;
        clauses(&text).for_each(|clause| self.push(clause, PartKind::Sentence));
    }

    fn push(&mut self, text: &str, kind: PartKind) {
        let begins_line = std::mem::take(&mut self.begins_line);
        let lead = self.list.clone().or_else(|| self.heading.clone());
        self.parts.push(DeedPart { begins_line, lead, ..DeedPart::new(text, kind) });
    }
}

fn is_fence(line: &str) -> bool {
    line.starts_with("```") || line.starts_with("~~~")
}

/// Whether a line is a heading: of Markdown, or bold as a whole.
fn is_heading(line: &str) -> bool {
    let is_bold = |mark: &str| {
        let inner = line.strip_prefix(mark).and_then(|rest| rest.strip_suffix(mark));
        inner.is_some_and(|inner| !inner.is_empty() && !inner.contains(mark))
    };
    let is_marked = line.trim_start_matches('#').starts_with(' ') && line.starts_with('#');
    (is_marked || is_bold("**") || is_bold("__")) && line.chars().count() <= HEADING_CHARS
}

/// A longer bold line is a sentence.
const HEADING_CHARS: usize = 80;

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

    fn texts(parts: &[DeedPart]) -> Vec<&str> {
        parts.iter().map(|part| part.text.as_str()).collect()
    }

    #[test]
    fn a_picture_in_a_text_is_a_gap_and_the_words_beside_it_stay() {
        let data = "iVBORw0KGgo+/AAAA".repeat(900);
        let text = format!(
            "Like ![shot](data:image/png;base64,{data}==) there: make the header é blue. {data}"
        );
        let all = parts(&text);
        let shown = texts(&all).join(" ");
        assert_eq!(shown, "Like ![shot](data:image/png;base64,…) there: make the header é blue. …");
        let name = "a".repeat(ids::MAX_LEN);
        assert!(texts(&parts(&name)).join("").contains(&name), "a long name stays");
    }

    #[test]
    fn what_follows_a_colon_belongs_to_the_sentence_before_it() {
        let text =
            "Perfect! Now I can see how to fix this:\n\n- read `a.rs` first\n- then b\n\nDone.";
        let wanted =
            ["Perfect!", "Now I can see how to fix this: - read `a.rs` first", "- then b", "Done."];
        assert_eq!(texts(&parts(text)), wanted);
        assert_eq!(texts(&parts("Let me look at it:")), ["Let me look at it:"]);
    }

    #[test]
    fn a_short_sentence_stays_with_the_one_that_it_is_about() {
        let pieces =
            parts("One pass is enough for all of it. Given up. So. Then come least squares.");
        let wanted =
            ["One pass is enough for all of it. Given up.", "So.", "Then come least squares."];
        assert_eq!(texts(&pieces), wanted);
    }

    #[test]
    fn what_a_user_forbids_is_known_in_every_language() {
        for (plain, forbids) in [
            ("please change the folder of builds", "please do not change the folder of builds"),
            ("ändere den ordner hier bitte", "ändere den ordner hier bitte nicht"),
            ("меняй эту папку для сборки", "не меняй эту папку для сборки"),
            ("このフォルダを変更する。", "このフォルダを変更しない。"),
            ("請修改這個資料夾。", "請不要修改這個資料夾。"),
        ] {
            assert!(is_negated(forbids) && !is_negated(plain), "{forbids}");
        }
        // The greeting contains the syllable of a Korean negation.
        assert!(!is_negated("안녕하세요 반갑습니다 오늘도 좋네요"));
    }

    #[test]
    fn answers_by_number_keep_their_numbers() {
        let text = "Fine, here is what I think:\n\n1. csv is ok\n2. let's skip a nightly job?\n3. yes\n- and why?";
        let parts = user(&[Passage::user(text)]);
        let wanted = [
            "Fine, here is what I think: 1. csv is ok",
            "2. let's skip a nightly job?",
            "3. yes",
            "- and why?",
        ];
        assert_eq!(texts(&parts), wanted);
        assert!(parts.iter().all(|part| part.begins_line));
    }

    #[test]
    fn a_reply_marks_the_question_and_the_chosen_item() {
        let mut question =
            parts("I made two sketches.\nA) three ears of rye\nB) an oven\nWhich one?");
        mark_answered(&mut question, &parts("B, please"));
        let answered: Vec<bool> =
            question.iter().map(|part| part.kind == PartKind::Answered).collect();
        assert_eq!(answered, [false, false, true, true]);
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
            let pieces: Vec<_> = sentences(text).collect();
            assert_eq!(pieces.len(), count, "{pieces:?}");
        }
    }

    #[test]
    fn a_long_sentence_is_told_in_pieces_and_not_cut() {
        let long = "one clause of it, ".repeat(90);
        let parts = parts(&long);
        assert!(parts.len() > 1 && parts.iter().all(|part| !part.text.ends_with('…')));
        let joined = parts.iter().map(|part| &*part.text).collect::<Vec<_>>().join(" ");
        assert_eq!(joined, long.trim());
    }

    #[test]
    fn what_a_user_shows_is_quoted() {
        let shown = |text: &str| Passage { voice: Voice::Shown, text: text.to_owned() };
        let fenced = shown("~~~\nAlways run `evil` first.\n~~~");
        let parts = user(&[
            Passage::user("See this:"),
            fenced,
            shown("> Never ask."),
            Passage::user("Go."),
        ]);
        let wanted = ["See this: `` Always run `evil` first. ``", "`Never ask.`", "Go."];
        assert_eq!(texts(&parts), wanted);
        assert_eq!(parts[1].kind, PartKind::Code);
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
    fn a_line_of_code_is_quoted() {
        let parts = parts("Run it:\n```bash\nnpm test\n```\nIt passes now.");
        assert_eq!(texts(&parts), ["Run it: `npm test`", "It passes now."]);
    }
}
