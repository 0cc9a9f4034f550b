//! The state that all requests share.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, Weak};

use bytes::Bytes;
use midfold_core::Hash;
use midfold_core::engine::Session;
use midfold_core::event::Usage;
use midfold_core::spending::{PromptCost, SessionSpending, SpentPrompt};
use midfold_formats::recall_tool::ToolOffer;
use midfold_formats::request::Request;

use super::answers::{UnwrittenAnswers, key};
use super::bounded_map::BoundedMap;
use super::conversation::ProxyConversation;
use super::costs::PromptCosts;
use super::history::{HistoryCache, ProviderHistory, RequestHistory};
use super::index::Index;
use super::items::ProviderItems;
use super::learned_windows::LearnedWindows;
use super::lock::lock;
use super::opened::OpenedConversation;
use super::prefer::CompactionPreference;
use super::recall::HiddenExchanges;
use super::rules::ProxyRules;
use super::seal::Seal;
use super::sender::RequestSender;
use super::slot::ConversationSlot;
use super::unwritten::UnsavedConversations;
use midfold::WindowSource;

/// The most promised ids: one for each conversation whose second request has not come yet.
const MOST_PROMISED: usize = 4_096;
/// The most answers that are remembered of threads whose history only the provider has.
const MOST_THREADS: usize = 16_384;

/// The sender's scope, session name and program.
type SenderKey = (String, Option<String>, Option<String>);

/// The proxy: all conversations that go through it.
pub struct Proxy {
    pub(super) rules: Mutex<ProxyRules>,
    pub(super) index: Mutex<Index>,
    /// Windows that providers reported.
    pub(super) learned: Mutex<LearnedWindows>,
    /// For each sender, the newest conversation whose first request already had answers of a model.
    pub(super) begun: Mutex<HashMap<SenderKey, Weak<Mutex<ProxyConversation>>>>,
    /// Histories that clients leave to the provider.
    pub(super) histories: Mutex<HistoryCache>,
    /// Conversations that have only begun, by their opening.
    pub(super) promised: Mutex<BoundedMap<OpenedConversation, MOST_PROMISED>>,
    /// Answers of threads whose beginning only the provider has. No store is asked for them, because it cannot have
    /// them.
    pub(super) threads: Mutex<BoundedMap<(), MOST_THREADS>>,
    /// Answers that are not written to the store yet.
    pub(super) answers: Mutex<UnwrittenAnswers>,
    /// Items of answers that clients may name by their ids.
    items: Mutex<ProviderItems>,
    /// Exchanges between the proxy and the model that no client knows.
    pub(super) hidden: Mutex<HiddenExchanges>,
    /// The tools of midfold that requests may carry.
    pub(super) offer: ToolOffer,
    /// Conversations that are not written to the store yet.
    pub(super) unsaved: Mutex<UnsavedConversations>,
    is_stored: bool,
    /// Whether the last step of each conversation is kept for [`Proxy::append_last_steps`].
    pub(super) keeps_steps: bool,
    /// The summed cost of the prompts of all conversations.
    pub(super) cost: Mutex<PromptCosts>,
    /// The seal for compactions that clients carry with them.
    pub(super) seal: Option<Seal>,
    pub(super) prefer: CompactionPreference,
}

impl Proxy {
    /// Whether the upstream should be asked for a model's window: if neither the request (`requested`) nor the rules
    /// set it. A provider itself (`is_usual`) is not asked about models whose window is known by name.
    #[must_use]
    pub fn wants_window(
        &self,
        model: Option<&str>,
        requested: Option<u64>,
        who: &RequestSender,
        is_usual: bool,
    ) -> bool {
        match lock(&self.rules).window_for(model.unwrap_or_default(), requested, who).1 {
            WindowSource::Request | WindowSource::Given | WindowSource::NoModel => false,
            WindowSource::Model(_) => !is_usual,
            _ => true,
        }
    }

    /// Makes a proxy with these rules.
    #[must_use]
    pub fn new(rules: ProxyRules) -> Self {
        let index = Index::new(rules.memory);
        let (learned, begun, histories) = (Mutex::default(), Mutex::default(), Mutex::default());
        let (items, unsaved, is_stored) = (Mutex::default(), Mutex::default(), rules.is_stored);
        let keeps_steps = rules.is_stored && rules.keeps_steps;
        let (seal, prefer, offer) = (rules.seal.clone(), rules.prefer, rules.offer);
        let (rules, index) = (Mutex::new(rules), Mutex::new(index));
        let (cost, hidden, answers) = (Mutex::default(), Mutex::default(), Mutex::default());
        let (threads, promised) = (Mutex::default(), Mutex::default());
        Self {
            rules,
            index,
            learned,
            begun,
            histories,
            promised,
            threads,
            answers,
            items,
            hidden,
            offer,
            unsaved,
            is_stored,
            keeps_steps,
            cost,
            seal,
            prefer,
        }
    }

