//! Judging a reply: what of it may be in a recap, claim by claim: what one bad line says, or what
//! is missing behind a cut, is no reason to lose the others.
//!
//! The checks are made of rules, not of understanding. They see form, size, secrets, forged
//! structure, known phrases of command, names that no event holds, and quotations of the user that
//! the user never wrote. They do not see a false claim made of true names, a bad idea among the
//! open items, an unquoted claim about the user, or an order in words that no table holds: the
//! recap's header, which says that all of it is reference and no instruction, is what stands
//! against those.

use crate::counter::{Content, Counter};
use crate::fold::Dropped;
use crate::log::Log;
use crate::narrate::{Finish, Narrated, SummaryReply, SummaryRequest, Verdict};
use crate::recap::claim::{Claim, claims, rebuild, without_items};
use crate::recap::guard;
use crate::recap::names::invented;
use crate::recap::own::Own;
use crate::recap::reply::{self, Found, Malformed};
use crate::recap::said::{self, Said};
use crate::recap::sources::Limits;
use crate::recap::visible::visible;
use crate::redact::{REPLACEMENT, Secrets};
use crate::salient::shorten;

/// The cap is counted by our counter and kept by another one: one part in this many is let pass.
const CAP_TOLERANCE: u64 = 8;
/// Of a dropped line, so much is kept on record, in characters.
const RECORDED: usize = 300;
/// Of the names that are invented, so many are named on record.
const NAMED: usize = 5;

/// What an order is called on record.
const ORDER: &str = "an order to the next model";

/// What may stand of a reply.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged {
    /// The lines that passed.
    pub narrated: Narrated,
    /// Those that did not.
    pub dropped: Vec<Dropped>,
    /// How many there were: list items, and sentences of prose.
    pub lines: usize,
    /// Secrets that were replaced.
    pub redacted: u32,
    /// Why less than all of it was taken, beside lines that fell: it was cut, or lacks sections.
    pub notes: Vec<String>,
}

/// Why nothing of a reply may stand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// The verdict.
    pub verdict: Verdict,
    /// For people: counts and kinds, never words of the log or of the reply.
    pub detail: String,
    /// The lines that fell, where too many did.
    pub dropped: Vec<Dropped>,
}

/// Judges a reply against the log. What is kept comes out harmless: no line of a section is a
/// header, a marker, a chat turn or the end of a recap. A reply that was cut at its cap, is longer
/// than that, or lacks sections is used as far as it goes (Summarizing Evicted Turns: the cap cuts).
///
/// # Errors
/// When nothing of it can be used, or more than half of its lines fall.
pub fn judge(
    log: &Log,
    request: &SummaryRequest,
    reply: &SummaryReply,
    counter: &dyn Counter,
) -> Result<Judged, Refused> {
    let whole = visible(reply::unwrap(&reply.text));
    check_end(&whole, reply.finish)?;
    let covered = log.events().get(..request.span.end as usize).unwrap_or(log.events());
    let clean = Secrets::of(covered).without(&whole);
    let count = |text: &str| text.matches(REPLACEMENT).count();
    let redacted = u32::try_from(count(&clean).saturating_sub(count(&whole))).unwrap_or(u32::MAX);
    let text = Limits::of(request.style).shown(&clean);
    let body = reply::body(request, &text).map_err(malformed)?;
    let found = reply::sections(request, body).map_err(malformed)?;
    let mut all = all_claims(&found, request);
    let written = told(&all);
    let mut notes = found.notes();
    notes.extend(cut_off(&mut all, reply.finish)?);
    notes.extend(fit(&mut all, request, counter, &whole)?);
    check_size(&all, request, counter)?;
    let faults = faults(log, request, &all);
    let dropped: Vec<Dropped> = all
        .iter()
        .zip(&faults)
        .filter_map(|(claim, fault)| Some(on_record(claim, fault.as_ref()?)))
        .collect();
    let mut kept: Vec<bool> = faults.iter().map(Option::is_none).collect();
    let lines = told(&all);
    if dropped.len() * 2 > lines {
        let (verdict, detail) =
            (main_fault(&faults), format!("{} of {lines} lines fell", dropped.len()));
        return Err(Refused { verdict, detail, dropped });
    }
    // What announced lines that are gone announces nothing.
    without_items(&all, &mut kept);
    let standing = all.iter().zip(&kept).filter(|(claim, kept)| **kept && !claim.is_nothing());
    let left_out = written.saturating_sub(standing.count());
    let mut sections = rebuild(&request.sections, &all, &kept, guard::harmless);
    sections.retain(|(name, _)| !found.missing.contains(name));
    Ok(Judged {
        narrated: Narrated {
            request: request.id,
            span: request.span.clone(),
            sections,
            model: reply.model.clone(),
            left_out: u32::try_from(left_out).unwrap_or(u32::MAX),
        },
        dropped,
        lines,
        redacted,
        notes,
    })
}

