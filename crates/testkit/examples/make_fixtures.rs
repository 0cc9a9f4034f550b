//! Writes `examples/` and `fixtures/` anew: `cargo run -p midfold-testkit --example make_fixtures`.

use std::path::Path;

fn main() -> std::io::Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for fixture in midfold_testkit::fixtures() {
        let path = root.join(fixture.path);
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        std::fs::write(path, fixture.content)?;
    }
    Ok(())
}
