//! Which messages a proxy knows, and until when.

use bytes::Bytes;
use midfold::core::Hash;
use midfold_proxy::inside::MessageIdentities;

#[test]
fn a_message_is_known_as_long_as_somebody_has_it() {
    let mut known = MessageIdentities::default();
    let message = Bytes::from_static(b"{\"role\":\"user\"}");
    let keys: Vec<_> = [1, 2].iter().filter_map(|_| known.note(&message, Hash::ROOT)).collect();
    assert_eq!(known.get(&message), Some(Hash::ROOT));
    assert_eq!(known.get(b"{\"role\":\"tool\"}"), None);
    known.forget([keys[0]]);
    assert_eq!(known.get(&message), Some(Hash::ROOT));
    known.forget([keys[1]]);
    assert_eq!(known.get(&message), None);
    assert!(known.known.is_empty());
}

#[test]
fn a_message_is_known_by_its_start_and_ends_where_it_ends() {
    let mut known = MessageIdentities::default();
    let of = |end: &str| Bytes::from(format!("{{\"content\":\"{}{end}\"}}", "a".repeat(100)));
    let (message, other) = (of("b"), of("c"));
    let key = known.note(&message, Hash::ROOT).unwrap();
    let text = |message: &Bytes| [&message[..], b",{}]}"].concat();
    assert_eq!(known.length(&text(&message)), Some(message.len()));
    assert_eq!(known.length(&text(&other)), None);
    assert_eq!(known.length(&message[..50]), None);
    // A number goes on where its text does.
    let number = Bytes::from("1".repeat(200));
    known.note(&number, Hash::ROOT).unwrap();
    assert_eq!(known.length(&[&number[..], b"1"].concat()), None);
    known.forget([key]);
    assert_eq!(known.length(&text(&message)), None);
    assert!(known.starts.is_empty());
}
