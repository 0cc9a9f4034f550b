//! A conversation that a test writes, message by message, into a session.

use std::sync::Arc;

use bytes::Bytes;
use midfold_core::budget::Budget;
use midfold_core::engine::Session;
use midfold_core::fold::{Fold, FoldJoin};
use midfold_core::ledger::{CallInput, CallRecord, Ledger};
use midfold_core::meter::Meter;
use midfold_core::plan::PlanOutcome;
use midfold_core::policy::Policy;
use midfold_core::{ProviderProfile, RawEvent};
use midfold_formats::{DialectKind, profile};
use midfold_testkit::quoted;

use crate::quarter::Quarter;

pub struct Talk {
    pub session: Session,
    pub budget: Budget,
    pub ledger: Ledger,
    pub calls: Vec<CallRecord>,
    pub pins: Vec<u32>,
    next_call: u32,
}

impl Talk {
    pub fn new(policy: &str, window: u64) -> Self {
        Self::with(Policy::from_toml(policy).unwrap(), profile::OPENAI, window)
    }

    pub fn with(policy: Policy, profile: ProviderProfile, window: u64) -> Self {
        let dialect = DialectKind::from_name(profile.dialect).unwrap().shared();
        let session =
            Session::new("s1", policy, dialect, profile, Arc::new(Quarter), Meter::exact());
        Self {
            session,
            budget: Budget::new(window),
            ledger: Ledger::default(),
            calls: Vec::new(),
            pins: Vec::new(),
            next_call: 0,
        }
    }

    fn append(&mut self, message: String) -> u32 {
        self.session.append(RawEvent::new(Bytes::from(message)))
    }

    pub fn say(&mut self, role: &str, text: &str) -> u32 {
        self.append(format!(r#"{{"role":"{role}","content":{}}}"#, quoted(text)))
    }

    /// A call and its result; the seq of the result. The call is the event before.
    pub fn tool(&mut self, name: &str, arguments: &str, result: &str) -> u32 {
        self.call(name, arguments);
        let (id, result) = (self.next_call, quoted(result));
        self.append(format!(r#"{{"role":"tool","tool_call_id":"call_{id}","content":{result}}}"#))
    }

    pub fn call(&mut self, name: &str, arguments: &str) -> u32 {
        self.next_call += 1;
        let (id, arguments) = (self.next_call, quoted(arguments));
        self.append(format!(
            r#"{{"role":"assistant","content":null,"tool_calls":[{{"id":"call_{id}","type":"function","function":{{"name":"{name}","arguments":{arguments}}}}}]}}"#
        ))
    }

    /// Small talk of about `tokens` tokens, without a name in it.
    pub fn filler(&mut self, tokens: usize) {
        let words = "we went on as before and nothing came of it ";
        let half = words.repeat(tokens * 2 / words.len() + 1);
        self.say("user", &half);
        self.say("assistant", &half);
    }

    pub fn pin(&mut self, seq: u32) {
        self.session.pin(seq);
        self.pins.push(seq);
    }

    pub fn fold(&mut self) -> Fold {
        let budget = self.budget.clone();
        match self.session.compact(&budget, None).unwrap() {
            PlanOutcome::Folded(fold) => *fold,
            PlanOutcome::Nothing(why) => unreachable!("{why}"),
        }
    }

    /// Records a call of the context as it stands; its number.
    pub fn send(&mut self) -> u64 {
        let log = self.session.log();
        let record = self.ledger.record(
            &self.session.view(),
            &CallInput {
                joining: &FoldJoin { session: "s1".to_owned(), turn: 1, request: 1 },
                events: u32::try_from(log.len()).unwrap(),
                head_hash: log.head_hash(),
                fold: self.session.active(),
                void: None,
                pins: &self.pins,
                meter: &Meter::chars_over_four(),
                client: None,
                newest_room: None,
            },
        );
        self.calls.push(record);
        self.ledger.number()
    }
}
