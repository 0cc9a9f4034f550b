//! What all requests share.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, Weak};

use bytes::Bytes;
use midfold_core::engine::Session;
use midfold_core::event::Usage;
use midfold_core::spending::{FoldedPrompt, PromptCost};
use midfold_formats::recall_tool::ToolOffer;
use midfold_formats::request::Request;

use super::answers::{UnwrittenAnswers, key};
use super::bounded_map::BoundedMap;
use super::conversation::ProxyConversation;
use super::costs::PromptCosts;
use super::history::{HistoryCache, HistoryKeys, ProviderHistory};
use super::index::Index;
use super::items::ProviderItems;
use super::learned_windows::LearnedWindows;
use super::lock::lock;
use super::prefer::CompactionPreference;
use super::recall::HiddenExchanges;
use super::rules::ProxyRules;
use super::seal::Seal;
use super::sender::RequestSender;
use super::slot::ConversationSlot;
use super::unwritten::UnsavedConversations;
use midfold::WindowSource;

/// Ids that are promised at most: as many conversations as may wait for their second request.
const MOST_PROMISED: usize = 4_096;
/// Answers of the provider's own threads that are remembered at most.
const MOST_THREADS: usize = 16_384;

/// Who sends: scope, session and program.
type SenderKey = (String, Option<String>, Option<String>);

/// The conversations that go through a proxy.
pub struct Proxy {
    pub(super) rules: Mutex<ProxyRules>,
    pub(super) index: Mutex<Index>,
    /// Windows that providers reported.
    pub(super) learned: Mutex<LearnedWindows>,
    /// The newest conversation that each sender began in the middle.
    pub(super) begun: Mutex<HashMap<SenderKey, Weak<Mutex<ProxyConversation>>>>,
    /// Histories that clients leave to the provider.
    pub(super) histories: Mutex<HistoryCache>,
    /// Ids of conversations that have only begun, by what these begin with.
    pub(super) promised: Mutex<BoundedMap<String, MOST_PROMISED>>,
    /// Answers of threads whose beginning only the provider has: no store is asked for them.
    pub(super) threads: Mutex<BoundedMap<(), MOST_THREADS>>,
    /// Answers that are not written to the store yet.
    pub(super) answers: Mutex<UnwrittenAnswers>,
    /// Items of answers, which clients may name by their ids.
    items: Mutex<ProviderItems>,
    /// Exchanges that were had here and that no client knows.
    pub(super) hidden: Mutex<HiddenExchanges>,
    /// The tools that requests may be given.
    pub(super) offer: ToolOffer,
    /// Conversations that are not written to the store yet.
    pub(super) unsaved: Mutex<UnsavedConversations>,
    is_stored: bool,
    /// What the prompts of all conversations cost.
    pub(super) cost: Mutex<PromptCosts>,
    /// Seals what clients carry of compactions.
    pub(super) seal: Option<Seal>,
    pub(super) prefer: CompactionPreference,
}

impl Proxy {
    /// Whether the server should be asked how much a model holds. It should where neither the request (`asked`) nor
    /// the rules say it. A provider itself (`is_usual`) is not asked about models that
    /// are known anyway.
    #[must_use]
    pub fn wants_window(
        &self,
        model: Option<&str>,
        asked: Option<u64>,
        who: &RequestSender,
        is_usual: bool,
    ) -> bool {
        match lock(&self.rules).window_for(model.unwrap_or_default(), asked, who).1 {
            WindowSource::Request | WindowSource::Given | WindowSource::NoModel => false,
            WindowSource::Model(_) => !is_usual,
            _ => true,
        }
    }

    /// A proxy that folds by these rules.
    #[must_use]
    pub fn new(rules: ProxyRules) -> Self {
        let index = Index::new(rules.memory);
        let (learned, begun, histories) = (Mutex::default(), Mutex::default(), Mutex::default());
        let (items, unsaved, is_stored) = (Mutex::default(), Mutex::default(), rules.is_stored);
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
            cost,
            seal,
            prefer,
        }
    }

    /// How many conversations are held, and about how many bytes of memory they take.
    #[must_use]
    pub fn held(&self) -> (usize, usize) {
        lock(&self.index).held()
    }

    /// Whether all of a request's history is known.
    pub(super) fn is_whole(&self, request: &Request, who: &RequestSender) -> bool {
        let known = |answer: &String| lock(&self.histories).get(&who.scope, answer).is_some();
        request.previous_response.as_ref().is_none_or(known)
    }

    /// The request with the history that it leaves to the provider, and with the items that it names, where they
    /// are known.
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

    /// Keeps the history of a request and its answer, for a request that names the answer.
    pub(super) fn keep(
        &self,
        request: &Request,
        kept: &HistoryKeys,
        answer: &str,
        output: &[Bytes],
        place: Option<&ConversationSlot>,
    ) {
        lock(&self.items).put(&kept.scope, output);
        let (before, new) = match &kept.before {
            // Where the beginning is the provider's alone, so is the rest.
            ProviderHistory::Unknown => {
                lock(&self.threads).insert(key(&kept.scope, answer), ());
                return;
            }
            ProviderHistory::Nothing => (None, request.len()),
            ProviderHistory::Known(history, new) => (Some(Arc::clone(history)), *new),
        };
        let from = request.len() - new.min(request.len());
        let sent = (from..request.len()).map(|at| request.message(at));
        // Copied: a slice would keep the whole body in memory.
        let items = sent.chain(output.iter().cloned());
        let items = items.map(|item| Bytes::copy_from_slice(&item)).collect();
        lock(&self.histories).put(&kept.scope, answer, before, items);
        self.note_answer(request, kept, answer, output, place);
    }

    /// Keeps what an answer of ours left, for a request that names the answer.
    pub(super) fn keep_as(&self, kept: &HistoryKeys, answer: &str, context: &[Bytes]) {
        // Copied: a slice would keep the whole body in memory.
        let items = context.iter().map(|item| Bytes::copy_from_slice(item)).collect();
        lock(&self.histories).put(&kept.scope, answer, None, items);
        self.note_answer_as(kept, answer, context);
    }

    /// Notes that there is something to write, where there is a store.
    pub(super) fn queue(&self, conversation: &Arc<Mutex<ProxyConversation>>) {
        let mut held = lock(conversation);
        if !self.is_stored || !held.is_kept() || held.saved.is_queued || held.saved.is_foreign {
            return;
        }
        held.saved.is_queued = true;
        drop(held);
        lock(&self.unsaved).push(conversation);
    }

    pub(super) fn is_stored(&self) -> bool {
        self.is_stored
    }

    /// Adds to what a session spent, and to what all did.
    pub(super) fn spend(&self, session: &mut Session, usage: Usage, folded: Option<FoldedPrompt>) {
        let before = session.spent().cost();
        session.spend(usage, folded);
        lock(&self.cost).add(before, session.spent().cost());
    }

    /// What the prompts cost so far, over all conversations; none where no provider reported anything.
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
