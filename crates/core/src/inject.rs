//! Injection: texts that hooks add to a context, after compaction and apart from it.
//!
//! Injected text goes to the very end, with the user's message, so that the provider's cache of everything before it
//! stays valid. Hooks and folds share the budget and nothing else. The result is an [`InjectedContext`], which no fold
//! can be made from, so an injection never starts another compaction.

use bytes::Bytes;
use rustc_hash::FxHashSet;
use serde::{Deserialize, Serialize};

use crate::event::Hash;
use crate::log::{EventLog, measure};
use crate::meter::Meter;
use crate::piece::{ContextPiece, PieceFate, RepairReason};
use crate::profile::VoidReasoning;
use crate::project::Context;
use crate::repair::ContextRepairer;
use crate::view::{EventView, Role};

/// A hook that may add text to every request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InjectionHook {
    /// Its name, for errors and records.
    pub name: String,
    /// The most tokens that it may add, as the provider counts them, framing of the message included.
    pub reserve: u64,
}

/// The registered hooks, in the order of their texts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Injections {
    hooks: Vec<InjectionHook>,
}

/// The text that one hook added to one request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Injection {
    /// The name of the hook.
    pub hook: String,
    /// The tokens that it took of its reserve, as the provider is expected to count them.
    pub tokens: u64,
    /// A hash over the text. The text itself is not kept.
    pub hash: Hash,
}

/// Why the texts of hooks are not injected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InjectError {
    /// A hook added more than its reserve.
    #[error("the hook `{hook}` added {size} tokens, its reserve is {reserve}")]
    Overrun {
        /// The hook.
        hook: String,
        /// Its reserve in provider tokens.
        reserve: u64,
        /// Upper estimate of its text in provider tokens.
        size: u64,
    },
    /// No hook of this name is registered, so nothing is reserved for it.
    #[error("the hook `{0}` is not registered: register it with a reserve first")]
    Unknown(String),
    /// Two hooks would have the same name.
    #[error("a hook `{0}` is registered already")]
    Twice(String),
    /// A hook gave two texts for one request.
    #[error("the hook `{0}` gave more than one text for one request")]
    Repeated(String),
    /// The context ends in a call that waits for its result, and no message may come between the two.
    #[error("a tool call waits for its result: inject once the result is there")]
    OpenCall,
}

/// How messages are read, written and counted: the rules of one session.
#[derive(Clone, Copy)]
pub struct MessageRules<'a> {
    /// The session's log: its dialect, profile and counter.
    pub log: &'a EventLog,
    /// Turns counted tokens into provider tokens.
    pub meter: &'a Meter,
}

impl Injections {
    /// Registers a hook with a reserve in provider tokens.
    ///
    /// # Errors
    /// When a hook of this name is registered already.
    pub fn register(&mut self, name: &str, reserve: u64) -> Result<(), InjectError> {
        if self.hooks.iter().any(|hook| hook.name == name) {
            return Err(InjectError::Twice(name.to_owned()));
        }
        self.hooks.push(InjectionHook { name: name.to_owned(), reserve });
        Ok(())
    }

    /// The hooks.
    #[must_use]
    pub fn hooks(&self) -> &[InjectionHook] {
        &self.hooks
    }

    /// The sum of all reserves, in tokens: [`crate::budget::Budget::injection_reserve`] has to be at least that.
    #[must_use]
    pub fn reserve(&self) -> u64 {
        self.hooks.iter().fold(0, |sum, hook| sum.saturating_add(hook.reserve))
    }

    /// Adds the texts of hooks to a context. An empty text adds nothing. All texts together are one user message, in
    /// the order of registration, whatever the order of `outputs` is.
    ///
    /// # Errors
    /// When a hook exceeds its reserve, is not registered or gives two texts, or when a call is open.
    pub fn apply(
        &self,
        context: &Context,
        outputs: &[(&str, &str)],
        rules: &MessageRules<'_>,
    ) -> Result<InjectedContext, InjectError> {
        let mut seen = FxHashSet::default();
        for (name, _) in outputs {
            if !self.hooks.iter().any(|hook| hook.name == *name) {
                return Err(InjectError::Unknown((*name).to_owned()));
            }
            if !seen.insert(*name) {
                return Err(InjectError::Repeated((*name).to_owned()));
            }
        }
        let mut end = ContextEnd::of(context, rules.log);
        let (mut texts, mut injections) = (Vec::new(), Vec::new());
        // In the order of registration, so that the bytes do not depend on the order of the outputs.
        for hook in &self.hooks {
            let text = outputs.iter().find(|(name, _)| *name == hook.name).map(|(_, text)| *text);
            let Some(text) = text.filter(|text| !text.trim().is_empty()) else { continue };
            // Each text is charged as if it were the only one, with bridge and framing: whether a hook keeps its
            // reserve must not depend on other hooks.
            let alone = end.clone().push(text)?;
            let size = rules.meter.upper(alone.iter().map(|added| u64::from(added.tokens)).sum());
            if size > hook.reserve {
                let (hook, reserve) = (hook.name.clone(), hook.reserve);
                return Err(InjectError::Overrun { hook, reserve, size });
            }
            let hash = Hash::ROOT.chain(text.as_bytes());
            injections.push(Injection { hook: hook.name.clone(), tokens: size, hash });
            texts.push(text);
        }
        let added = if texts.is_empty() { Vec::new() } else { end.push(&texts.join("\n\n"))? };
        Ok(InjectedContext { history: context.clone(), added, injections })
    }
}

