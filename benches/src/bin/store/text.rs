//! What the sessions say: messages of about 2 KB that compress as real ones do, and facts with a
//! question each.

use midfold_testkit::Rng;

/// Bytes of a message, about.
const SIZE: usize = 2_000;
const SYLLABLES: [&str; 24] = [
    "ba", "co", "du", "fe", "gi", "ho", "ju", "ka", "le", "mi", "no", "pu", "ra", "se", "ti", "vo",
    "wa", "xe", "yo", "zu", "bri", "sta", "plo", "gre",
];
const THINGS: [&str; 8] =
    ["gateway", "ledger", "scheduler", "exporter", "cache", "importer", "proxy", "mailer"];
const EVENTS: [&str; 6] = ["migration", "outage", "audit", "upgrade", "rollback", "handover"];

fn word(rng: &mut Rng, syllables: usize) -> String {
    (0..syllables).map(|_| *rng.pick(&SYLLABLES)).collect()
}

/// Words that all sessions draw from.
pub struct Vocabulary(Vec<String>);

impl Vocabulary {
    /// The same every time.
    pub fn new() -> Self {
        let mut rng = Rng::new(7);
        let mut words: Vec<String> = (0..3_000).map(|at| word(&mut rng, 2 + at % 3)).collect();
        // What facts are made of is said elsewhere too: no single word gives an answer away.
        for _ in 0..40 {
            words.extend(THINGS.iter().chain(&EVENTS).map(|word| (*word).to_owned()));
        }
        Self(words)
    }

    /// A message, with a fact in its middle where there is one.
    pub fn message(&self, rng: &mut Rng, user: bool, fact: Option<&str>) -> String {
        let role = if user { "user" } else { "assistant" };
        let mut text = format!("{{\"role\":\"{role}\",\"content\":\"");
        let mut fact = fact;
        while text.len() < SIZE {
            if text.len() > SIZE / 2
                && let Some(fact) = fact.take()
            {
                text.push_str(fact);
                text.push(' ');
            }
            // A third of what is said is hardly compressible: paths, ids, numbers.
            if rng.chance(15) {
                text.push_str(&rng.hex(16));
            } else {
                text.push_str(rng.pick::<String>(&self.0));
            }
            text.push(' ');
        }
        text.push_str("\"}");
        text
    }
}

/// Something that was said once, and what somebody may ask about it later.
pub struct Fact {
    /// As it was said.
    pub said: String,
    /// Some of its words, in another order and among others.
    pub question: String,
}

impl Fact {
    /// Facts of one session are alike but for their names.
    pub fn new(rng: &mut Rng) -> Self {
        let (thing, event) = (*rng.pick(&THINGS), *rng.pick(&EVENTS));
        let (name, place, port) = (word(rng, 4), word(rng, 3), rng.between(1_000, 60_000));
        Self {
            said: format!(
                "We agreed that the {name} {thing} in {place} listens on port {port} since the \
                 {event}."
            ),
            question: format!("which port does the {thing} {name} use after the {event}"),
        }
    }
}
