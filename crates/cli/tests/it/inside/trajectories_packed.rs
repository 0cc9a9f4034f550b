//! Many frames, and the one that they become.

use std::io::Read;

use midfold_cli::inside::packed::{assemble, open, pack};
use zstd::stream::read;

#[test]
fn many_frames_become_one_whoever_works_on_it() {
    let folder = std::env::temp_dir().join(format!("midfold-packed-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let [part, one, two] = ["part", "one", "two"].map(|name| folder.join(name));
    let text: Vec<u8> = (0..400_000_u32)
        .flat_map(|n| format!("{}\n", n.wrapping_mul(n) % 7_919).into_bytes())
        .collect();
    let frames: Vec<Vec<u8>> = text.chunks(70_000).map(|lines| pack(lines).unwrap()).collect();
    std::fs::write(&part, frames.concat()).unwrap();
    assemble(&part, &one, 1).unwrap();
    assemble(&part, &two, 3).unwrap();
    let one = std::fs::read(&one).unwrap();
    assert!(one == std::fs::read(&two).unwrap());
    // A reader that knows of one frame only sees all of it.
    let mut seen = Vec::new();
    read::Decoder::new(&one[..]).unwrap().single_frame().read_to_end(&mut seen).unwrap();
    assert!(seen == text);
    // Reading goes on anywhere.
    let (mut lines, _) = open(&part, 1_000_003).unwrap();
    seen.clear();
    lines.read_to_end(&mut seen).unwrap();
    assert!(seen == text[1_000_003..]);
    // Nothing is a file, too.
    std::fs::write(&part, "").unwrap();
    assemble(&part, &two, 2).unwrap();
    assert!(zstd::decode_all(&std::fs::read(&two).unwrap()[..]).unwrap().is_empty());
    std::fs::remove_dir_all(folder).unwrap();
}
