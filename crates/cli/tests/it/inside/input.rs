//! Packed files, and what they may unpack to.

use std::io::{ErrorKind, Write};

use midfold_cli::inside::input::{not_unpacked, unpacked};

#[test]
fn what_unpacks_to_too_much_is_refused() {
    let plain = vec![b' '; 100_000];
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(&plain).unwrap();
    for packed in [gzip.finish().unwrap(), zstd::encode_all(&plain[..], 1).unwrap()] {
        assert!(packed.len() < 1_000);
        assert_eq!(unpacked(packed.clone(), 100_000).unwrap(), plain, "as much as may be");
        let error = unpacked(packed.clone(), 99_999).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::FileTooLarge);
        let failure = not_unpacked("a.gz", &error);
        assert_eq!(failure.message, "a.gz cannot be unpacked: it holds more than 2 GiB");
        assert!(failure.hints[0].contains("name the plain file"));
        let cut = unpacked(packed[..packed.len() / 2].to_vec(), 100_000).unwrap_err();
        assert_ne!(cut.kind(), ErrorKind::FileTooLarge, "damage is told as such");
    }
    // Members and frames that follow each other count together.
    let twice =
        [zstd::encode_all(&plain[..], 1).unwrap(), zstd::encode_all(&plain[..], 1).unwrap()];
    assert!(unpacked(twice.concat(), 150_000).is_err());
    assert_eq!(unpacked(twice.concat(), 200_000).unwrap().len(), 200_000);
    assert_eq!(unpacked(plain.clone(), 1).unwrap(), plain, "a plain file has no limit");
}

/// A file for an archive: its name, its content, and how it is packed.
type Packed<'a> = (&'a str, &'a [u8], u16);

/// A zip archive, as Inspect writes its logs.
fn archive(files: &[Packed<'_>]) -> Vec<u8> {
    let (mut out, mut directory) = (Vec::new(), Vec::new());
    for (name, content, method) in files {
        let packed = match method {
            8 => {
                let level = flate2::Compression::fast();
                let mut deflate = flate2::write::DeflateEncoder::new(Vec::new(), level);
                deflate.write_all(content).unwrap();
                deflate.finish().unwrap()
            }
            93 => zstd::encode_all(*content, 1).unwrap(),
            _ => content.to_vec(),
        };
        let sizes = [0, packed.len() as u32, content.len() as u32].map(u32::to_le_bytes).concat();
        let at = (out.len() as u32).to_le_bytes();
        let common = [&method.to_le_bytes()[..], &[0; 4], &sizes, &[name.len() as u8, 0]].concat();
        out.extend([b"PK\x03\x04\x14\0\0\0", &common[..], &[0; 2], name.as_bytes()].concat());
        out.extend(&packed);
        let entry = [b"PK\x01\x02\x14\0\x14\0\0\0", &common[..], &[0; 12], &at].concat();
        directory.extend([&entry[..], name.as_bytes()].concat());
    }
    let (count, at) = ([files.len() as u8, 0], (out.len() as u32).to_le_bytes());
    let size = (directory.len() as u32).to_le_bytes();
    out.extend(directory);
    out.extend([b"PK\x05\x06\0\0\0\0", &count[..], &count, &size, &at, &[0; 2]].concat());
    out
}

const HEADER: &[u8] = br#"{"version":2,"status":"success","eval":{"task":"sow","model":"m-1"}}"#;
const SAMPLE: &[u8] = br#"{
  "id": 7, "epoch": 1, "input": "x", "target": "",
  "messages": [{"role": "user", "content": "Sow it."}]
}"#;

#[test]
fn a_log_of_inspect_is_read_as_it_is_written() {
    use midfold::formats::read::{TranscriptFormat, read};
    let samples = [("samples/7_epoch_1.json", SAMPLE, 8), ("samples/8_epoch_1.json", SAMPLE, 93)];
    let start: &[u8] = br#"{"version":2,"eval":{"task":"sow","model":"m-1"}}"#;
    for head in
        [("header.json", HEADER, 8), ("_journal/start.json", start, 0), ("other.json", start, 0)]
    {
        let packed = archive(&[&[head][..], &samples, &[("summaries.json", b"[]", 8)]].concat());
        let plain = unpacked(packed.clone(), 100_000).unwrap();
        if head.0 == "other.json" {
            assert_eq!(plain, packed, "an archive without the head of a log is no log");
            continue;
        }
        let found = read(&plain.into(), None).unwrap();
        assert_eq!((found.conversations.len(), found.problems.len()), (2, 0));
        let first = &found.conversations[0];
        assert_eq!(first.format, TranscriptFormat::Inspect);
        assert_eq!(
            (first.id.as_deref(), first.envelope.model.as_deref()),
            (Some("7"), Some("m-1"))
        );
        assert_eq!(&first.events[0].bytes[..], br#"{"role":"user","content":"Sow it."}"#);
        let error = unpacked(packed.clone(), 200).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::FileTooLarge);
        for cut in 5..packed.len() {
            // Cut anywhere, it is refused or handed on, and nothing panics.
            let _ = unpacked(packed[..cut].to_vec(), 100_000);
        }
        assert!(unpacked(packed[..packed.len() - 30].to_vec(), 100_000).is_err());
    }
}
