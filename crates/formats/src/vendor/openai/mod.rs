//! `OpenAI` Responses: compaction at a threshold, on a trigger, and at an endpoint of its own.

mod answer;
mod insert;
mod request;

pub use answer::{CompactionItem, ResponseHead, compacted, item_events, response, response_events};
pub use insert::{ItemInsertion, insert};
pub use request::{
    OpenaiRefusal, OpenaiRequest, PlacedItem, THRESHOLD_MIN, compaction_items, instructs, is_users,
    read_request, with_input, without_management,
};