/// How many claims say something.
fn told(all: &[Claim]) -> usize {
    all.iter().filter(|claim| !claim.is_nothing()).count()
}

fn refused<T>(verdict: Verdict, detail: impl Into<String>) -> Result<T, Refused> {
    Err(Refused { verdict, detail: detail.into(), dropped: Vec::new() })
}

fn check_end(text: &str, finish: Finish) -> Result<(), Refused> {
    if text.trim().is_empty() {
        return refused(Verdict::Empty, "the reply holds no text");
    }
    match finish {
        Finish::Stop | Finish::Length => Ok(()),
        Finish::Other => refused(Verdict::Truncated, "the reply ended without saying that it did"),
    }
}

fn malformed(what: Malformed) -> Refused {
    let (verdict, detail) = match what {
        Malformed::NoHeader => {
            (Verdict::NoHeader, "the reply does not start as its schema does".to_owned())
        }
        Malformed::NoSection => {
            (Verdict::MissingSections, "none of the sections is there".to_owned())
        }
        Malformed::Hollow => (Verdict::MissingSections, "every section is empty".to_owned()),
    };
    Refused { verdict, detail, dropped: Vec::new() }
}

impl Found {
    /// What of the form is missing, for the record.
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

/// Takes off the last claim of a reply that ran into its cap: nobody knows whether it is whole.
fn cut_off(all: &mut Vec<Claim>, finish: Finish) -> Result<Option<String>, Refused> {
    if finish != Finish::Length {
        return Ok(None);
    }
    all.pop();
    if all.iter().all(Claim::is_nothing) {
        return refused(
            Verdict::Truncated,
            "the reply ran into its token cap before it said anything",
        );
    }
    Ok(Some("cut at its token cap: the last line is not taken".to_owned()))
}

/// Takes off what is beyond the cap, claim by claim.
fn fit(
    all: &mut Vec<Claim>,
    request: &SummaryRequest,
    counter: &dyn Counter,
    whole: &str,
) -> Result<Option<String>, Refused> {
    let cap = u64::from(request.max_tokens);
    let tokens = u64::from(counter.count(whole, Content::Prose));
    if tokens <= cap + cap / CAP_TOLERANCE {
        return Ok(None);
    }
    let mut used = 0;
    let fits = |claim: &&Claim| {
        used += tokens_of(claim, counter);
        used <= cap
    };
    let fitting = all.iter().take_while(fits).count();
    all.truncate(fitting);
    if all.iter().all(Claim::is_nothing) {
        return refused(Verdict::OverCap, format!("{tokens} tokens, the cap is {cap}"));
    }
    Ok(Some(format!("{tokens} tokens, cut at the cap of {cap}")))
}

fn tokens_of(claim: &Claim, counter: &dyn Counter) -> u64 {
    u64::from(counter.count(&claim.lead, Content::Prose))
        + u64::from(counter.count(&claim.text, Content::Prose))
}

fn check_size(
    all: &[Claim],
    request: &SummaryRequest,
    counter: &dyn Counter,
) -> Result<(), Refused> {
    let tokens: u64 = all.iter().map(|claim| tokens_of(claim, counter)).sum();
    if tokens >= request.replaces {
        let replaces = request.replaces;
        return refused(Verdict::NotSmaller, format!("{tokens} tokens in the place of {replaces}"));
    }
    Ok(())
}

fn all_claims(found: &Found, request: &SummaryRequest) -> Vec<Claim> {
    claims(&found.sections, |line| guard::forgery(line, request, false).is_some())
}

/// Why a claim is dropped.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Fault {
    verdict: Verdict,
    about: String,
}

