//! Judges a model's reply claim by claim, and keeps the claims that may be in a recap. One bad line, or an end
//! that was cut off, does not cost the others.
//!
//! The checks are rules without understanding. They find bad form and size, secrets, forged structure, known
//! phrases of command, names that occur in no event, and quotations that the user never wrote.
//!
//! They do not find a false claim made of true names, a bad idea among the open items, or an unquoted claim about the
//! user. Nor do they find a command in words that no table holds. Against those, the header of the recap says that all
//! of it is reference and no instruction.

use std::collections::BTreeSet;

use crate::counter::{Counter, TextKind};
use crate::fold::DroppedLine;
use crate::log::EventLog;
use crate::narrate::{AcceptedNarration, FinishReason, ReplyVerdict, SummaryReply, SummaryRequest};
use crate::recap::claim::{SectionClaim, claims, rebuild, without_items};
use crate::recap::guard;
use crate::recap::names::invented;
use crate::recap::reply::{self, FoundSections, MalformedReply};
use crate::recap::sources::SourceLimits;
use crate::recap::user_orders::UserSentences;
use crate::recap::user_words::{self, UserWords};
use crate::recap::visible::visible;
use crate::redact::{KnownSecrets, REPLACEMENT};
use crate::salient::shorten;

/// A reply may exceed its cap by one part in this many, because the model counts tokens in its own way.
const CAP_TOLERANCE: u64 = 8;
/// Longest quotation of a dropped line in the record, in characters.
const RECORDED: usize = 300;
/// At most this many invented names are listed in the record.
const NAMED: usize = 5;

/// How the record describes an order.
const ORDER: &str = "an order to the next model";

/// The part of a reply that a recap may use.
#[derive(Clone, Debug, PartialEq)]
pub struct GroundedReply {
    /// The sections with the lines that passed.
    pub narrated: AcceptedNarration,
    /// The lines that did not pass.
    pub dropped: Vec<DroppedLine>,
    /// How many lines were judged: list items, and sentences of prose.
    pub lines: usize,
    /// How many secrets were replaced.
    pub redacted: u32,
    /// Other reasons why a part of the reply is missing: it was cut off, or it lacks sections.
    pub notes: Vec<String>,
}

/// Why a whole reply was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UngroundedReply {
    /// The kind of fault.
    pub verdict: ReplyVerdict,
    /// A detail for people. It holds counts and kinds, and never words of the log or of the reply.
    pub detail: String,
    /// The dropped lines, where the reply was refused for their number.
    pub dropped: Vec<DroppedLine>,
}

/// Judges a reply against the log. The lines that are kept are harmless: none is a header, a marker, a chat turn or
/// the end of a recap. A reply that was cut off, exceeds its cap or lacks sections is used as far as it goes, as in
/// "Summarizing Evicted Turns".
///
/// # Errors
/// Fails where no part of the reply can be used, or more than half of its lines are dropped.
pub fn judge(
    log: &EventLog,
    request: &SummaryRequest,
    reply: &SummaryReply,
    counter: &dyn Counter,
) -> Result<GroundedReply, UngroundedReply> {
    let whole = visible(reply::unwrap(&reply.text));
    check_end(&whole, reply.finish)?;
    let covered = log.events().get(..request.span.end as usize).unwrap_or(log.events());
    let clean = KnownSecrets::of(covered).without(&whole);
    // The sources have replacements already, which a reply may quote.
    let count = |text: &str| text.matches(REPLACEMENT).count();
    let redacted = u32::try_from(count(&clean).saturating_sub(count(&whole))).unwrap_or(u32::MAX);
    let text = SourceLimits::of(request.style).shown(&clean);
    let body = reply::body(request, &text).map_err(malformed)?;
    let reply_sections = reply::sections(request, body).map_err(malformed)?;
    let mut all = all_claims(&reply_sections, request);
    // Counted before claims are cut, because the narration says how many are left out.
    let written = claim_count(&all);
    let mut notes = reply_sections.notes();
    notes.extend(cut_off(&mut all, reply.finish)?);
    notes.extend(fit(&mut all, request, counter, &whole)?);
    check_size(&all, request, counter)?;
    let faults = faults(log, request, &all);
    let dropped: Vec<DroppedLine> = all
        .iter()
        .zip(&faults)
        .filter_map(|(claim, fault)| Some(on_record(claim, fault.as_ref()?)))
        .collect();
    let mut stays: Vec<bool> = faults.iter().map(Option::is_none).collect();
    let lines = claim_count(&all);
    if dropped.len() * 2 > lines {
        let (verdict, detail) =
            (main_fault(&faults), format!("{} of {lines} lines fell", dropped.len()));
        return Err(UngroundedReply { verdict, detail, dropped });
    }
    // A line that announces a list is dropped where the whole list is.
    without_items(&all, &mut stays);
    let standing = all.iter().zip(&stays).filter(|(claim, stays)| **stays && !claim.is_nothing());
    let left_out = written.saturating_sub(standing.count());
    let mut sections = rebuild(&request.sections, &all, &stays, guard::harmless);
    sections.retain(|(name, _)| !reply_sections.missing.contains(name));
    Ok(GroundedReply {
        narrated: AcceptedNarration {
            request: request.id,
            span: request.span.clone(),
            sections,
            model: reply.model.clone(),
            left_out: u32::try_from(left_out).unwrap_or(u32::MAX),
            invented: invented_names(&faults),
        },
        dropped,
        lines,
        redacted,
        notes,
    })
}

