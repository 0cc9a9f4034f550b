//! Limits the answer's length where a provider counts the requested answer against the window.

use midfold_formats::overflow::Diagnosis;
use midfold_formats::request::with_shorter_reply;

use super::learned_windows::WindowReport;
use super::lock::lock;
use super::rules::LEAST_REPLY;
use super::turn::MatchedRequest;

/// An estimate of a prompt may be too low by this part of it, and by `MORE` tokens. After a fold it is corrected by
/// counts of other texts, so it is less exact.
const OFF: u64 = 16;
const MORE: u64 = 64;

impl MatchedRequest {
    /// Lowers the tokens that the request allows for the answer, if the provider counts them against the window and
    /// they do not fit beside the prompt. `prompt` is the provider's count of the prompt, if it is known.
    pub(super) fn shorten_reply(&mut self, report: WindowReport, prompt: Option<u64>) {
        let Some(max_output) = self.request.max_output.filter(|_| report.counts_reply) else {
            return;
        };
        let estimate = self.sent.tokens_after + self.sent.tokens_after / OFF + MORE;
        let room = report.window.saturating_sub(prompt.unwrap_or(estimate));
        if max_output > room && room >= LEAST_REPLY {
            self.sent.body = with_shorter_reply(&self.sent.body, room);
            self.sent.reply = Some(room);
        }
    }

    /// Prepares a refused request again with a shorter answer and nothing else changed. Returns false if the prompt
    /// leaves no room for an answer.
    pub(super) fn only_shortens_reply(&mut self, diagnosis: Diagnosis) -> bool {
        let Diagnosis::SharedCap { input, limit, .. } = diagnosis else {
            return false;
        };
        let report = WindowReport { window: limit, counts_reply: true };
        if let Some(source) = &self.source {
            lock(&self.proxy.learned).note_refused(source, report);
        }
        self.shorten_reply(report, Some(input));
        self.sent.reply.is_some()
    }
}
