//! The page of a replay, and what must not break out of it.

use midfold_cli::inside::html::{SLOT, TEMPLATE, write};

const HOSTILE: [&str; 8] = [
    "</script><img src=x onerror=alert(1)>",
    "</SCRIPT\t>",
    "<!-- <script>",
    "--><script>alert(1)</script>",
    "@@REPLAY@@",
    "\\u003c/script> \\\\<",
    "\u{2028}\u{2029}\u{0}\"'`${1}",
    "<",
];

fn page(json: &str) -> String {
    let mut out = Vec::new();
    write(json, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// What a browser takes for the text of the data element: up to the first end of a script.
fn data(page: &str) -> &str {
    let start = r#"<script type="application/json" id="replay">"#;
    let (_, rest) = page.split_once(start).unwrap();
    let end = rest.to_ascii_lowercase().find("</script").unwrap();
    &rest[..end]
}

#[test]
fn template_has_the_slot_once_and_inside_the_data_element() {
    assert_eq!(TEMPLATE.matches(SLOT).count(), 1);
    assert_eq!(data(TEMPLATE), SLOT);
}

#[test]
fn hostile_strings_come_back_whole_and_leave_the_page_around_them_alone() {
    let (before, after) = TEMPLATE.split_once(SLOT).unwrap();
    for text in HOSTILE {
        let value = serde_json::json!({ "version": 1, text: [text, { "id": text }] });
        let page = page(&value.to_string());
        assert!(page.starts_with(before) && page.ends_with(after), "{text}");
        let written = data(&page);
        assert!(!written.contains('<'), "{text}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(written).unwrap(), value, "{text}");
    }
}

#[test]
fn json_without_a_less_than_sign_goes_in_byte_for_byte() {
    let json = r#"{"version":1,"midfold":"0.1.0 > 0","runs":[]}"#;
    assert_eq!(data(&page(json)), json);
}

#[test]
fn page_can_load_nothing() {
    let policy = "default-src 'none'; base-uri 'none'; form-action 'none'; img-src data:;";
    assert!(TEMPLATE.contains(policy));
    let script = TEMPLATE.split("script-src '").nth(1).unwrap();
    assert!(script.starts_with("sha256-"), "only the script of the build may run");
    for address in ["src=\"", "@import", "url(http", "href=\"http"] {
        assert!(!TEMPLATE.contains(address), "{address}");
    }
}
