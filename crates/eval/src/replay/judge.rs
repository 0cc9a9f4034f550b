//! Judges the sent messages against the names that were needed. The work is done once for each message that comes or
//! goes, and not for each request.

use midfold_core::ids::identifiers;
use midfold_core::log::measure;
use midfold_core::names::NameTable;
use midfold_core::view::{BlockKind, EventView, Role};

use crate::replay::artifacts::{FileMentions, NamedFile};
use crate::replay::counts::NumberCounts;
use crate::replay::drive::{ReplayFold, SentMessage, SentRequest, same_bytes};
use crate::replay::measures::TokensBy;
use crate::replay::recording::{MentionedNames, Recording};
use crate::replay::texts::{fold_space, quoted, words};

/// The context as it was last sent, with the names that it mentions.
#[derive(Default)]
pub(super) struct HeldContext {
    messages: Vec<HeldMessage>,
    /// The tokens of all messages, without the envelope.
    tokens: u64,
    pub ids: NumberCounts,
    pub words: NumberCounts,
    quotes: NumberCounts,
    pub rules: NumberCounts,
    pub reads: NumberCounts,
    pub writes: NumberCounts,
    /// The tokens by kind, without the envelope.
    pub by: TokensBy,
    /// The events that are here, byte for byte.
    pub events: NumberCounts,
}

/// One message of the context.
struct HeldMessage {
    item: SentMessage,
    reading: MessageReading,
    by: TokensBy,
}

/// The names that a message mentions.
enum MessageReading {
    /// The names of this event of the recording.
    Event(u32),
    /// The names of a message that is no event.
    Made(Box<MadeContext>),
}

/// The reading of a message that is no event of the recording.
struct MadeContext {
    view: EventView,
    /// The text with white space folded.
    text: String,
    mentions: MentionedNames,
}

/// How the new context follows the one before.
pub(super) struct ContextStep {
    /// The number of messages at the front that are the same.
    pub same: usize,
    /// The tokens of those messages.
    pub prefix: u64,
    /// Whether the context before is not the start of this one.
    pub broke: bool,
}

impl HeldContext {
    /// Replaces the context by the messages that are sent now.
    pub fn take(
        &mut self,
        recording: &Recording,
        request: SentRequest,
    ) -> (ContextStep, Option<ReplayFold>) {
        let before = self.messages.len();
        let more = self.messages[request.same.min(before)..].iter().zip(&request.items);
        let more = more.take_while(|(old, new)| same_bytes(&old.item.bytes, &new.bytes)).count();
        let same = request.same + more;
        let rest = self.messages.split_off(same);
        for message in &rest {
            self.count(recording, message, NumberCounts::take);
            self.by.take(&message.by);
            self.tokens -= u64::from(message.item.tokens);
        }
        let prefix = self.tokens;
        // A message that was made from an event is often sent again after another recap, so its reading is kept.
        let mut rest = rest.into_iter().filter(HeldMessage::is_made_of_event).peekable();
        for item in request.items.into_iter().skip(more) {
            // Both lists are in the order of events, so one pass pairs them.
            while rest.next_if(|message| message.item.event < item.event).is_some() {}
            let message = match rest.next_if(|message| message.item.is(&item)) {
                Some(known) => HeldMessage { item, ..known },
                None => HeldMessage::new(recording, item),
            };
            self.count(recording, &message, NumberCounts::add);
            self.by.add(&message.by);
            self.tokens += u64::from(message.item.tokens);
            self.messages.push(message);
        }
        (ContextStep { same, prefix, broke: same < before }, request.folded)
    }

    fn count(
        &mut self,
        recording: &Recording,
        message: &HeldMessage,
        change: fn(&mut NumberCounts, &[u32]),
    ) {
        let mentions = match &message.reading {
            MessageReading::Made(text) => &text.mentions,
            MessageReading::Event(event) => {
                change(&mut self.events, &[*event]);
                &recording.mentions[*event as usize]
            }
        };
        change(&mut self.ids, &mentions.ids);
        change(&mut self.words, &mentions.words);
        change(&mut self.quotes, &mentions.quotes);
        change(&mut self.rules, &mentions.rules);
        change(&mut self.reads, &mentions.reads);
        change(&mut self.writes, &mentions.writes);
    }

    /// Whether a quoted string is in the context: in quotes, or in a text that was made for the context.
    pub fn quotes(&self, recording: &Recording, quote: u32) -> bool {
        let text = recording.quotes.text(quote);
        self.quotes.has(quote)
            || self.messages.iter().any(|message| match &message.reading {
                MessageReading::Made(made_text) => made_text.text.contains(text),
                MessageReading::Event(_) => false,
            })
    }

