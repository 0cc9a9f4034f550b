//! Makes the requests of clients fit that do not know midfold: what a proxy does with a request before it sends it, and
//! with the answer afterwards. This crate does no IO; the server crate does.
//!
//! A request carries its whole history. The proxy finds the conversation that it continues by the content of its
//! messages, so clients need no header, and forks, restarts and edited histories work. A request that fits is sent
//! unchanged, byte for byte. One that does not is read through a fold, and so is every later request of the
//! conversation; that way each prompt extends the one before, and the provider's cache can serve it.
//!
//! ```
//! use std::sync::Arc;
//!
//! use bytes::Bytes;
//! use midfold::formats::request::Request;
//! use midfold_proxy::{Proxy, ProxyRules, RequestSender};
//! use midfold::{DialectKind, Policy};
//!
//! let proxy = Arc::new(Proxy::new(ProxyRules::new(Policy::preset("default")?).window(8_000)));
//! let messages = midfold_testkit::coding_session(7, 12).join(",");
//! let body = Bytes::from(format!(r#"{{"model":"m","messages":[{messages}]}}"#));
//! let request = Request::read(DialectKind::OpenAiChat, body.clone())?;
//! let turn = proxy.turn(request, &RequestSender::default(), 0);
//! assert!(turn.sent().is_folded() && turn.sent().body.len() < body.len());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod answers;
mod bounded_map;
mod calls;
mod chain;
mod conversation;
mod costs;
mod find;
mod fold_marks;
mod history;
mod identities;
mod in_store;
mod index;
mod items;
mod keep;
mod keep_answers;
mod keep_learned;
mod keep_steps;
mod last_step;
mod learned_windows;
mod lock;
mod narrate;
mod newest;
mod opened;
mod pending_answer;
mod placeholders;
mod prefer;
mod read_request;
mod recall;
mod recalled;
mod remedies;
mod reply;
mod rounds;
mod rules;
mod seal;
mod sender;
mod shared;
mod shown_rules;
mod slot;
mod stable;
mod stated_window;
mod stored_parts;
mod truncation;
mod turn;
mod unwritten;
pub mod vendor;

use std::sync::{Arc, Mutex};

use midfold::WindowSource;
use midfold_formats::recall_tool::ToolOffer;
use midfold_formats::request::Request;
use midfold_store::Millis;

use conversation::ProxyConversation;
pub use keep_learned::WINDOW_LASTS;
use learned_windows::{WindowOwner, WindowReport};
use lock::lock;
pub use narrate::NarrationTarget;
pub use pending_answer::{PendingAnswer, SilentTruncation};
pub use prefer::CompactionPreference;
pub use read_request::ReadRequest;
use recall::RecallOffer;
pub use rounds::RecallRound;
pub use rules::ProxyRules;
use rules::RequestReading;
pub use seal::{OpenedBlob, RandomSource, Seal, SealKey, SealKeyError};
pub use sender::RequestSender;
pub use shared::Proxy;
pub use turn::{MatchedRequest, OutgoingRequest};

pub use midfold::RequestFault;

impl Proxy {
    /// Takes a request, and returns what should be sent. It never fails: a request that cannot be folded is sent
    /// unchanged, with the reason ([`OutgoingRequest::fault`]).
    #[must_use]
    pub fn turn(
        self: &Arc<Self>,
        request: Request,
        who: &RequestSender,
        now: Millis,
    ) -> MatchedRequest {
        self.finish(self.begin(request, who), now)
    }

    /// Decides what is sent: the second half of [`Proxy::turn`].
    #[must_use]
    pub fn finish(self: &Arc<Self>, read_request: ReadRequest, now: Millis) -> MatchedRequest {
        let read_request = self.once_more(read_request);
        let opening = read_request.opening();
        let ReadRequest { request, who, model, history, read, stable, chain, recall, .. } =
            read_request;
        let mut turn = match read {
            Err(fault) => MatchedRequest::passing(self, request, model, Some(fault)).with(recall),
            Ok(reading) if stable == 0 => {
                let opened = opening.map(|opening| self.promise_id(opening, &who, now));
                let may = ToolOffer { recall: false, ..reading.offer };
                let recall = RecallOffer { may, ..recall };
                self.first(&reading, request, &who, model).with_opening(opened).with(recall)
            }
            Ok(mut reading) => {
                let aside = self.aside(&request, &chain, &reading, &who, now);
                let is_aside = aside.is_some();
                let conversation = aside
                    .unwrap_or_else(|| self.conversation(&request, &chain, &reading, &who, now));
                let owner = reading.window_owner(&who, request.kind(), &model);
                let report = self.window_of(&mut reading, &conversation, &owner);
                let mut turn = MatchedRequest::passing(self, request, model, None);
                let may = if is_aside { ToolOffer::default() } else { reading.offer };
                turn.recall = RecallOffer { may, ..recall };
                turn.source = Some(owner);
                turn.match_to(&reading, conversation, stable, report, is_aside, now)
            }
        };
        turn.history = history;
        turn
    }

    /// The window that holds for a request: the least of what was set, what the provider reported and what the counts of
    /// its conversation show. An assumed window that an accepted request exceeded is raised in `reading`.
    fn window_of(
        &self,
        reading: &mut RequestReading,
        conversation: &Mutex<ProxyConversation>,
        owner: &WindowOwner,
    ) -> WindowReport {
        let stated = reading.stated_window();
        let (reported, hint) = {
            let learned = lock(&self.learned);
            let accepted = learned.largest_accepted(owner).filter(|most| *most > reading.window);
            if let Some(accepted) = accepted.filter(|_| reading.window_from.is_guess()) {
                (reading.window, reading.window_from) = (accepted, WindowSource::Learned);
            }
            // Another conversation's counts are too weak a proof against a window that somebody set.
            let hint = learned.cut(owner).filter(|_| !reading.window_from.is_set());
            (learned.of(owner), hint)
        };
        let (gate_window, cut) = {
            let mut conversation = lock(conversation);
            conversation.note_stated_window(stated);
            (conversation.session.gate().learned_window, conversation.counts_of(owner).cut())
        };
        let report_window = reported.map(|report| report.window);
        let least = [report_window, gate_window, cut.or(hint)].into_iter().flatten().min();
        WindowReport {
            window: least.unwrap_or(reading.window).min(reading.window),
            counts_reply: reported.is_some_and(|report| report.counts_reply),
        }
    }
}

/// Items that the tests of this crate use. They are not part of the interface, and may change at any time.
#[doc(hidden)]
pub mod inside {
    pub use crate::identities::MessageIdentities;
    pub use crate::learned_windows::{LearnedWindows, MOST, WindowNews, WindowOwner, WindowReport};
    pub use crate::truncation::{CountKind, CountPair, CountTrail};
}