impl Fault {
    fn new(verdict: Verdict, about: &str) -> Self {
        Self { verdict, about: about.to_owned() }
    }
}

/// What is wrong with each claim, if anything.
fn faults(log: &Log, request: &SummaryRequest, all: &[Claim]) -> Vec<Option<Fault>> {
    let end = (request.span.end as usize).min(log.len());
    let joined: Vec<String> = all.iter().map(Claim::joined).collect();
    let users = said::messages(log, end);
    let said = Said::of(&users, request.previous.as_deref());
    let own = Own::of(&users);
    // An order may be told as the user's, and not else.
    let orders = |text: &str, about_user: bool| {
        guard::orders(text, |line, order| own.clause(line, order).filter(|_| about_user))
    };
    let invented = invented(log, end, request, &joined);
    let mut announcer = "";
    let mut out = Vec::with_capacity(all.len());
    for ((claim, text), names) in all.iter().zip(&joined).zip(invented) {
        // An order may be spread over a list and the line that announces it.
        let announced = claim.is_item() && !announcer.is_empty();
        let together = || format!("{announcer} {text}");
        let is_order =
            orders(text, claim.about_user) || (announced && orders(&together(), claim.about_user));
        let order = is_order.then(|| Fault::new(Verdict::Injected, ORDER));
        let forged = forged(claim, text, request);
        out.push(forged.or(order).or_else(|| untrue(claim, text, &names, &said)));
        if text.ends_with(':') {
            announcer = text;
        } else if !claim.is_item() {
            announcer = "";
        }
    }
    out
}

/// What a claim forges.
fn forged(claim: &Claim, text: &str, request: &SummaryRequest) -> Option<Fault> {
    let mut lines = claim.text.lines().chain([text]);
    let what = lines.find_map(|line| guard::forgery(line, request, claim.bare))?;
    Some(Fault::new(Verdict::Injected, what))
}

/// What a claim makes up.
fn untrue(claim: &Claim, text: &str, names: &[&str], said: &Said) -> Option<Fault> {
    let fault = |verdict, about: &str| Some(Fault::new(verdict, about));
    if claim.about_user && said.unsaid(text) > 0 {
        return fault(Verdict::FalseQuote, "the user wrote no such thing");
    }
    if names.is_empty() {
        return None;
    }
    let shown = names.iter().take(NAMED).copied().collect::<Vec<_>>().join(", ");
    fault(Verdict::Ungrounded, &shown)
}

/// The verdict on all of it, where more than half of the lines fell: what most of them fell for.
fn main_fault(faults: &[Option<Fault>]) -> Verdict {
    let codes = [Verdict::Ungrounded, Verdict::FalseQuote, Verdict::Injected];
    let times = |code: &Verdict| faults.iter().flatten().filter(|f| f.verdict == *code).count();
    codes.into_iter().max_by_key(times).unwrap_or(Verdict::Injected)
}

fn on_record(claim: &Claim, fault: &Fault) -> Dropped {
    Dropped {
        line: guard::harmless(&shorten(&claim.joined(), RECORDED)),
        why: format!("{}: {}", fault.verdict.as_str(), fault.about),
    }
}
