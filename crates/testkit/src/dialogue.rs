//! A plain dialogue without tools: the user states personal facts among small talk, each once, and corrects some of
//! them.

use crate::message::quoted;
use crate::rng::Rng;

/// Facts that have to be known later, the corrected ones as what was right before, each with the words that show whether
/// an answer knows it.
pub const SAID: [(&str, &str); 16] = [
    ("My sister Mira is allergic to peanuts.", "peanuts"),
    ("Always answer in metric units.", "metric"),
    ("Never suggest places with stairs, my father uses a wheelchair.", "stairs"),
    ("Our budget for the trip is 2,300 euros.", "2,300"),
    ("We leave on the 14th of May from Ghent.", "14th of May"),
    ("The dog is called Biscuit and weighs nine kilos.", "Biscuit"),
    ("Please write in British spelling.", "British"),
    ("Our hotel in Bruges is called De Zwaan.", "De Zwaan"),
    ("I do not eat fish.", "fish"),
    ("The car is a blue Skoda with the plate 1-KVD-774.", "1-KVD-774"),
    ("Avoid anything before nine in the morning.", "before nine"),
    ("My daughter Iris turns seven on the 16th.", "Iris"),
    ("Correction: the budget is 2,750 euros, my brother joins us.", "2,750"),
    ("The ferry is booked under the code QX7L2P.", "QX7L2P"),
    ("Correction: we leave on the 15th of May.", "15th of May"),
    ("The museum ticket is for Thursday at eleven.", "Thursday"),
];

const TOPICS: [&str; 40] = [
    "clouds",
    "bread",
    "bridges",
    "chess",
    "tides",
    "violins",
    "maps",
    "bees",
    "paint",
    "trains",
    "salt",
    "lanterns",
    "glass",
    "harbours",
    "kites",
    "tea",
    "wool",
    "comets",
    "castles",
    "drums",
    "snow",
    "mosaics",
    "canals",
    "apples",
    "clocks",
    "foxes",
    "sails",
    "poems",
    "markets",
    "moss",
    "puppets",
    "rivers",
    "stamps",
    "gardens",
    "owls",
    "ink",
    "windmills",
    "marbles",
    "soup",
    "masks",
];
const ASKED: [&str; 12] = [
    "Why do people like {}?",
    "Where do {} come from, and what have they to do with {}?",
    "Tell me one odd thing about {}.",
    "Who wrote well about {} and {}?",
    "Is there a museum of {} somewhere in the north?",
    "What did people think of {} a hundred years ago, when {} were rare?",
    "I read about {} on the train this morning, it was dull.",
    "Compare {} with {} in two sentences.",
    "My neighbour talks about {} all day and I cannot follow her.",
    "Explain {} as if I were a child who loves {}.",
    "Hm, I had hoped that {} would be more fun.",
    "What is a good word for {} in a poem on {}?",
];

/// 240 messages of Chat Completions. Each fact of [`SAID`] is a message of the user, in order.
#[must_use]
pub fn dialogue(seed: u64) -> Vec<String> {
    let mut rng = Rng::new(seed);
    let mut lines = vec![message("system", "You are a helpful travel companion.")];
    for turn in 0..119 {
        let stated = (turn % 7 == 3).then(|| SAID.get(turn / 7)).flatten();
        let (topic, other) = (TOPICS[rng.below(TOPICS.len())], TOPICS[rng.below(TOPICS.len())]);
        let (user, answer) = match stated {
            Some((stated, _)) => ((*stated).to_owned(), "Noted, thank you.".to_owned()),
            None => (
                ASKED[rng.below(ASKED.len())].replacen("{}", topic, 1).replace("{}", other),
                format!(
                    "There is much to say about {topic}. They were common in every town, some \
                     more than others, and nobody agrees who was first. {} of the older books \
                     praise them, and the newer ones mostly ask where they went.",
                    ["Most", "Some", "Few", "Half"][rng.below(4)]
                ),
            ),
        };
        lines.push(message("user", &user));
        lines.push(message("assistant", &answer));
    }
    lines.push(message("user", "Good. What should we pack?"));
    lines
}

fn message(role: &str, text: &str) -> String {
    format!(r#"{{"role":"{role}","content":{}}}"#, quoted(text))
}
