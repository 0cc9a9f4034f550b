//! Room for the reply, where a provider counts what a request allows for it.

use midfold_formats::overflow::Diagnosis;
use midfold_formats::request::with_shorter_reply;

use super::learned_windows::WindowReport;
use super::lock::lock;
use super::rules::LEAST_REPLY;
use super::turn::MatchedRequest;

/// What an estimate of a prompt may be short by: one part in so many, and a little more. After a fold it is corrected
/// by what the provider counted of other texts.
const OFF: u64 = 16;
const MORE: u64 = 64;

impl MatchedRequest {
    /// Asks for a reply that fits beside the prompt, where the provider takes both together and the request asks for
    /// more. `prompt` is what the provider counted of it, where it did.
    pub(super) fn shorten_reply(&mut self, told: WindowReport, prompt: Option<u64>) {
        let Some(asked) = self.request.max_output.filter(|_| told.counts_reply) else { return };
        let estimate = self.sent.tokens_after + self.sent.tokens_after / OFF + MORE;
        let room = told.window.saturating_sub(prompt.unwrap_or(estimate));
        if asked > room && room >= LEAST_REPLY {
            self.sent.body = with_shorter_reply(&self.sent.body, room);
            self.sent.reply = Some(room);
        }
    }

    /// The request that was refused, with a shorter reply and nothing else changed: where the prompt leaves room for
    /// one. Says whether it does.
    pub(super) fn only_shortens_reply(&mut self, diagnosis: Diagnosis) -> bool {
        let Diagnosis::OutputCap { input: Some(input), limit: Some(limit), .. } = diagnosis else {
            return false;
        };
        let told = WindowReport { window: limit, counts_reply: true };
        if let Some(source) = &self.source {
            lock(&self.proxy.learned).refused(source, told);
        }
        self.shorten_reply(told, Some(input));
        self.sent.reply.is_some()
    }
}
