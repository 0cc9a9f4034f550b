//! Answers the model's calls of midfold's tools, and calls that copy what a fold printed: the proxy adds the results and
//! asks the provider again.

mod look_up;
mod room;
mod unrun;
mod wishes;

use bytes::Bytes;
use midfold_formats::answer::AnswerFacts;
use midfold_formats::recall_tool::{
    AnsweredCall, HiddenTool, OwnTool, RecallCall, calls, results, with_unrun, withheld,
};
use midfold_formats::request::Request;
use midfold_store::{Millis, Store, run_in_memory};

use look_up::look_up;
use room::{LookUpRoom, TOO_MANY};

use crate::fold_marks::CopiedMarks;
use crate::keep::copied;
use crate::lock::lock;
use crate::recall::MOST_ROUNDS;
use crate::turn::MatchedRequest;

/// The answer to a look-up of a request that has no history.
const NOTHING: &str = "error: nothing could be looked up\n";

/// What the proxy did with an answer to a request with midfold's tools.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecallRound {
    /// How many calls of the recall tool the proxy answered.
    pub calls: usize,
    /// How many calls of the agent's tools the proxy answered.
    pub wishes: usize,
    /// The calls of the client's tools that the proxy answered, because they copy what the fold printed: their
    /// [numbers](midfold_formats::recall_tool::ClientCall::number). The client must not get them.
    pub unrun: Vec<usize>,
    /// How many such calls go to the client all the same, because the model was asked often enough.
    pub handed_on: usize,
    /// Whether the provider has to be asked again, with the results; otherwise this answer is the last one.
    pub asks_again: bool,
}

impl MatchedRequest {
    /// Whether the answer may have calls that the proxy answers. The caller then has to read the answer
    /// ([`MatchedRequest::hear`]) and leave those calls out of the client's copy
    /// ([`recall_tool`](midfold_formats::recall_tool)).
    #[must_use]
    pub fn recalls(&self) -> bool {
        !self.recall.offered.is_nothing()
    }

    /// Takes a complete answer before the client gets the end of it, and remembers the parts that the client does not
    /// get. An incomplete answer is ignored. If the provider has to be asked again, [`MatchedRequest::sent`] has the body.
    /// If this is the last answer and has calls of ours, their results are added to `seen.output`, so that a later
    /// request that names the answer has them.
    pub fn hear(&mut self, seen: &mut AnswerFacts, now: Millis) -> RecallRound {
        let kind = self.request.kind();
        if !seen.is_complete || self.recall.offered.is_nothing() {
            return RecallRound::default();
        }
        let has_rounds = self.recall.rounds < MOST_ROUNDS;
        let mut copied = self.copied_marks(&seen.output);
        let handed_on = if has_rounds && self.recall.offered.recall {
            0
        } else {
            std::mem::take(&mut copied).len()
        };
        let unrun: Vec<usize> = copied.iter().map(|copy| copy.number).collect();
        seen.output = with_unrun(kind, &seen.output, &unrun, self.request.len());
        let recall_calls = calls(kind, &seen.output);
        if recall_calls.own.is_empty() {
            // The earlier rounds are hidden from the client, and this last answer completes their exchange. An answer
            // with nothing hidden is noted as well: another one that looks the same must not be taken for it.
            self.remember(&seen.output);
            return RecallRound { handed_on, ..RecallRound::default() };
        }
        let answered = self.answers(recall_calls.own, &copied, now);
        let of = |recall: bool| {
            let is_own = |tool: &HiddenTool| match tool {
                HiddenTool::Own(tool) => (*tool == OwnTool::Recall) == recall,
                HiddenTool::Unrun { .. } => false,
            };
            answered.iter().filter(|answer| is_own(&answer.call.tool)).count()
        };
        let round = RecallRound {
            calls: of(true),
            wishes: of(false),
            unrun,
            handed_on,
            asks_again: recall_calls.others == 0 && has_rounds,
        };
        // Only the client can answer calls of its own tools. Then the answer goes to it, and our results wait for its
        // results.
        if round.asks_again && self.go_on(seen, &answered, now).is_some() {
            return round;
        }
        seen.output.extend(results(kind, &answered));
        self.remember(&seen.output);
        RecallRound { asks_again: false, ..round }
    }