/// How many claims say something.
fn claim_count(all: &[SectionClaim]) -> usize {
    all.iter().filter(|claim| !claim.is_nothing()).count()
}

fn refused<T>(verdict: ReplyVerdict, detail: impl Into<String>) -> Result<T, UngroundedReply> {
    Err(UngroundedReply { verdict, detail: detail.into(), dropped: Vec::new() })
}

/// Fails where the reply is empty, or ended for an unknown reason.
fn check_end(text: &str, finish: FinishReason) -> Result<(), UngroundedReply> {
    if text.trim().is_empty() {
        return refused(ReplyVerdict::Empty, "the reply holds no text");
    }
    match finish {
        FinishReason::Stop | FinishReason::Length => Ok(()),
        FinishReason::Other => {
            refused(ReplyVerdict::Truncated, "the reply ended without saying that it did")
        }
    }
}

/// The refusal of a reply that has no usable section.
fn malformed(reply: MalformedReply) -> UngroundedReply {
    let (verdict, detail) = match reply {
        MalformedReply::NoHeader => {
            (ReplyVerdict::NoHeader, "the reply does not start as its schema does".to_owned())
        }
        MalformedReply::NoSection => {
            (ReplyVerdict::MissingSections, "none of the sections is there".to_owned())
        }
        MalformedReply::Hollow => {
            (ReplyVerdict::MissingSections, "every section is empty".to_owned())
        }
    };
    UngroundedReply { verdict, detail, dropped: Vec::new() }
}

impl FoundSections {
    /// Notes for the record about missing sections and stray lines.
    fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if !self.missing.is_empty() {
            notes.push(format!("sections that are missing: {}", self.missing.join(", ")));
        }
        if self.stray > 0 {
            notes.push(format!("lines before the first section, not taken: {}", self.stray));
        }
        notes
    }
}

/// Removes the last claim of a reply that reached its token cap, because that claim may be incomplete.
fn cut_off(
    all: &mut Vec<SectionClaim>,
    finish: FinishReason,
) -> Result<Option<String>, UngroundedReply> {
    if finish != FinishReason::Length {
        return Ok(None);
    }
    all.pop();
    if all.iter().all(SectionClaim::is_nothing) {
        return refused(
            ReplyVerdict::Truncated,
            "the reply ran into its token cap before it said anything",
        );
    }
    Ok(Some("cut at its token cap: the last line is not taken".to_owned()))
}

/// Removes the claims beyond the token cap. `None` where the reply is within the cap.
fn fit(
    all: &mut Vec<SectionClaim>,
    request: &SummaryRequest,
    counter: &dyn Counter,
    whole: &str,
) -> Result<Option<String>, UngroundedReply> {
    let cap = u64::from(request.max_tokens);
    let tokens = u64::from(counter.count(whole, TextKind::Prose));
    if tokens <= cap + cap / CAP_TOLERANCE {
        return Ok(None);
    }
    // The tolerance only forgives another way of counting. Once claims are cut, the cap itself holds.
    let mut used = 0;
    let fits = |claim: &&SectionClaim| {
        used += tokens_of(claim, counter);
        used <= cap
    };
    let fitting = all.iter().take_while(fits).count();
    all.truncate(fitting);
    if all.iter().all(SectionClaim::is_nothing) {
        return refused(ReplyVerdict::OverCap, format!("{tokens} tokens, the cap is {cap}"));
    }
    Ok(Some(format!("{tokens} tokens, cut at the cap of {cap}")))
}

fn tokens_of(claim: &SectionClaim, counter: &dyn Counter) -> u64 {
    u64::from(counter.count(&claim.lead, TextKind::Prose))
        + u64::from(counter.count(&claim.text, TextKind::Prose))
}

/// Fails where the claims have at least as many tokens as the events that they would replace.
fn check_size(
    all: &[SectionClaim],
    request: &SummaryRequest,
    counter: &dyn Counter,
) -> Result<(), UngroundedReply> {
    let tokens: u64 = all.iter().map(|claim| tokens_of(claim, counter)).sum();
    if tokens >= request.replaces {
        let replaces = request.replaces;
        return refused(
            ReplyVerdict::NotSmaller,
            format!("{tokens} tokens in the place of {replaces}"),
        );
    }
    Ok(())
}

