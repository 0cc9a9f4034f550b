//! What a provider says when it refuses, read within bounds: what it means is known only when all of it was read.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use tokio::time::{Instant, timeout_at};

/// Bytes of a refusal that are read. Those of providers have some hundred; with a request in them, some thousand.
const LONGEST: usize = 1 << 20;

/// The part of a refusal that was read.
pub(crate) struct RefusalStart {
    pub text: Bytes,
    /// Why this is not all of it.
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
    /// Reads a refusal, for so long at most.
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
