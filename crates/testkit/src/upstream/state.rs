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
    replies: BTreeMap<String, KeptReply>,
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
        request: &mut AskedParts,
        keeps: KeptKinds,
    ) -> Result<(), (u16, BrokenRule)> {
        match request.dialect {
            WireDialect::Responses => {
                self.referred(request, keeps.responses)?;
                self.previous(request, keeps.responses)
            }
            WireDialect::Messages => self.thread(request, keeps.threads),
            WireDialect::Chat | WireDialect::Gemini => Ok(()),
        }
    }

    /// Replaces items that are named only by their id.
    fn referred(&self, request: &mut AskedParts, keeps: bool) -> Result<(), (u16, BrokenRule)> {
        let known = || self.replies.values().flat_map(|reply| &reply.items).filter(|_| keeps);
        for item in request.items.iter_mut().filter(|item| item["type"] == "item_reference") {
            let Some(original) = known().find(|known| known["id"] == item["id"]) else {
                let id = item["id"].as_str().unwrap_or_default();
                let text = format!("Item with id '{id}' not found.");
                return Err((404, BrokenRule::at(text, "input".to_owned())));
            };
            *item = original.clone();
        }
        Ok(())
    }

    fn previous(&self, request: &mut AskedParts, keeps: bool) -> Result<(), (u16, BrokenRule)> {
        let Some(id) = request.body["previous_response_id"].as_str() else { return Ok(()) };
        let reply = self.replies.get(id).filter(|_| keeps);
        let Some(reply) = reply else {
            let broken = BrokenRule {
                message: format!("Previous response with id '{id}' not found."),
                param: Some("previous_response_id".to_owned()),
                code: Some("previous_response_not_found"),
                details: None,
            };
            return Err((400, broken));
        };
        // Instructions and tools of the earlier request are not carried over.
        request.items.splice(0..0, reply.items.iter().cloned());
        Ok(())
    }

    fn thread(&self, request: &mut AskedParts, keeps: bool) -> Result<(), (u16, BrokenRule)> {
        let thread = &request.body["thread"];
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
        let Some(reply) = self.replies.get(id) else {
            let details = Some("thread_not_found");
            let text = format!("thread: no thread was found for the message {id}");
            return Err((404, BrokenRule { details, ..BrokenRule::new(text) }));
        };
        request.items.splice(0..0, reply.items.iter().cloned());
        if request.system.is_null() {
            request.system = reply.system.clone();
        }
        if request.tools.is_null() {
            request.tools = reply.tools.clone();
        }
        Ok(())
    }

    /// Keeps a conversation with its new reply, if the client asks for that.
    pub fn keep(&mut self, numbered: &NumberedReply<'_>, keeps: KeptKinds) {
        let request = numbered.request;
        let (id, answered) = match request.dialect {
            WireDialect::Responses if keeps.responses && request.body["store"] != false => {
                (responses::id(numbered), responses::output(numbered))
            }
            WireDialect::Messages if keeps.threads && !request.body["thread"].is_null() => {
                let content = messages::content(numbered);
                (messages::id(numbered), vec![json!({"role": "assistant", "content": content})])
            }
            _ => return,
        };
        // Cache marks count for one request only. Kept ones would use up the four marks that the next request may have.
        let items = request.items.iter().map(unmarked).chain(answered).collect();
        let stored =
            KeptReply { system: unmarked(&request.system), tools: request.tools.clone(), items };
        self.replies.insert(id, stored);
    }
}
