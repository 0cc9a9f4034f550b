//! Makes conversations of people: small talk, questions without weight, and facts that are said once.

use serde::Deserialize;

use super::rng::Rng;
use super::{CarriedFact, CarrierMessage};
use crate::exam::error::{ErrorPlace as _, ExamResult};

/// The material for chats, as TOML.
const WORDS: &str = include_str!("../../../../data/exam/chat.toml");

/// The material for a chat.
#[derive(Deserialize)]
pub struct CarrierTalk {
    people: Vec<String>,
    places: Vec<String>,
    adjectives: Vec<String>,
    when: Vec<String>,
    topic: Vec<TalkTopic>,
    talk: TalkSentences,
    fact: Vec<CarriedFact>,
}

/// A topic of the chat, with words for it.
#[derive(Deserialize)]
struct TalkTopic {
    name: String,
    nouns: Vec<String>,
}

/// The patterns of sentences.
#[derive(Deserialize)]
struct TalkSentences {
    ask: Vec<String>,
    chat: Vec<String>,
    answer: Vec<String>,
}

impl CarrierTalk {
    /// Reads the built-in material.
    ///
    /// # Errors
    /// The material cannot be read.
    pub fn new() -> ExamResult<Self> {
        toml::from_str(WORDS).at("chat.toml")
    }

    /// The facts that a chat contains.
    #[must_use]
    pub fn facts(&self) -> &[CarriedFact] {
        &self.fact
    }

    /// A chat with about `tokens` tokens (of 3.2 characters each). It contains each fact once, and the facts are evenly
    /// spread.
    #[must_use]
    pub fn chat(&self, seed: u64, tokens: usize) -> Vec<CarrierMessage> {
        let rng = &mut Rng::new(seed);
        let mut out = vec![
            CarrierMessage::system("You are a friendly companion for long conversations."),
            CarrierMessage::user("Good morning! I have the day off and feel like talking."),
            CarrierMessage::assistant("Good morning! What is on your mind?"),
        ];
        let (mut size, mut facts) = (0, self.fact.iter());
        // There is one interval more than facts, so that no fact is at the very end.
        let every = tokens / (self.fact.len() + 1);
        let mut next = every;
        while size < tokens {
            let [mut user, answer] = self.exchange(rng, (2, 4), (7, 14));
            if size > next {
                next += every;
                if let Some(fact) = facts.next() {
                    user.content = format!("{} {}", user.content, fact.says);
                }
            }
            size += (user.content.len() + answer.content.len()) * 10 / 32 + 8;
            out.extend([user, answer]);
        }
        out
    }

    /// One short exchange of small talk.
    #[must_use]
    pub fn small(&self, rng: &mut Rng) -> [CarrierMessage; 2] {
        self.exchange(rng, (1, 2), (1, 2))
    }

    /// A message of the user and its answer. `user_length` and `answered` are the ranges of their numbers of sentences.
    fn exchange(
        &self,
        rng: &mut Rng,
        user_length: (usize, usize),
        answered: (usize, usize),
    ) -> [CarrierMessage; 2] {
        let topic = rng.below(self.topic.len());
        let mut user = Vec::new();
        for _ in 0..rng.between(user_length.0, user_length.1) {
            let asks = rng.chance(45);
            let of = if asks { &self.talk.ask } else { &self.talk.chat };
            user.push(self.sentence(rng, topic, of));
        }
        let mut answer: Vec<String> = Vec::new();
        for _ in 0..rng.between(answered.0, answered.1) {
            answer.push(self.sentence(rng, topic, &self.talk.answer));
        }
        if answered.1 > 6 && rng.chance(30) {
            let at = answer.len() / 2;
            answer.insert(at, "\n\n".to_owned());
        }
        [CarrierMessage::user(joined(&user)), CarrierMessage::assistant(joined(&answer))]
    }

    /// A long message of the user on several topics, in paragraphs, with `inside` in the middle of one paragraph.
    #[must_use]
    pub fn long_message(&self, seed: u64, inside: &str) -> String {
        let rng = &mut Rng::new(seed);
        let mut paragraphs = Vec::new();
        for at in 0..5 {
            let topic = rng.below(self.topic.len());
            let name = &self.topic[topic].name;
            let mut sentences = vec![format!("About {name}:")];
            for _ in 0..rng.between(5, 8) {
                sentences.push(self.sentence(rng, topic, &self.talk.chat));
            }
            if at == 2 {
                sentences.insert(sentences.len() / 2, inside.to_owned());
            }
            paragraphs.push(joined(&sentences));
        }
        paragraphs.join("\n\n")
    }

    fn sentence(&self, rng: &mut Rng, topic: usize, of: &[String]) -> String {
        let nouns = &self.topic[topic].nouns;
        let n = rng.pick(nouns).to_owned();
        let others: Vec<String> = nouns.iter().filter(|noun| **noun != n).cloned().collect();
        let text = rng.pick(of).to_owned();
        let text = text
            .replace("{n}", &n)
            .replace("{m}", rng.pick(&others))
            .replace("{p}", rng.pick(&self.people))
            .replace("{w}", rng.pick(&self.places))
            .replace("{a}", rng.pick(&self.adjectives))
            .replace("{t}", rng.pick(&self.when))
            .replace("{k}", &rng.between(3, 59).to_string());
        capital(&text)
    }
}

fn joined(sentences: &[String]) -> String {
    sentences.join(" ").replace(" \n\n ", "\n\n")
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or(String::new(), |first| first.to_uppercase().chain(chars).collect())
}