/// The claims of a reply. A line that forges something is a claim by itself.
fn all_claims(reply_sections: &FoundSections, request: &SummaryRequest) -> Vec<SectionClaim> {
    claims(&reply_sections.sections, |line| guard::forgery(line, request, false).is_some())
}

/// Why a claim is dropped.
#[derive(Clone, Debug, PartialEq, Eq)]
struct ClaimFault {
    verdict: ReplyVerdict,
    /// A description of the fault, for the record.
    about: String,
    /// The names in it that no source has.
    names: Vec<String>,
}

impl ClaimFault {
    fn new(verdict: ReplyVerdict, about: &str) -> Self {
        Self { verdict, about: about.to_owned(), names: Vec::new() }
    }
}

/// The fault of each claim, or `None` where it has none.
fn faults(
    log: &EventLog,
    request: &SummaryRequest,
    all: &[SectionClaim],
) -> Vec<Option<ClaimFault>> {
    let end = (request.span.end as usize).min(log.len());
    let joined: Vec<String> = all.iter().map(SectionClaim::joined).collect();
    let users = user_words::messages(log, end);
    let words = UserWords::of(&users, request.previous.as_deref());
    let own = UserSentences::of(&users);
    // An order may be reported as the user's own; any other order is a fault.
    let orders = |text: &str, about_user: bool| {
        guard::orders(text, |line, order| own.clause(line, order).filter(|_| about_user))
    };
    let invented = invented(log, end, request, &joined);
    let mut announcer = "";
    let mut out = Vec::with_capacity(all.len());
    for ((claim, text), names) in all.iter().zip(&joined).zip(invented) {
        // An order may be split between a list item and the line that announces the list.
        let announced = claim.is_item() && !announcer.is_empty();
        let together = || format!("{announcer} {text}");
        let is_order =
            orders(text, claim.about_user) || (announced && orders(&together(), claim.about_user));
        let order = is_order.then(|| ClaimFault::new(ReplyVerdict::Injected, ORDER));
        let forged = forged(claim, text, request);
        out.push(forged.or(order).or_else(|| untrue(claim, text, &names, &words)));
        if text.ends_with(':') {
            announcer = text;
        } else if !claim.is_item() {
            announcer = "";
        }
    }
    out
}

/// The fault of a claim that imitates a header, a marker or another speaker.
fn forged(claim: &SectionClaim, text: &str, request: &SummaryRequest) -> Option<ClaimFault> {
    let mut lines = claim.text.lines().chain([text]);
    let forged_line = lines.find_map(|line| guard::forgery(line, request, claim.bare))?;
    Some(ClaimFault::new(ReplyVerdict::Injected, forged_line))
}

/// The fault of a claim that holds an invented name or quotation.
fn untrue(
    claim: &SectionClaim,
    text: &str,
    names: &[&str],
    words: &UserWords,
) -> Option<ClaimFault> {
    let fault = |verdict, about: &str| Some(ClaimFault::new(verdict, about));
    if claim.about_user && words.unsaid(text) > 0 {
        return fault(ReplyVerdict::FalseQuote, "the user wrote no such thing");
    }
    if names.is_empty() {
        return None;
    }
    let shown = names.iter().take(NAMED).copied().collect::<Vec<_>>().join(", ");
    let names = names.iter().map(|name| (*name).to_owned()).collect();
    Some(ClaimFault { names, ..ClaimFault::new(ReplyVerdict::Ungrounded, &shown) })
}

/// The names for which claims are dropped, each once.
fn invented_names(faults: &[Option<ClaimFault>]) -> Vec<String> {
    let names = faults.iter().flatten().flat_map(|fault| &fault.names);
    names.cloned().collect::<BTreeSet<_>>().into_iter().collect()
}

/// The verdict on the whole reply: the one that most of its lines got.
fn main_fault(faults: &[Option<ClaimFault>]) -> ReplyVerdict {
    let codes = [ReplyVerdict::Ungrounded, ReplyVerdict::FalseQuote, ReplyVerdict::Injected];
    let times =
        |code: &ReplyVerdict| faults.iter().flatten().filter(|f| f.verdict == *code).count();
    // Of equal numbers the last one counts, which is the gravest.
    codes.into_iter().max_by_key(times).unwrap_or(ReplyVerdict::Injected)
}

/// The entry of the record for a dropped claim. Its text is made harmless.
fn on_record(claim: &SectionClaim, fault: &ClaimFault) -> DroppedLine {
    DroppedLine {
        line: guard::harmless(&shorten(&claim.joined(), RECORDED)),
        why: format!("{}: {}", fault.verdict.as_str(), fault.about),
    }
}
