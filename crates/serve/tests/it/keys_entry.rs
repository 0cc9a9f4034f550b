//! Files of keys: what is wrong with one, and changes to it as text.

use midfold_serve::{KeyEntry, KeyHash, KeyScope, KeysError};

fn entry(name: &str) -> KeyEntry {
    KeyEntry {
        name: name.into(),
        hash: KeyHash::of(name),
        scopes: vec![KeyScope::Proxy],
        requests_per_minute: None,
        longest_body: None,
        longest_history: None,
        recall: None,
        agent_tools: None,
    }
}

#[test]
fn what_people_wrote_in_a_file_stays() {
    let first = format!("# ours\n\n{}# of the first\n", entry("a"));
    let two = entry("b").added_to(&first).unwrap();
    assert!(two.starts_with(&first), "{two}");
    assert_eq!(KeyEntry::all(&two).unwrap(), [entry("a"), entry("b")]);
    let left = KeyEntry::removed_from(&two, "a").unwrap();
    assert_eq!(left, format!("# ours\n\n{}", entry("b")));
    assert_eq!(KeyEntry::removed_from(&left, "b").unwrap(), "# ours\n\n");
    assert_eq!(KeyEntry::removed_from(&left, "a"), Err(KeysError::Unknown("a".into())));
    let inline = format!("key = [{{ name = \"a\", hash = \"{}\" }}]\n", KeyHash::of("a"));
    assert_eq!(KeyEntry::removed_from(&inline, "a"), Err(KeysError::Written));
}

#[test]
fn files_with_a_slip_say_where_it_is() {
    let said = |text: &str| KeyEntry::all(text).unwrap_err().to_string();
    let a = entry("a").to_string();
    assert!(said(&format!("{a}{a}")).starts_with("key `a`: there are two"));
    assert!(said(&format!("{a}{}", a.replace("\"a\"", "\"b\""))).contains("key `b`: its hash"));
    assert!(said(&a.replace("\"a\"", "\"a b\"")).contains("a name is made of"));
    assert!(said(&format!("{a}requests_per_minute = 0\n")).contains("1 or more"));
    assert!(said(&a.replace("blake3:", "sha1:")).contains("64 hexadecimal digits"));
    assert!(said(&format!("{a}scope = \"admin\"\n")).contains("unknown field `scope`"));
    assert!(said("[[kye]]\n").contains("unknown field `kye`"));
}
