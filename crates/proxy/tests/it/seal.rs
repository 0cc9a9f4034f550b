//! What clients carry for us: who can open it.

use std::sync::Arc;

use midfold_proxy::{OpenedBlob, Seal, SealKey};

fn seal(keys: &[u8]) -> Seal {
    let keys = keys.iter().map(|byte| SealKey::new([*byte; 32])).collect();
    Seal::new(
        keys,
        Arc::new(|bytes: &mut [u8]| {
            bytes.fill(9);
            true
        }),
    )
}

#[test]
fn what_is_sealed_opens_with_its_key_for_its_owner_and_in_no_other_way() {
    let sealed = seal(&[1]).seal("joe", b"secret").unwrap();
    assert!(Seal::is_ours(&sealed) && !sealed.contains("secret"));
    let ours = OpenedBlob::Ours(b"secret".to_vec());
    assert_eq!(seal(&[1]).open("joe", &sealed), ours);
    // A new key in front of the old one.
    assert_eq!(seal(&[2, 1]).open("joe", &sealed), ours);
    assert_ne!(seal(&[2, 1]).seal("joe", b"secret").unwrap(), sealed);
    assert_eq!(seal(&[2]).open("joe", &sealed), OpenedBlob::Broken);
    assert_eq!(seal(&[1]).open("jim", &sealed), OpenedBlob::Broken);
    assert_eq!(seal(&[1]).open("joe", "gAAAA"), OpenedBlob::Foreign);
}

#[test]
fn every_byte_counts() {
    let sealed = seal(&[1]).seal("", b"secret").unwrap();
    // Behind what says that it is sealed: other texts are somebody else's, and not broken.
    let start = (0..sealed.len()).find(|at| Seal::is_ours(&sealed[..*at])).unwrap();
    for at in start..sealed.len() {
        let mut changed = sealed.clone().into_bytes();
        changed[at] = if changed[at] == b'A' { b'B' } else { b'A' };
        let changed = String::from_utf8(changed).unwrap();
        assert_eq!(seal(&[1]).open("", &changed), OpenedBlob::Broken, "{at}");
        assert_eq!(seal(&[1]).open("", &sealed[..at]), OpenedBlob::Broken, "{at}");
    }
}

#[test]
fn without_randomness_nothing_is_sealed() {
    let seal = Seal::new(vec![SealKey::new([1; 32])], Arc::new(|_: &mut [u8]| false));
    assert_eq!(seal.seal("", b"secret"), None);
}

#[test]
fn a_key_may_be_written_in_both_alphabets_with_and_without_padding() {
    let key = SealKey::new([0xfb; 32]);
    let standard = key.text();
    let url_safe = standard.replace('+', "-").replace('/', "_");
    assert_ne!(standard, url_safe);
    for text in [&standard, &url_safe] {
        for text in [text.as_str(), text.trim_end_matches('=')] {
            assert_eq!(SealKey::list(text).as_deref(), Ok(&[key.clone()][..]), "{text}");
        }
    }
}
