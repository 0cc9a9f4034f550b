//! Compacts a conversation because somebody asks for it: to a target, with the newest messages kept, and with an
//! explanation if it cannot be done.

use std::borrow::Cow;

use midfold_core::budget::Budget;
use midfold_core::fold::{Fold, VerdictRecord};
use midfold_core::narrate::AcceptedNarration;
use midfold_core::plan::{
    FloorError, FoldCause, PlanError, PlanOutcome, PlanRequest, kept_events, plan,
};
use midfold_core::policy::Policy;
use midfold_core::project::{Context, project};

use crate::advice::{AdvisedError, CUT_RESULTS, parts};
use crate::failure::{Door, Failure, FailureArea, number, plural};
use crate::prepare::PreparedConversation;

/// The wishes for one compaction.
///
/// ```
/// use midfold::formats::read;
/// use midfold::{CompactionRequest, Door, Policy, Setup, ModelNarration};
///
/// # let input = bytes::Bytes::from(midfold_testkit::coding_session(7, 12).join("\n"));
/// let conversation = read::read(&input, None)?.conversations.remove(0);
/// let prepared = Setup::new().window(8_000).prepare(conversation)?;
/// let wish = CompactionRequest { target: Some(3_000), ..CompactionRequest::by(Policy::preset("default")?) };
/// let done = wish.run(&prepared, &[], &ModelNarration::default(), Door::Command)?;
/// assert!(done.context.tokens() <= 3_000 && done.missed.is_none());
/// let wrong = CompactionRequest { target: Some(9_000), ..wish };
/// let failure = wrong.run(&prepared, &[], &ModelNarration::default(), Door::Command).map(drop).unwrap_err();
/// assert_eq!(failure.message, "a target of 9,000 tokens is larger than the budget of 8,000");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct CompactionRequest {
    /// When and how to fold.
    pub policy: Policy,
    /// What the recap should keep before anything else.
    pub focus: Option<String>,
    /// The most tokens that the context may count after the fold.
    pub target: Option<u64>,
    /// How many of the newest messages have to stay, at least.
    pub keep_last: Option<usize>,
    /// Fold only if the policy's trigger fires. Otherwise a fold is tried in any case.
    pub if_needed: bool,
}

/// A model's narration of the messages that leave, after it was judged.
#[derive(Clone, Debug, Default)]
pub struct ModelNarration {
    /// The part of the model's answer that was accepted.
    pub narrated: Option<AcceptedNarration>,
    /// The verdict on each answer.
    pub verdicts: Vec<VerdictRecord>,
    /// A recap that the caller wrote. It replaces the one that midfold would compose.
    pub recap: Option<String>,
}

/// The result of a compaction.
#[derive(Debug)]
pub struct CompactionOutcome {
    /// The fold, or why there is none.
    pub outcome: PlanOutcome,
    /// The context to send.
    pub context: Context,
    /// The target, if the context is still larger than that; `None` if it was met or none was asked for.
    pub missed: Option<u64>,
}

impl CompactionOutcome {
    /// The fold; `None` if nothing was folded.
    #[must_use]
    pub fn fold(&self) -> Option<&Fold> {
        self.outcome.fold()
    }
}

impl CompactionRequest {
    /// A compaction by this policy without other wishes.
    #[must_use]
    pub fn by(policy: Policy) -> Self {
        Self { policy, focus: None, target: None, keep_last: None, if_needed: false }
    }

