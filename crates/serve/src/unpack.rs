//! Decompresses request bodies within the same limits as plain ones: a few kilobytes may expand to gigabytes.

use std::io::{self, Read};

use bytes::Bytes;
use hyper::HeaderMap;
use hyper::header::{CONTENT_ENCODING, HeaderValue};

use crate::body::{BodyMemory, BodyRoom};
use crate::guard::BodyEnd;
use crate::pass_cause::PassCause;
use crate::reading::UnreadReason;

/// The most memory that decompressing zstd may need, as a power of two. RFC 9659 allows 8 MiB for HTTP.
pub const WINDOW: u32 = 23;
/// How many bytes are decompressed before the limits are checked.
pub const PIECE: usize = 64 << 10;

/// The compression of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyPacking {
    /// No compression.
    None,
    /// gzip.
    Gzip,
    /// zstd.
    Zstd,
    /// A compression that midfold does not read.
    Other,
}

/// A compressed body, and its plain text.
pub(crate) struct PackedBody {
    packed: Bytes,
    plain: Bytes,
}

impl PackedBody {
    pub fn new(packed: &Bytes, plain: Bytes) -> Self {
        Self { packed: packed.clone(), plain }
    }

    /// The body to send: the compressed one if nothing was changed, else the plain one, without the header of the
    /// compression.
    pub fn again(packed: Option<&Self>, body: Bytes, headers: &mut HeaderMap) -> Bytes {
        match packed {
            // By address: an unchanged body is the same buffer, and no bytes need to be compared.
            Some(packed) if packed.plain.as_ptr() == body.as_ptr() => return packed.packed.clone(),
            Some(_) => drop(headers.remove(CONTENT_ENCODING)),
            None => {}
        }
        body
    }
}

impl BodyPacking {
    /// The compression that the headers of a request name.
    pub fn of(headers: &HeaderMap) -> Self {
        let mut encodings = headers.get_all(CONTENT_ENCODING).iter().map(HeaderValue::as_bytes);
        match (encodings.next().map(<[u8]>::to_ascii_lowercase).as_deref(), encodings.next()) {
            (None | Some(b"identity" | b""), None) => Self::None,
            (Some(b"gzip" | b"x-gzip"), None) => Self::Gzip,
            (Some(b"zstd"), None) => Self::Zstd,
            _ => Self::Other,
        }
    }

    /// Decompresses a body into the room of its request. A body that is too large for the server, or damaged, is sent
    /// unchanged. One that is longer than the sender's limit `longest` is refused.
    pub fn unpack(
        self,
        packed: &Bytes,
        rooms: &BodyMemory,
        room: &mut BodyRoom,
        longest: usize,
    ) -> Result<Bytes, UnreadReason> {
        let reader: io::Result<Box<dyn Read + '_>> = match self {
            Self::None => return Ok(packed.clone()),
            Self::Gzip => Ok(Box::new(flate2::read::MultiGzDecoder::new(&packed[..]))),
            Self::Zstd => zstd(packed),
            Self::Other => return Err(UnreadReason::Open(PassCause::Encoded)),
        };
        let mut reader = reader.map_err(|_| UnreadReason::Open(PassCause::Encoded))?;
        let before = room.size();
        let read = unpacked(&mut *reader, rooms, room, longest);
        if read.is_err() {
            // The unpacked bytes are dropped here. The packed ones stay, because they are sent on.
            room.shrink_to(before);
        }
        read
    }
}

fn zstd(packed: &[u8]) -> io::Result<Box<dyn Read + '_>> {
    let mut decoder = zstd::stream::read::Decoder::with_buffer(packed)?;
    decoder.window_log_max(WINDOW)?;
    Ok(Box::new(decoder))
}

/// Decompresses until the end, or until a limit is exceeded.
fn unpacked(
    reader: &mut dyn Read,
    rooms: &BodyMemory,
    room: &mut BodyRoom,
    longest: usize,
) -> Result<Bytes, UnreadReason> {
    let mut plain = Vec::new();
    loop {
        // One piece at a time, so that a body which expands too far is noticed early.
        let piece = reader.take(PIECE as u64).read_to_end(&mut plain);
        let read = piece.map_err(|_| UnreadReason::Open(PassCause::Encoded))?;
        if read == 0 {
            return Ok(plain.into());
        }
        if plain.len() > longest {
            return Err(UnreadReason::Ended(BodyEnd::Long(longest)));
        }
        if !rooms.take(room, read) || plain.len() > rooms.longest() {
            return Err(UnreadReason::Open(PassCause::TooLarge));
        }
    }
}