    /// Answers the calls, in their order. A call of a tool that the request does not have gets an error. `copied` are
    /// the unrun calls among them.
    fn answers(
        &self,
        calls: Vec<RecallCall>,
        copied: &[CopiedMarks],
        now: Millis,
    ) -> Vec<AnsweredCall> {
        let mut copies = copied.iter();
        let wanted: Vec<Option<LookUp<'_>>> = calls
            .iter()
            .map(|call| match &call.tool {
                HiddenTool::Unrun { .. } => copies.next().map(LookUp::Originals),
                HiddenTool::Own(OwnTool::Recall) if self.recall.offered.recall => {
                    Some(LookUp::Call(call))
                }
                HiddenTool::Own(_) => None,
            })
            .collect();
        let look_ups: Vec<&LookUp<'_>> = wanted.iter().flatten().collect();
        let mut texts = self.looked_up(&look_ups, now).into_iter();
        let mut text = |call: &RecallCall, wanted: &Option<LookUp<'_>>| match (wanted, &call.tool) {
            (Some(LookUp::Originals(copied)), _) => {
                unrun::answer(copied, &texts.next().unwrap_or_default())
            }
            (Some(LookUp::Call(_)), _) => texts.next().unwrap_or_default(),
            (None, HiddenTool::Own(tool)) if self.recall.offered.has(*tool) => {
                wishes::carry_out(self, *tool, call, now)
            }
            (None, _) => wishes::NOT_OFFERED.to_owned(),
        };
        let texts: Vec<String> =
            calls.iter().zip(&wanted).map(|(call, wanted)| text(call, wanted)).collect();
        calls.into_iter().zip(texts).map(|(call, text)| AnsweredCall { call, text }).collect()
    }

    /// The texts that are found, one for each of these.
    fn looked_up(&self, look_ups: &[&LookUp<'_>], now: Millis) -> Vec<String> {
        let Some(place) = &self.place else {
            return look_ups.iter().map(|_| NOTHING.to_owned()).collect();
        };
        if look_ups.is_empty() {
            return Vec::new();
        }
        let room = LookUpRoom::of(place, look_ups.len());
        run_in_memory(async {
            // The store may be behind this process, or there may be no store. The copy has all messages, and reading it
            // never waits.
            let (store, session) = match copied(&place.conversation, now).await {
                Ok(copy) => copy,
                Err(error) => return vec![format!("error: {error}\n"); look_ups.len()],
            };
            let mut texts = vec![TOO_MANY.to_owned(); look_ups.len()];
            for (text, look_up) in texts.iter_mut().zip(look_ups).take(room.answers) {
                let text_of = |chars| look_up.text(&store, &session, chars);
                *text = room.fitting(text_of).await;
            }
            texts
        })
    }

    /// Prepares the same request with the answer and the results behind it. `None` if that cannot be read as a request.
    fn go_on(&mut self, seen: &AnswerFacts, answered: &[AnsweredCall], now: Millis) -> Option<()> {
        let kind = self.request.kind();
        let new: Vec<Bytes> = seen.output.iter().cloned().chain(results(kind, answered)).collect();
        let longer = |request: &Request| {
            request.with_messages(request.messages().chain(new.iter().cloned()))
        };
        // Both are read before anything is changed, because on failure the answer goes to the client as it is.
        let outgoing = longer(&Request::read(kind, self.sent.body.clone()).ok()?);
        let request = Request::read(kind, longer(&self.request)).ok()?;
        self.spend(seen, now);
        self.take_room(&new);
        self.request = request;
        self.history.before.add_own_messages(new.len());
        self.recall.rounds += 1;
        self.sent.body = match self.recall.rounds < MOST_ROUNDS {
            true => outgoing,
            false => withheld(&self.request, &outgoing, self.recall.offered),
        };
        self.recall.added.extend(new);
        Some(())
    }

    /// Adds the cost of an answer that is not the last one.
    fn spend(&self, seen: &AnswerFacts, now: Millis) {
        let (Some(place), Some(usage)) = (&self.place, seen.usage) else { return };
        let mut conversation = lock(&place.conversation);
        let prompt = self.spent(&conversation.session, now);
        self.proxy.spend(&mut conversation.session, usage, prompt);
    }

    /// Reserves room in the window for the added messages, which are beside the history until a later request makes
    /// them a part of it.
    fn take_room(&mut self, new: &[Bytes]) {
        let Some(place) = &mut self.place else { return };
        let meter = *lock(&place.conversation).session.meter();
        for message in new {
            let (counted, tokens) = place.newest.add(message, &place.reading, &meter);
            place.budget.injection_reserve += tokens;
            self.sent.counted += counted;
            self.sent.whole += counted;
            self.sent.tokens_before += tokens;
            self.sent.tokens_after += tokens;
        }
    }

    /// Remembers the answer behind the history that the client sent, with all that the client does not get of it.
    fn remember(&self, output: &[Bytes]) {
        let Some(history) = &self.recall.history else { return };
        let messages: Vec<Bytes> = self.recall.added.iter().chain(output).cloned().collect();
        let (kind, walk) = (self.request.kind(), history.walk.clone());
        lock(&self.proxy.hidden).hear(kind, history.owner, walk, &history.past, &messages);
    }
}

/// Something that is looked up in the log.
enum LookUp<'a> {
    /// What a call of the recall tool asks for.
    Call(&'a RecallCall),
    /// The messages whose marks a call copies.
    Originals(&'a CopiedMarks),
}

impl LookUp<'_> {
    /// Looks up, and returns the text in about this many characters.
    async fn text(&self, store: &dyn Store, session: &str, chars: usize) -> String {
        match self {
            Self::Call(call) => look_up(store, session, call, chars).await,
            Self::Originals(copied) => unrun::originals_of(store, session, copied, chars).await,
        }
    }
}
