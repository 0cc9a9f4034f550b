//! Reads a provider's refusal within bounds: the whole text is needed to find out what it means.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use tokio::time::{Instant, timeout_at};

/// The most bytes of a refusal that are read. Refusals have some hundred bytes; if they repeat the request, some
/// thousand.
const LONGEST: usize = 1 << 20;

/// The part of a refusal that was read.
pub(crate) struct RefusalStart {
    pub text: Bytes,
    /// Why the rest was not read; `None` if this is all.
    pub cut: Option<RefusalCut>,
}

/// Why a refusal was not read to its end.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RefusalCut {
    #[error("the upstream's refusal broke off: {0}")]
    Broken(#[from] hyper::Error),
    #[error("the upstream's refusal is longer than what is read of one")]
    Long,
    #[error("the upstream's refusal did not end in time")]
    Slow,
}

impl RefusalStart {
    /// Reads a refusal until `limit` has passed.
    pub async fn read(mut body: Incoming, limit: Duration) -> Self {
        let end = Instant::now() + limit;
        let mut text = BytesMut::new();
        let cut = loop {
            match timeout_at(end, body.frame()).await {
                Err(_) => break Some(RefusalCut::Slow),
                Ok(None) => break None,
                Ok(Some(Err(error))) => break Some(RefusalCut::Broken(error)),
                Ok(Some(Ok(frame))) => {
                    text.extend_from_slice(frame.data_ref().map_or(&[], |data| &data[..]));
                }
            }
            if text.len() > LONGEST {
                break Some(RefusalCut::Long);
            }
        };
        Self { text: text.freeze(), cut }
    }
}