    /// Compacts a conversation. `pins` are the numbers of messages that have to stay.
    ///
    /// # Errors
    /// If a pin names no message, if the target is above the budget, or if the messages that may not be folded or the
    /// newest ones that were to stay do not fit.
    pub fn run(
        &self,
        prepared: &PreparedConversation,
        pins: &[u32],
        narration: &ModelNarration,
        door: Door,
    ) -> Result<CompactionOutcome, Failure> {
        let work = CompactionWork { request: self, prepared, pins, narration, door };
        work.check()?;
        let policy = self.policy();
        let outcome = work.fold(&policy, prepared.window);
        let outcome = outcome.map_err(|error| work.explain(&policy, error))?;
        if let Some(fold) = outcome.fold() {
            work.kept_last(fold)?;
        }
        let context = project(&prepared.log, outcome.fold());
        // The target is in the provider's tokens, as the window is.
        let tokens = outcome.fold().map_or(context.tokens(), |fold| fold.tokens_after);
        let missed = self.target.filter(|target| prepared.meter.calibrated(tokens) > *target);
        Ok(CompactionOutcome { outcome, context, missed })
    }

    /// The policy, with the number of newest messages that have to stay.
    #[must_use]
    pub fn policy(&self) -> Cow<'_, Policy> {
        self.with_keep_last(&self.policy)
    }

    /// A policy, with the number of newest messages that have to stay.
    fn with_keep_last<'a>(&self, policy: &'a Policy) -> Cow<'a, Policy> {
        let Some(messages) = self.keep_last else { return Cow::Borrowed(policy) };
        let mut policy = policy.clone();
        policy.tail.min_messages = messages;
        // These messages stay as they are, also where the policy prunes the older part of its tail.
        policy.tail.protect_messages = policy.tail.protect_messages.max(messages);
        Cow::Owned(policy)
    }
}

/// One compaction of one conversation.
struct CompactionWork<'a> {
    request: &'a CompactionRequest,
    prepared: &'a PreparedConversation,
    pins: &'a [u32],
    narration: &'a ModelNarration,
    door: Door,
}

