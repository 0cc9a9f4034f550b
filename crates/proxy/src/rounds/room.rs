//! How much the answers to look-ups may say, in tokens of the conversation.

use midfold_core::TextKind;
use midfold_store::recall::PAGE_CHARS;

use crate::lock::lock;
use crate::slot::ConversationSlot;

/// An answer takes at most this part of the window.
const EACH: u64 = 8;
/// All answers of a round take at most this part of the window, so that they fit behind the context.
const TOGETHER: u64 = 4;
/// An answer with less room, in tokens, says too little: the calls behind those that have it are asked for again.
const LEAST_TOKENS: u64 = 250;
/// An answer with fewer characters is not made shorter.
const LEAST_CHARS: usize = 100;
/// How often an answer is made shorter. Headlines and hints are not in the characters of a page, so one try may not do.
const MOST_TRIES: usize = 4;
/// About as many characters has a token of English text, by which the first try goes.
const CHARS_PER_TOKEN: u64 = 4;

/// The answer to a call that has no room.
pub(super) const TOO_MANY: &str = "error: too many look-ups at once; send this one again\n";

/// The room for the answers of a round.
pub(super) struct LookUpRoom<'a> {
    place: &'a ConversationSlot,
    /// The most tokens of each.
    tokens: u64,
    /// How many of them have room.
    pub answers: usize,
}

impl<'a> LookUpRoom<'a> {
    /// The room where a model made this many look-ups at once.
    pub fn of(place: &'a ConversationSlot, look_ups: usize) -> Self {
        let (window, look_ups) = (place.budget.window, look_ups.max(1) as u64);
        let most = (window / TOGETHER / LEAST_TOKENS).max(1);
        let answered = look_ups.min(most);
        let tokens = (window / EACH).min(window / TOGETHER / answered);
        Self { place, tokens, answers: usize::try_from(answered).unwrap_or(usize::MAX) }
    }

    /// The first text that fits into the room of one answer. `text_of` makes one of about this many characters.
    pub async fn fitting<F: Future<Output = String>>(
        &self,
        text_of: impl Fn(usize) -> F,
    ) -> String {
        let most = usize::try_from(self.tokens.saturating_mul(CHARS_PER_TOKEN));
        let mut chars = most.unwrap_or(usize::MAX).clamp(LEAST_CHARS, PAGE_CHARS);
        let mut text = text_of(chars).await;
        for _ in 1..MOST_TRIES {
            let tokens = self.tokens_of(&text);
            if tokens <= self.tokens || chars <= LEAST_CHARS {
                break;
            }
            let fewer = text.chars().count().min(chars) as u64 * self.tokens / tokens;
            chars = usize::try_from(fewer).unwrap_or(chars).clamp(LEAST_CHARS, chars - 1);
            text = text_of(chars).await;
        }
        text
    }

    /// The tokens of a text, in the provider's count.
    fn tokens_of(&self, text: &str) -> u64 {
        let counted = self.place.reading.counter.count(text, TextKind::Result);
        lock(&self.place.conversation).session.meter().ratio.of(counted.into())
    }
}