    /// The messages from the one at `from` on, with their views, for a validator.
    pub fn views<'a>(
        &'a self,
        recording: &'a Recording,
        from: usize,
    ) -> impl Iterator<Item = (&'a [u8], &'a EventView)> {
        self.messages.iter().skip(from).map(|message| {
            let view = match &message.reading {
                MessageReading::Event(event) => &recording.log.events()[*event as usize].view,
                MessageReading::Made(text) => &text.view,
            };
            (&message.item.bytes[..], view)
        })
    }

    /// All messages of the context.
    pub fn items(&self) -> impl Iterator<Item = &SentMessage> {
        self.messages.iter().map(|message| &message.item)
    }
}

impl HeldMessage {
    fn is_made_of_event(&self) -> bool {
        self.item.event.is_some() && matches!(self.reading, MessageReading::Made(_))
    }

    /// Reads a message. An event of the recording was read before, so only other messages are read here.
    fn new(recording: &Recording, item: SentMessage) -> Self {
        if let Some(number) = item.event.filter(|_| item.verbatim) {
            let event = &recording.log.events()[number as usize];
            let by = by(&event.view, &event.tokens.blocks, event.tokens.total);
            return Self { item, reading: MessageReading::Event(number), by };
        }
        let log = &recording.log;
        let view = log.dialect().view(&item.bytes);
        let text = recording.text(&item.bytes, &view);
        let folded = fold_space(&text);
        let mentions = mention(recording, &text, &folded);
        let by = match item.stands_in {
            true => TokensBy { recap: u64::from(item.tokens), ..TokensBy::default() },
            false => {
                let tokens = measure(&**log.counter(), &item.bytes, &view);
                by(&view, &tokens.blocks, item.tokens)
            }
        };
        Self {
            item,
            reading: MessageReading::Made(Box::new(MadeContext { view, text: folded, mentions })),
            by,
        }
    }
}

/// The names that a text mentions, of those that the recording knows. `folded` is the text with white space folded.
fn mention(recording: &Recording, text: &str, folded: &str) -> MentionedNames {
    let sorted = |mut numbers: Vec<u32>| {
        numbers.sort_unstable();
        numbers.dedup();
        numbers.into_boxed_slice()
    };
    // All names are found first and then looked up. The tables are large, and look-ups that follow each other closely
    // wait for memory at the same time.
    let ids: Vec<&str> = identifiers(text).collect();
    let all: Vec<&str> = words(text).collect();
    let ids = ids.into_iter().filter_map(|id| recording.ids.get(id)).collect();
    let words = all.into_iter().filter_map(|word| recording.words.get(word)).collect();
    let quotes = quoted(text).filter_map(|quote| recording.quotes.get(quote)).collect();
    let folded_names = |names: &NameTable| -> Box<[u32]> {
        names
            .iter()
            .filter(|(_, known)| folded.contains(*known))
            .map(|(number, _)| number)
            .collect()
    };
    let mentions = FileMentions::new(text);
    let uses: Vec<(u32, NamedFile)> =
        recording.paths.iter().map(|(number, path)| (number, mentions.mention_of(path))).collect();
    let of = |how: fn(&NamedFile) -> bool| -> Box<[u32]> {
        uses.iter().filter(|(_, named)| how(named)).map(|(number, _)| *number).collect()
    };
    MentionedNames {
        ids: sorted(ids),
        words: sorted(words),
        quotes: sorted(quotes),
        rules: folded_names(&recording.rules),
        reads: of(|named| named.read),
        writes: of(|named| named.modified),
    }
}

/// The tokens of a message by kind. Tokens that belong to no block count for the role.
fn by(view: &EventView, blocks: &[u32], total: u32) -> TokensBy {
    let mut by = TokensBy::default();
    let mut rest = u64::from(total);
    for (block, tokens) in view.blocks.iter().zip(blocks) {
        let tokens = u64::from(*tokens).min(rest);
        rest -= tokens;
        *match &block.kind {
            BlockKind::Call { .. } => &mut by.call,
            BlockKind::Result { .. } => &mut by.result,
            _ => by_role(&mut by, view.role),
        } += tokens;
    }
    // The frame of the message belongs to no block. With it, the parts add up to the total.
    *by_role_rest(&mut by, view) += rest;
    by
}

fn by_role(by: &mut TokensBy, role: Role) -> &mut u64 {
    match role {
        Role::Assistant => &mut by.assistant,
        Role::Tool => &mut by.result,
        role if role.is_system() => &mut by.system,
        _ => &mut by.user,
    }
}

fn by_role_rest<'a>(by: &'a mut TokensBy, view: &EventView) -> &'a mut u64 {
    if view.has_results() { &mut by.result } else { by_role(by, view.role) }
}
