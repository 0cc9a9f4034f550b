//! Packed bodies, unpacked within the bound that holds for plain ones: a few kilobytes can hold gigabytes.

use std::io::{self, Read};

use bytes::Bytes;
use hyper::HeaderMap;
use hyper::header::{CONTENT_ENCODING, HeaderValue};

use crate::body::{Room, Rooms};
use crate::metrics::Cause;

/// Memory that a packed body may ask of whoever unpacks it, as a power of two: RFC 9659 lets no content of
/// HTTP ask for more than 8 MiB.
const WINDOW: u32 = 23;
/// Bytes that are unpacked before it is looked whether they fit.
const PIECE: usize = 64 << 10;

/// How a body is packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Packing {
    None,
    Gzip,
    Zstd,
    /// In a way that is not unpacked here.
    Other,
}

/// A body that came packed, and what was in it.
pub(crate) struct Packed {
    came: Bytes,
    plain: Bytes,
}

impl Packed {
    pub fn new(came: &Bytes, plain: Bytes) -> Self {
        Self { came: came.clone(), plain }
    }

    /// What goes on: as it came where nothing was done to it, else plain.
    pub fn again(packed: Option<&Self>, body: Bytes, headers: &mut HeaderMap) -> Bytes {
        match packed {
            Some(packed) if packed.plain.as_ptr() == body.as_ptr() => return packed.came.clone(),
            Some(_) => drop(headers.remove(CONTENT_ENCODING)),
            None => {}
        }
        body
    }
}

impl Packing {
    pub fn of(headers: &HeaderMap) -> Self {
        let mut said = headers.get_all(CONTENT_ENCODING).iter().map(HeaderValue::as_bytes);
        match (said.next().map(<[u8]>::to_ascii_lowercase).as_deref(), said.next()) {
            (None | Some(b"identity" | b""), None) => Self::None,
            (Some(b"gzip" | b"x-gzip"), None) => Self::Gzip,
            (Some(b"zstd"), None) => Self::Zstd,
            _ => Self::Other,
        }
    }

    /// Unpacks a body into the room of its request. What is too large, or damaged, stays packed.
    pub fn unpack(self, packed: &Bytes, rooms: &Rooms, room: &mut Room) -> Result<Bytes, Cause> {
        let reader: io::Result<Box<dyn Read + '_>> = match self {
            Self::None => return Ok(packed.clone()),
            Self::Gzip => Ok(Box::new(flate2::read::MultiGzDecoder::new(&packed[..]))),
            Self::Zstd => zstd(packed),
            Self::Other => return Err(Cause::Encoded),
        };
        let mut reader = reader.map_err(|_| Cause::Encoded)?;
        let before = room.taken();
        let read = unpacked(&mut *reader, rooms, room);
        if read.is_err() {
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

fn unpacked(reader: &mut dyn Read, rooms: &Rooms, room: &mut Room) -> Result<Bytes, Cause> {
    let mut plain = Vec::new();
    loop {
        let piece = reader.take(PIECE as u64).read_to_end(&mut plain);
        let read = piece.map_err(|_| Cause::Encoded)?;
        if read == 0 {
            return Ok(plain.into());
        }
        if !rooms.take(room, read) || plain.len() > rooms.longest() {
            return Err(Cause::TooLarge);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn gzip(plain: &[u8]) -> Bytes {
        let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        out.write_all(plain).unwrap();
        out.finish().unwrap().into()
    }

    #[test]
    fn what_is_too_large_stays_packed_and_takes_no_room() {
        let plain = vec![b' '; 1_000_000];
        let packed = [
            (Packing::Gzip, gzip(&plain)),
            (Packing::Zstd, zstd::encode_all(&plain[..], 1).unwrap().into()),
        ];
        for (packing, packed) in packed {
            let enough = Rooms::new(1_000_000, 2_000_000);
            let mut room = enough.room();
            assert_eq!(packing.unpack(&packed, &enough, &mut room).unwrap(), plain);
            assert_eq!(enough.used(), 1_000_000);
            drop(room);
            assert_eq!(enough.used(), 0);
            for (one, all) in [(999_999, 2_000_000), (2_000_000, 999_999)] {
                let rooms = Rooms::new(one, all);
                let mut room = rooms.room();
                let why = packing.unpack(&packed, &rooms, &mut room).unwrap_err();
                assert_eq!((why, rooms.used()), (Cause::TooLarge, 0));
                assert!(rooms.peak() <= 1_000_000 + PIECE);
            }
            let half = packed.slice(..packed.len() / 2);
            assert_eq!(packing.unpack(&half, &enough, &mut enough.room()), Err(Cause::Encoded));
            assert_eq!(
                packing.unpack(&"plain".into(), &enough, &mut enough.room()),
                Err(Cause::Encoded)
            );
        }
    }

    #[test]
    fn a_body_that_asks_for_much_memory_to_be_unpacked_is_not() {
        let mut out = zstd::stream::write::Encoder::new(Vec::new(), 1).unwrap();
        out.window_log(WINDOW + 1).unwrap();
        out.write_all(&vec![b' '; 100_000]).unwrap();
        let packed = Bytes::from(out.finish().unwrap());
        let rooms = Rooms::new(1 << 20, 1 << 20);
        assert_eq!(Packing::Zstd.unpack(&packed, &rooms, &mut rooms.room()), Err(Cause::Encoded));
    }

    #[test]
    fn how_a_body_is_packed_is_read() {
        let of = |values: &[&'static str]| {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append(CONTENT_ENCODING, HeaderValue::from_static(value));
            }
            Packing::of(&headers)
        };
        assert_eq!((of(&[]), of(&["identity"])), (Packing::None, Packing::None));
        assert_eq!((of(&["GZIP"]), of(&["zstd"])), (Packing::Gzip, Packing::Zstd));
        for other in [&["br"][..], &["gzip, gzip"], &["gzip", "zstd"], &["deflate"]] {
            assert_eq!(of(other), Packing::Other, "{other:?}");
        }
    }
}