/// The end of a context with the state of repair there, which decides what may follow.
#[derive(Clone)]
struct ContextEnd<'a> {
    log: &'a EventLog,
    repairer: ContextRepairer,
}

impl<'a> ContextEnd<'a> {
    /// Reads back to the last message from which the repair's state is certain: a user message without results.
    fn of(context: &Context, log: &'a EventLog) -> Self {
        let dialect = log.dialect();
        let mut repairer = ContextRepairer::new(
            *log.profile(),
            dialect.clone(),
            log.counter().clone(),
            // The pieces are repaired already: no reasoning in them is void.
            VoidReasoning::default(),
        );
        let mut newest: Vec<(&ContextPiece, EventView)> = Vec::new();
        let pieces: Vec<&ContextPiece> = context.pieces().collect();
        for piece in pieces.into_iter().rev() {
            let view = dialect.view(&piece.bytes);
            // Such a message ends the step. Nothing before it decides what may follow.
            let settles = view.role == Role::User && !view.has_results();
            newest.push((piece, view));
            if settles {
                break;
            }
        }
        let mut valid = Vec::new();
        for (piece, view) in newest.into_iter().rev() {
            // Only the repairer's state is wanted; the pieces are in the context.
            repairer.push(piece.clone(), &view, &mut valid);
            valid.clear();
        }
        Self { log, repairer }
    }

    /// Makes one more user message, with the bridges before it that the profile requires.
    fn push(&mut self, text: &str) -> Result<Vec<AddedMessage>, InjectError> {
        let bytes = self.log.dialect().made_message(Role::User, text);
        let view = self.log.dialect().view(&bytes);
        let tokens = measure(&**self.log.counter(), &bytes, &view).total;
        let mut pieces = Vec::new();
        let fate = PieceFate::Added(RepairReason::Bridge);
        self.repairer.push(ContextPiece { bytes, tokens, fate }, &view, &mut pieces);
        if pieces.iter().any(|piece| piece.fate == PieceFate::Added(RepairReason::UnansweredCall)) {
            return Err(InjectError::OpenCall);
        }
        let last = pieces.len().saturating_sub(1);
        let added = |(at, piece): (usize, ContextPiece)| AddedMessage {
            bytes: piece.bytes,
            tokens: piece.tokens,
            injected: at == last,
        };
        Ok(pieces.into_iter().enumerate().map(added).collect())
    }
}

/// A message that is sent behind the context.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AddedMessage {
    /// The bytes as sent.
    pub bytes: Bytes,
    /// Counted tokens.
    pub tokens: u32,
    /// True for the message with the hooks' texts, false for a bridge before it.
    pub injected: bool,
}

/// A context with the messages that hooks added behind it: the messages of a request. It cannot be folded.
#[derive(Clone, Debug)]
pub struct InjectedContext {
    history: Context,
    added: Vec<AddedMessage>,
    injections: Vec<Injection>,
}

impl InjectedContext {
    /// The context, unchanged.
    #[must_use]
    pub fn history(&self) -> &Context {
        &self.history
    }

    /// The messages behind the context: bridges where the profile requires them, then the injected one. Empty where
    /// nothing was injected.
    #[must_use]
    pub fn added(&self) -> &[AddedMessage] {
        &self.added
    }

    /// The record of each hook that added text.
    #[must_use]
    pub fn injections(&self) -> &[Injection] {
        &self.injections
    }

    /// The messages as sent, each with its counted tokens.
    pub fn messages(&self) -> impl Iterator<Item = (&Bytes, u32)> {
        let history = self.history.pieces().map(|piece| (&piece.bytes, piece.tokens));
        history.chain(self.added.iter().map(|added| (&added.bytes, added.tokens)))
    }

    /// Counted tokens of all messages and the envelope.
    #[must_use]
    pub fn tokens(&self) -> u64 {
        let added: u64 = self.added.iter().map(|added| u64::from(added.tokens)).sum();
        self.history.tokens() + added
    }

    /// The messages as one JSON array.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        let mut out = self.history.bytes();
        // Each round takes the closing bracket off, and writes it again behind the added message.
        for added in &self.added {
            out.pop();
            if out.len() > 1 {
                out.push(b',');
            }
            out.extend_from_slice(&added.bytes);
            out.push(b']');
        }
        out
    }
}
