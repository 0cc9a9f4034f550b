//! Long conversations for benches.

use crate::emit;
use crate::message::{TestCall, TestMessage};
use crate::rng::Rng;
use crate::world::{self, FILES};

/// Chat Completions messages: `messages` of them, with roughly `bytes` bytes together. Results have 0.5 to 8 KB, spread
/// evenly over the powers of two. 15 % of them repeat an earlier result.
#[must_use]
pub fn big_messages(messages: usize, bytes: usize) -> Vec<String> {
    let rng = &mut Rng::new(0x00b1_65e5);
    let mut out = vec![TestMessage::System("You are a coding agent.".to_owned())];
    let mut seen: Vec<String> = Vec::new();
    // The mean size of a call with its result, which scales the sizes to `bytes`.
    let mean = 2_700 + 420;
    let weigh = |size: usize| size * (2 * bytes / messages.max(1)) / mean;
    while out.len() < messages {
        if out.len() % 40 == 1 {
            out.push(TestMessage::User(format!("LED-{}: go on with the next file.", out.len())));
            continue;
        }
        let (path, _) = *rng.pick(&FILES);
        let id = format!("call_{}", rng.hex(24));
        let call = TestCall {
            id: id.clone(),
            name: "read_file".to_owned(),
            arguments: format!(r#"{{"path":"{path}","offset":{}}}"#, rng.below(2000)),
        };
        let text = if rng.chance(50) { "Reading the next part." } else { "" }.to_owned();
        out.push(TestMessage::Assistant { thought: None, text, calls: vec![call] });
        let content = if rng.chance(15) && !seen.is_empty() {
            rng.pick(&seen).clone()
        } else {
            let size = weigh(rng.log_uniform(9, 13));
            fill(rng, size)
        };
        if seen.len() < 400 {
            seen.push(content.clone());
        }
        out.push(TestMessage::Tool { id, name: "read_file".to_owned(), content });
    }
    out.truncate(messages);
    emit::openai_chat(&out)
}

/// The same messages as a request body.
#[must_use]
pub fn big_openai(messages: usize, bytes: usize) -> String {
    emit::openai_request(&big_messages(messages, bytes))
}

/// `size` bytes of text that looks like tool output.
fn fill(rng: &mut Rng, size: usize) -> String {
    let mut out = String::with_capacity(size + 4096);
    while out.len() < size {
        let (path, class) = *rng.pick(&FILES);
        match rng.below(3) {
            0 => out += &world::grep(rng, &world::function(&mut rng.clone())),
            1 => out += &world::service_log(rng),
            _ => out += &world::source(path, class, rng.below(9)),
        }
    }
    out.truncate(size);
    out
}
