//! Packed bodies: what is unpacked, and what it may cost.

use std::io::Write;

use bytes::Bytes;
use hyper::header::{CONTENT_ENCODING, HeaderMap, HeaderValue};
use midfold_serve::inside::{
    BodyEnd, BodyMemory, BodyPacking, PIECE, PassCause, UnreadReason, WINDOW,
};

/// As long as it may be.
const ANY: usize = usize::MAX;
/// It passes, because it is packed in another way than it says.
const ENCODED: UnreadReason = UnreadReason::Open(PassCause::Encoded);

fn gzip(plain: &[u8]) -> Bytes {
    let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    out.write_all(plain).unwrap();
    out.finish().unwrap().into()
}

#[test]
fn what_is_too_large_stays_packed_and_takes_no_room() {
    let plain = vec![b' '; 1_000_000];
    let packed = [
        (BodyPacking::Gzip, gzip(&plain)),
        (BodyPacking::Zstd, zstd::encode_all(&plain[..], 1).unwrap().into()),
    ];
    for (packing, packed) in packed {
        let enough = BodyMemory::new(1_000_000, 2_000_000);
        let mut room = enough.room();
        assert_eq!(packing.unpack(&packed, &enough, &mut room, ANY).unwrap(), plain);
        assert_eq!(enough.used(), 1_000_000);
        drop(room);
        assert_eq!(enough.used(), 0);
        for (one, all) in [(999_999, 2_000_000), (2_000_000, 999_999)] {
            let rooms = BodyMemory::new(one, all);
            let mut room = rooms.room();
            let why = packing.unpack(&packed, &rooms, &mut room, ANY).unwrap_err();
            assert_eq!((why, rooms.used()), (UnreadReason::Open(PassCause::TooLarge), 0));
            assert!(rooms.peak() <= 1_000_000 + PIECE);
        }
        // Two members, or frames, are one body.
        let twice = Bytes::from([&packed[..], &packed[..]].concat());
        let why = packing.unpack(&twice, &enough, &mut enough.room(), 1_999_999).unwrap_err();
        assert_eq!((why, enough.used()), (UnreadReason::Open(PassCause::TooLarge), 0));
        let why = packing.unpack(&packed, &enough, &mut enough.room(), 999_999).unwrap_err();
        assert_eq!((why, enough.used()), (UnreadReason::Ended(BodyEnd::Long(999_999)), 0));
        let half = packed.slice(..packed.len() / 2);
        assert_eq!(packing.unpack(&half, &enough, &mut enough.room(), ANY), Err(ENCODED));
        assert_eq!(packing.unpack(&"plain".into(), &enough, &mut enough.room(), ANY), Err(ENCODED));
    }
}

#[test]
fn a_body_that_asks_for_much_memory_to_be_unpacked_is_not() {
    let mut out = zstd::stream::write::Encoder::new(Vec::new(), 1).unwrap();
    out.window_log(WINDOW + 1).unwrap();
    out.write_all(&vec![b' '; 100_000]).unwrap();
    let packed = Bytes::from(out.finish().unwrap());
    let rooms = BodyMemory::new(1 << 20, 1 << 20);
    assert_eq!(BodyPacking::Zstd.unpack(&packed, &rooms, &mut rooms.room(), ANY), Err(ENCODED));
}

#[test]
fn how_a_body_is_packed_is_read() {
    let of = |values: &[&'static str]| {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(CONTENT_ENCODING, HeaderValue::from_static(value));
        }
        BodyPacking::of(&headers)
    };
    assert_eq!((of(&[]), of(&["identity"])), (BodyPacking::None, BodyPacking::None));
    assert_eq!((of(&["GZIP"]), of(&["zstd"])), (BodyPacking::Gzip, BodyPacking::Zstd));
    for other in [&["br"][..], &["gzip, gzip"], &["gzip", "zstd"], &["deflate"]] {
        assert_eq!(of(other), BodyPacking::Other, "{other:?}");
    }
}
