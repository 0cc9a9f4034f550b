//! What a conversation knows of the window of its model: what was stated for its last request, and what the provider's
//! counts of its prompts show.

use midfold_core::log::Event;

use super::conversation::ProxyConversation;
use super::learned_windows::WindowOwner;
use super::truncation::CountTrail;

impl ProxyConversation {
    /// Takes in the window that is stated for a request. A refusal under another one says nothing of it: the server may
    /// have been started again with more context.
    pub fn note_stated_window(&mut self, stated: Option<u64>) {
        if stated.is_some() && self.stated_window != stated {
            self.session.forget_learned_window();
        }
        self.stated_window = stated.or(self.stated_window);
    }

    /// The provider's counts so far. Another model, or another server, begins anew.
    pub fn counts_of(&mut self, source: &WindowOwner) -> &mut CountTrail {
        if self.counts.as_ref().is_none_or(|(of, _)| of != source) {
            self.counts = None;
        }
        let (_, counts) =
            self.counts.get_or_insert_with(|| (source.clone(), CountTrail::default()));
        counts
    }

    /// The tokens of reasoning and pictures in its messages. A provider may leave them out of a prompt, or count them
    /// in another way.
    pub fn unsure_tokens(&self) -> u64 {
        let of = |event: &Event| {
            let blocks = event.view.blocks.iter().zip(&event.tokens.blocks);
            let unsure =
                blocks.filter(|(block, _)| block.is_reasoning() || !block.media.is_empty());
            unsure.map(|(_, tokens)| u64::from(*tokens)).sum::<u64>()
        };
        self.session.log().events().iter().map(of).sum()
    }
}
