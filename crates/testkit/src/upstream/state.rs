//! The conversations that the server keeps between requests: responses and threads.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::errors::BrokenRule;
use super::request_parts::{AskedParts, WireDialect, unmarked};
use super::stream::{NumberedReply, messages, responses};

/// A conversation up to and including a reply.
#[derive(Clone, Debug)]
struct KeptReply {
    system: Value,
    tools: Value,
    items: Vec<Value>,
}

/// Kept conversations, by the id of their last reply.
#[derive(Debug, Default)]
pub(crate) struct ReplyState {
    kept: BTreeMap<String, KeptReply>,
}

/// The kinds of conversations that the server keeps.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct KeptKinds {
    pub responses: bool,
    pub threads: bool,
}

impl ReplyState {
    /// Puts the kept messages before those of the request. Fails with a status and the broken rule where they are not
    /// kept.
    pub fn resolve(
        &self,
        asked: &mut AskedParts,
        keeps: KeptKinds,
    ) -> Result<(), (u16, BrokenRule)> {
        match asked.dialect {
            WireDialect::Responses => {
                self.referred(asked, keeps.responses)?;
                self.previous(asked, keeps.responses)
            }
            WireDialect::Messages => self.thread(asked, keeps.threads),
            WireDialect::Chat | WireDialect::Gemini => Ok(()),
        }
    }

    /// Replaces items that are named only by their id.
    fn referred(&self, asked: &mut AskedParts, keeps: bool) -> Result<(), (u16, BrokenRule)> {
        let known = || self.kept.values().flat_map(|kept| &kept.items).filter(|_| keeps);
        for item in asked.items.iter_mut().filter(|item| item["type"] == "item_reference") {
            let Some(found) = known().find(|known| known["id"] == item["id"]) else {
                let id = item["id"].as_str().unwrap_or_default();
                let text = format!("Item with id '{id}' not found.");
                return Err((404, BrokenRule::at(text, "input".to_owned())));
            };
            *item = found.clone();
        }
        Ok(())
    }

    fn previous(&self, asked: &mut AskedParts, keeps: bool) -> Result<(), (u16, BrokenRule)> {
        let Some(id) = asked.body["previous_response_id"].as_str() else { return Ok(()) };
        let kept = self.kept.get(id).filter(|_| keeps);
        let Some(kept) = kept else {
            let broken = BrokenRule {
                message: format!("Previous response with id '{id}' not found."),
                param: Some("previous_response_id".to_owned()),
                code: Some("previous_response_not_found"),
                details: None,
            };
            return Err((400, broken));
        };
        // Instructions and tools of the earlier request are not carried over.
        asked.items.splice(0..0, kept.items.iter().cloned());
        Ok(())
    }

    fn thread(&self, asked: &mut AskedParts, keeps: bool) -> Result<(), (u16, BrokenRule)> {
        let thread = &asked.body["thread"];
        if thread.is_null() {
            return Ok(());
        }
        if !keeps {
            let details = Some("thread_unsupported_request");
            let text = "thread: this request cannot be threaded";
            return Err((400, BrokenRule { details, ..BrokenRule::new(text) }));
        }
        if thread["type"] != "continue" {
            return Ok(());
        }
        let id = thread["previous_message_id"].as_str().unwrap_or_default();
        let Some(kept) = self.kept.get(id) else {
            let details = Some("thread_not_found");
            let text = format!("thread: no thread was found for the message {id}");
            return Err((404, BrokenRule { details, ..BrokenRule::new(text) }));
        };
        asked.items.splice(0..0, kept.items.iter().cloned());
        if asked.system.is_null() {
            asked.system = kept.system.clone();
        }
        if asked.tools.is_null() {
            asked.tools = kept.tools.clone();
        }
        Ok(())
    }

    /// Keeps a conversation with its new reply, if the client asks for that.
    pub fn keep(&mut self, made: &NumberedReply<'_>, keeps: KeptKinds) {
        let asked = made.asked;
        let (id, said) = match asked.dialect {
            WireDialect::Responses if keeps.responses && asked.body["store"] != false => {
                (responses::id(made), responses::output(made))
            }
            WireDialect::Messages if keeps.threads && !asked.body["thread"].is_null() => {
                let content = messages::content(made);
                (messages::id(made), vec![json!({"role": "assistant", "content": content})])
            }
            _ => return,
        };
        // Cache marks count for one request only. Kept ones would use up the four marks that the next request may have.
        let items = asked.items.iter().map(unmarked).chain(said).collect();
        let kept = KeptReply { system: unmarked(&asked.system), tools: asked.tools.clone(), items };
        self.kept.insert(id, kept);
    }
}