impl CompactionWork<'_> {
    /// Checks that the pins are messages, and that the target is within the budget.
    fn check(&self) -> Result<(), Failure> {
        let events = self.prepared.log.len();
        if let Some(pin) = self.pins.iter().find(|pin| **pin as usize >= events) {
            return Err(Failure::new(
                FailureArea::Input,
                format!("pin: there is no message {pin}"),
            )
            .hint(format!("there are {events}, counted from 0")));
        }
        let reserve = self.request.policy.trigger.injection_reserve;
        let budget = self.prepared.window.saturating_sub(reserve);
        let Some(target) = self.request.target.filter(|target| *target > budget) else {
            return Ok(());
        };
        Err(Failure::usage(
            FailureArea::Budget,
            format!(
                "a target of {} tokens is larger than the budget of {}",
                number(target),
                number(budget)
            ),
        )
        .hint(format!(
            "lower {} or raise {}",
            self.door.option("target"),
            self.door.option("window")
        )))
    }

    fn fold(&self, policy: &Policy, window: u64) -> Result<PlanOutcome, PlanError> {
        plan(&PlanRequest {
            pins: self.pins,
            narrated: self.narration.narrated.as_ref(),
            verdicts: &self.narration.verdicts,
            recap: self.narration.recap.as_deref(),
            focus: self.request.focus.as_deref(),
            target: self.request.target,
            cause: if self.request.if_needed { FoldCause::Check } else { FoldCause::Manual },
            ..self.prepared.plan(policy, &Budget::new(window))
        })
    }

    /// Whether a compaction with this policy and window would succeed.
    fn fits(&self, policy: &Policy, window: u64) -> bool {
        self.fold(policy, window).is_ok_and(|outcome| self.keeps_last(&outcome))
    }

    fn keeps_last(&self, outcome: &PlanOutcome) -> bool {
        outcome.fold().is_none_or(|fold| self.kept_last(fold).is_ok())
    }

    /// Explains why nothing fits, with everything that would help: a larger window, another preset, fewer pins, less
    /// kept.
    fn explain(&self, policy: &Policy, error: PlanError) -> Failure {
        let floor = match error {
            PlanError::Floor(floor) => floor,
            error => {
                let hint = format!("raise {}", self.door.option("window"));
                let Failure { area, .. } = error.clone().advise(self.door);
                return Failure::usage(area, error.to_string()).hint(hint);
            }
        };
        let message = format!(
            "what may not be folded needs {} tokens, more than the window of {} allows ({})",
            number(floor.needed),
            number(self.prepared.window),
            number(floor.limit),
        );
        // A window in which too few of the newest messages stay would only bring the next error.
        let fold = |window| match self.fold(policy, window) {
            Ok(outcome) if !self.keeps_last(&outcome) => Err(PlanError::Floor(floor.clone())),
            other => other,
        };
        let enough = floor.enough(policy, self.prepared.meter, self.prepared.window, fold);
        Failure::new(FailureArea::Budget, message)
            .hint(parts(&floor))
            .maybe_hint(
                enough.map(|window| format!("{} is enough", self.door.set("window", window))),
            )
            .maybe_hint(self.other_presets(policy))
            .maybe_hint(self.shown_cut(policy))
            .maybe_hint(self.fewer_pins(&floor))
            .maybe_hint(self.less_kept(policy, &floor))
    }

    /// A hint that names the presets with which this conversation fits.
    fn other_presets(&self, policy: &Policy) -> Option<String> {
        let fits = |name: &&str| {
            Policy::preset(name).is_ok_and(|other| {
                other.name != policy.name
                    && self.fits(&self.request.with_keep_last(&other), self.prepared.window)
            })
        };
        let fits: Vec<_> = Policy::preset_names().into_iter().filter(fits).collect();
        (!fits.is_empty()).then(|| {
            let name = match self.door {
                Door::Command => fits.join(" or "),
                Door::Python | Door::Node | Door::Http => format!("\"{}\"", fits.join("\" or \"")),
            };
            format!("or choose {}, which fits this window", self.door.set("preset", name))
        })
    }

    /// A hint to show the newest step's results cut, where the conversation then fits.
    fn shown_cut(&self, policy: &Policy) -> Option<String> {
        let mut cutting = policy.clone();
        cutting.tail.cut_results = Some(true);
        let fits = !policy.tail.cuts_results() && self.fits(&cutting, self.prepared.window);
        fits.then(|| {
            format!("or set {CUT_RESULTS}: the newest step's long parts are then shown cut")
        })
    }

    fn fewer_pins(&self, floor: &FloorError) -> Option<String> {
        let messages = plural(self.pins.len() as u64, "message");
        (!self.pins.is_empty() && floor.pinned > 0).then(|| match self.door {
            Door::Command => format!("or pin less: --pin matched {messages}"),
            Door::Python | Door::Node | Door::Http => {
                format!("or pin less: {messages} should stay")
            }
        })
    }

    fn less_kept(&self, policy: &Policy, floor: &FloorError) -> Option<String> {
        let count = kept_events(&self.prepared.log, policy).len() as u64;
        (count > 0 && floor.pinned > 0).then(|| {
            format!(
                "or keep less: `<keep>` in a message and the policy's `keep` hold {}",
                plural(count, "message")
            )
        })
    }

    /// Fails if fewer of the newest messages stay than were asked for.
    fn kept_last(&self, fold: &Fold) -> Result<(), Failure> {
        let Some(keep_last) = self.request.keep_last else { return Ok(()) };
        // Reducers may fold messages of the tail: only those behind the span are untouched.
        let untouched = fold.layout.tail.end.saturating_sub(fold.span.end) as usize;
        let middle = fold.layout.middle.end.saturating_sub(fold.layout.middle.start);
        if untouched >= keep_last || middle == 0 {
            return Ok(());
        }
        Err(Failure::new(
            FailureArea::Budget,
            format!(
                "{} does not fit: only the newest {} fit the window of {}",
                self.door.set("keep-last", keep_last),
                plural(untouched as u64, "message"),
                number(self.prepared.window)
            ),
        )
        .hint(format!(
            "raise {}, or ask for {}",
            self.door.option("window"),
            self.door.set("keep-last", untouched)
        )))
    }
}
