//! Replay counts as messages come and go. Here every context is made by driving the engine anew,
//! and judged from its whole text at every request.

use std::collections::{HashMap, HashSet};

use bytes::Bytes;
use midfold_core::budget::Budget;
use midfold_core::engine::Session;
use midfold_core::ids::identifiers;
use midfold_core::log::EventLog;
use midfold_core::meter::Meter;
use midfold_core::plan::{PlanError, PlanOutcome, PlanRequest, plan};
use midfold_core::policy::Policy;
use midfold_core::project::{Context, project};
use midfold_core::texts::{ArgumentTexts, message_text};
use midfold_core::view::Role;
use midfold_eval::prices::PriceTable;
use midfold_eval::replay::{
    Recording, ReplayError, ReplayResult, ReplaySettings, ReplayStrategy, replay,
};
use midfold_formats::{DialectKind, profile};
use midfold_testkit::{CONSTRAINT, emit};
use proptest::prelude::*;

use super::bench::log;

#[derive(Clone, Copy, Debug)]
enum Form {
    Raw,
    Stateless,
    Session,
}

/// The sums that both judges come to.
#[derive(Debug, Default, PartialEq)]
struct Sums {
    requests: u64,
    counted: u64,
    folds: u64,
    breaks: u64,
    over: u64,
    invalid: u64,
    tokens: u64,
    peak: u64,
    cost: u64,
    raw_cost: u64,
    recall: (u64, u64),
    at_risk: (u64, u64),
    rare: (u64, u64),
    rules: (u64, u64),
}

fn fast(found: &ReplayResult) -> Sums {
    let m = &found.measures;
    let pair = |share: midfold_eval::replay::KeptShare| (share.need, share.have);
    Sums {
        requests: m.requests,
        counted: m.counted,
        folds: m.folds,
        breaks: m.breaks,
        over: m.over,
        invalid: m.invalid,
        tokens: m.tokens,
        peak: m.peak,
        cost: m.cost,
        raw_cost: m.raw_cost,
        recall: pair(m.recall),
        at_risk: pair(m.at_risk),
        rare: pair(m.rare),
        rules: pair(m.rules),
    }
}

/// What an engine sends, driven in the plainest way.
struct Plain<'a> {
    form: Form,
    kind: DialectKind,
    policy: &'a Policy,
    window: u64,
    held: Vec<Bytes>,
    session: Option<Session>,
    fed: usize,
}

impl Plain<'_> {
    fn send(&mut self, messages: &[Bytes]) -> Result<(Context, bool), PlanError> {
        let budget = Budget::new(self.window);
        let new = &messages[self.fed..];
        self.fed = messages.len();
        match self.form {
            Form::Raw => Ok((project(&log(self.kind, messages), None), false)),
            Form::Session => {
                let (kind, policy) = (self.kind, self.policy.clone());
                let session = self.session.get_or_insert_with(|| {
                    Session::over("s", log(kind, &[]), policy, Meter::exact())
                });
                let before = session.folds().len();
                for bytes in new {
                    session.append(midfold_core::RawEvent::new(bytes.clone()));
                }
                let context = session.context(&budget, 0)?;
                Ok((context, session.folds().len() > before))
            }
            Form::Stateless => {
                self.held.extend(new.iter().cloned());
                let log = log(self.kind, &self.held);
                let outcome = plan(&PlanRequest::new(&log, self.policy, &budget, Meter::exact()))?;
                let PlanOutcome::Folded(fold) = outcome else {
                    return Ok((project(&log, None), false));
                };
                let context = project(&log, Some(&fold));
                self.held = context.pieces().map(|piece| piece.bytes.clone()).collect();
                Ok((context, true))
            }
        }
    }
}

/// The whole text of a context, read anew.
fn text_of(log: &EventLog) -> String {
    let texts = log
        .events()
        .iter()
        .map(|event| message_text(&event.bytes, &event.view, ArgumentTexts::Meant));
    texts.collect::<Vec<_>>().join("\n")
}

fn spaceless(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    let inside = |c: char| c.is_alphanumeric() || c == '_';
    text.split(move |c| !inside(c)).filter(|word| (3..=80).contains(&word.len()))
}

/// How many texts are in the set, and of how many.
fn within(need: &HashSet<&str>, held: &HashSet<&str>, sum: &mut (u64, u64)) {
    sum.0 += need.len() as u64;
    sum.1 += need.intersection(held).count() as u64;
}

/// The newest messages that together reach 12,000 characters.
fn newest(texts: &[String]) -> String {
    let mut from = texts.len();
    let mut chars = 0;
    while from > 0 && chars < 12_000 {
        from -= 1;
        chars += texts[from].chars().count();
    }
    texts[from..].join("\n")
}

/// One request, judged from the texts alone.
fn judge(said: &str, history: &[String], context: &str, stated: u64, sums: &mut Sums) {
    let all = history.join("\n");
    let recent = newest(history);
    let ids = |text| identifiers(text).collect::<HashSet<&str>>();
    let (known, recent_ids, held) = (ids(&all), ids(&recent), ids(context));
    let need: HashSet<&str> = ids(said).intersection(&known).copied().collect();
    within(&need, &held, &mut sums.recall);
    let risky: HashSet<&str> = need.difference(&recent_ids).copied().collect();
    within(&risky, &held, &mut sums.at_risk);
    let mut times: HashMap<&str, u32> = HashMap::new();
    words(&all).for_each(|word| *times.entry(word).or_default() += 1);
    let recent: HashSet<&str> = words(&recent).collect();
    let rare = |word: &&str| times.get(word).is_some_and(|n| *n < 5) && !recent.contains(word);
    let rare: HashSet<&str> = words(said).filter(rare).collect();
    within(&rare, &words(context).collect(), &mut sums.rare);
    sums.rules.0 += stated;
    if spaceless(context).contains(&spaceless(CONSTRAINT)) {
        sums.rules.1 += stated;
    }
}

