//! Packed files, and what they may unpack to.

use std::io::{Cursor, ErrorKind, Write};

use midfold_cli::inside::input::{not_unpacked, unpacked};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

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

/// A `.eval` log of one sample, packed, with a file of this name beside it.
fn eval_log(head: &str) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    let sample = br#"{"id": 7, "epoch": 1, "messages": [{"role": "user", "content": "Sow it."}]}"#;
    let about = br#"{"version": 2, "eval": {"task": "sow", "model": "m-1"}}"#;
    for (name, text) in [(head, &about[..]), ("samples/7_epoch_1.json", &sample[..])] {
        zip.start_file(name, SimpleFileOptions::default()).unwrap();
        zip.write_all(text).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

#[test]
fn a_log_of_inspect_is_bounded_and_cut_anywhere_without_a_panic() {
    let log = eval_log("header.json");
    assert!(unpacked(log.clone(), 100_000).unwrap().starts_with(b"{"));
    assert_eq!(unpacked(log.clone(), 50).unwrap_err().kind(), ErrorKind::FileTooLarge);
    for cut in 5..log.len() {
        assert!(unpacked(log[..cut].to_vec(), 100_000).is_err(), "cut at {cut}");
    }
    let other = eval_log("other.json");
    assert_eq!(unpacked(other.clone(), 100_000).unwrap(), other, "no head: no log");
}