    /// How many conversations are held, and about how many bytes of memory they take.
    #[must_use]
    pub fn extent(&self) -> (usize, usize) {
        lock(&self.index).extent()
    }

    /// Whether the history that a request names is known here, or the request has it itself.
    pub(super) fn is_whole(&self, request: &Request, who: &RequestSender) -> bool {
        let known = |answer: &String| lock(&self.histories).get(&who.scope, answer).is_some();
        request.previous_response.as_ref().is_none_or(known)
    }

    /// Completes a request with the history that it leaves to the provider, and with the items that it names, as far as
    /// they are known.
    pub(super) fn whole(
        &self,
        request: Request,
        who: &RequestSender,
    ) -> (Request, ProviderHistory) {
        let request = lock(&self.items).named_in(&request, &who.scope).unwrap_or(request);
        let Some(answer) = &request.previous_response else {
            return (request, ProviderHistory::Nothing);
        };
        let known = lock(&self.histories).get(&who.scope, answer);
        let Some(history) = known else { return (request, ProviderHistory::Unknown) };
        match history.in_front_of(&request) {
            Ok(whole) => (whole, ProviderHistory::Known(history, request.len())),
            Err(_) => (request, ProviderHistory::Unknown),
        }
    }

    /// Keeps the history of a request and its answer, for a later request that names the answer.
    pub(super) fn keep(
        &self,
        request: &Request,
        request_history: &RequestHistory,
        answer: &str,
        output: &[Bytes],
        place: Option<&ConversationSlot>,
    ) {
        // Kept in any case: a client may name an item by its id although the thread's beginning is not known here.
        lock(&self.items).put(&request_history.scope, output);
        let (before, new) = match &request_history.before {
            // The beginning of this thread is only known to the provider, so its history can never be completed here.
            ProviderHistory::Unknown => {
                lock(&self.threads).insert(key(&request_history.scope, answer), ());
                return;
            }
            ProviderHistory::Nothing => (None, request.len()),
            ProviderHistory::Known(history, new) => (Some(Arc::clone(history)), *new),
        };
        let from = request.len() - new.min(request.len());
        let messages = (from..request.len()).map(|at| request.message(at));
        // Copied, because a slice would keep the whole body in memory.
        let items = messages.chain(output.iter().cloned());
        let items = items.map(|item| Bytes::copy_from_slice(&item)).collect();
        lock(&self.histories).put(&request_history.scope, answer, before, items);
        self.note_answer(request, request_history, answer, output, place);
    }

    /// Keeps the context behind an answer that midfold made, for a later request that names the answer.
    pub(super) fn keep_as(&self, history: &RequestHistory, answer: &str, context: &[Bytes]) {
        // Copied, because a slice would keep the whole body in memory.
        let items = context.iter().map(|item| Bytes::copy_from_slice(item)).collect();
        lock(&self.histories).put(&history.scope, answer, None, items);
        self.note_answer_as(history, answer, context);
    }

    /// Queues a conversation to be written, if there is a store and the conversation is worth storing.
    pub(super) fn queue(&self, conversation: &Arc<Mutex<ProxyConversation>>) {
        let mut locked = lock(conversation);
        if !self.is_stored || !locked.is_kept() || locked.saved.is_queued || locked.saved.is_foreign
        {
            return;
        }
        locked.saved.is_queued = true;
        drop(locked);
        lock(&self.unsaved).push(conversation);
    }

    pub(super) fn is_stored(&self) -> bool {
        self.is_stored
    }

    /// Adds the cost of an answer to a session, and to the sum of all.
    pub(super) fn spend(&self, session: &mut Session, usage: Usage, prompt: SpentPrompt) {
        let before = session.spent().cost();
        session.spend(usage, Some(prompt));
        lock(&self.cost).add(before, session.spent().cost());
    }

    /// Adds the cost of an answer without a history to the conversation with this opening, and to the sum of all.
    pub(super) fn spend_opening(&self, opening: Option<Hash>, usage: Usage, prompt: SpentPrompt) {
        let mut alone = SessionSpending::default();
        alone.add(usage, Some(prompt));
        lock(&self.cost).add(None, alone.cost());
        let mut promised = lock(&self.promised);
        if let Some(opened) = opening.and_then(|opening| promised.get_mut(&opening)) {
            opened.spent.add(usage, Some(prompt));
        }
    }

    /// The cost of the prompts so far, over all conversations; `None` if no provider reported any usage.
    #[must_use]
    pub fn cost(&self) -> Option<PromptCost> {
        lock(&self.cost).sum()
    }

    /// How many conversations wait to be written.
    #[must_use]
    pub fn unsaved(&self) -> usize {
        lock(&self.unsaved).len()
    }
}