fn slow(
    form: Form,
    kind: DialectKind,
    messages: &[Bytes],
    policy: &Policy,
    window: u64,
) -> Result<Sums, PlanError> {
    let whole = log(kind, messages);
    let texts: Vec<String> = whole
        .events()
        .iter()
        .map(|event| message_text(&event.bytes, &event.view, ArgumentTexts::Meant))
        .collect();
    let mut plain = Plain { form, kind, policy, window, held: Vec::new(), session: None, fed: 0 };
    let mut sums = Sums::default();
    let (mut before, mut raw_before): (Vec<Bytes>, usize) = (Vec::new(), 0);
    for (at, event) in whole.events().iter().enumerate().skip(1) {
        if event.view.role != Role::Assistant || event.view.has_results() {
            continue;
        }
        let (context, folded) = plain.send(&messages[..at])?;
        let sent: Vec<Bytes> = context.pieces().map(|piece| piece.bytes.clone()).collect();
        let read = log(kind, &sent);
        sums.requests += 1;
        sums.folds += u64::from(folded);
        let tokens = read.tokens();
        sums.tokens += tokens;
        sums.peak = sums.peak.max(tokens);
        sums.over += u64::from(tokens > window);
        let rules = whole.profile();
        sums.invalid += u64::from(!profile::validate(&sent, kind, rules).is_empty());
        let same = before.iter().zip(&sent).take_while(|(a, b)| a == b).count();
        sums.breaks += u64::from(same < before.len());
        let price = |prefix: u64, all: u64| 10 * prefix + 125 * (all - prefix);
        sums.cost += price(read.tokens_in(0..same), tokens);
        let raw = whole.tokens_in(0..at);
        sums.raw_cost += price(whole.tokens_in(0..raw_before), raw);
        (before, raw_before) = (sent, at);
        if raw * 10 > window * 8 {
            sums.counted += 1;
            let rule = |event: &&midfold_core::log::Event| event.view.is_real_user();
            let stated = whole.events()[..at].iter().filter(rule);
            let stated = stated.filter(|event| texts[event.seq as usize].contains(CONSTRAINT));
            judge(&texts[at], &texts[..at], &text_of(&read), stated.count() as u64, &mut sums);
        }
    }
    Ok(sums)
}

fn messages(kind: DialectKind, seed: u64, turns: usize) -> Vec<Bytes> {
    let session = midfold_testkit::session(seed, turns);
    let lines = match kind {
        DialectKind::Anthropic => emit::anthropic(&session).1,
        DialectKind::OpenAiResponses => emit::responses(&session),
        _ => emit::openai_chat(&session),
    };
    lines.into_iter().map(Bytes::from).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    #[test]
    fn counting_as_messages_come_and_go_is_counting_anew(
        seed in any::<u64>(),
        turns in 2..6usize,
        kind in prop::sample::select(&[
            DialectKind::OpenAiChat, DialectKind::Anthropic, DialectKind::OpenAiResponses,
        ][..]),
        form in prop::sample::select(&[Form::Raw, Form::Stateless, Form::Session][..]),
        preset in prop::sample::select([Policy::preset_names(), Policy::baseline_names()].concat()),
        share in 2..8u64,
    ) {
        let messages = messages(kind, seed, turns);
        let policy = Policy::preset(preset).unwrap();
        let recording = Recording::new(log(kind, &messages));
        let window = (recording.log().tokens() * share / 10).max(3_000);
        let rules = profile::rules(recording.log().profile());
        let prices = PriceTable::reference();
        let settings =
            ReplaySettings { window, rules: &rules, search: false, prices: &prices, clock: None, watch: None };
        let strategy = match form {
            Form::Raw => ReplayStrategy::Raw,
            Form::Stateless => ReplayStrategy::Stateless(&policy),
            Form::Session => ReplayStrategy::Session(&policy),
        };
        let found = replay(&recording, strategy, &settings);
        match slow(form, kind, &messages, &policy, window) {
            Ok(wanted) => prop_assert_eq!(fast(&found.unwrap()), wanted),
            Err(_) => prop_assert!(matches!(found, Err(ReplayError::Plan(_)))),
        }
    }
}

#[test]
fn hostile_conversations_are_judged_alike_too() {
    let policy = Policy::preset("default").unwrap();
    for seed in 0..40 {
        let lines = midfold_testkit::hostile(seed, 2_000);
        let messages: Vec<Bytes> = lines.into_iter().map(Bytes::from).collect();
        let kind = DialectKind::OpenAiChat;
        for form in [Form::Raw, Form::Stateless, Form::Session] {
            let recording = Recording::new(log(kind, &messages));
            let strategy = match form {
                Form::Raw => ReplayStrategy::Raw,
                Form::Stateless => ReplayStrategy::Stateless(&policy),
                Form::Session => ReplayStrategy::Session(&policy),
            };
            let found = super::bench::run(&recording, strategy, 2_000);
            match slow(form, kind, &messages, &policy, 2_000) {
                // Rules of hostile users are none of the slow judge's.
                Ok(wanted) => {
                    let mut found = fast(&found.unwrap());
                    found.rules = wanted.rules;
                    assert_eq!(found, wanted, "{form:?} {seed}");
                }
                Err(_) => assert!(found.is_err(), "{form:?} {seed}"),
            }
        }
    }
}
