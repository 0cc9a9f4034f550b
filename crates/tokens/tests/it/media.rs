//! What pictures, sounds and files cost.

use midfold_core::ByteRange;
use midfold_core::view::{Detail, Extent, Media, MediaKind};
use midfold_tokens::{Family, in_tiles};

fn media(kind: MediaKind, pixels: Option<(u32, u32)>, size: u32) -> Media {
    let extent = pixels.map_or(Extent::Unknown, |(width, height)| Extent::Pixels(width, height));
    extending(kind, extent, size)
}

fn extending(kind: MediaKind, extent: Extent, size: u32) -> Media {
    Media { kind, outer: ByteRange::default(), extent, size, detail: Detail::default() }
}

#[test]
fn images_by_family() {
    let rows = [
        (Family::OpenAi, (1024, 1024), 1_229),
        (Family::OpenAi, (1920, 1080), 2_448),
        (Family::Claude, (1024, 1024), 1_369),
        (Family::Claude, (4000, 3000), 3_930),
        (Family::ClaudeOld, (1920, 1080), 1_590),
        (Family::OpenAi, (8000, 6000), 12_000),
        (Family::Gemini, (1024, 1024), 1_090),
        (Family::OpenAi, (0, 7), 1_600),
    ];
    for (family, pixels, tokens) in rows {
        let got = family.media(&media(MediaKind::Image, Some(pixels), 5_000_000));
        assert_eq!(got, tokens, "{family:?} {pixels:?}");
    }
    assert_eq!(Family::Claude.media(&media(MediaKind::Image, None, 9_000_000)), 1_600);
    let huge = media(MediaKind::Image, Some((u32::MAX, u32::MAX)), 0);
    assert_eq!(Family::OpenAi.media(&huge), 12_000);
}

#[test]
fn sounds_and_files_by_size() {
    let minute = media(MediaKind::Audio, None, 960_000);
    assert_eq!(Family::OpenAi.media(&minute), 600);
    assert_eq!(Family::Gemini.media(&minute), 1_920);
    assert_eq!(Family::Gemini.media(&media(MediaKind::Video, None, 12_500_000)), 10_200);
    assert_eq!(Family::Claude.media(&media(MediaKind::File, None, 16_385)), 4_500);
    assert_eq!(Family::Claude.media(&media(MediaKind::File, None, u32::MAX)), 225_000);
    assert_eq!(Family::Claude.media(&media(MediaKind::File, None, 0)), 1_600);
}

#[test]
fn sounds_and_files_by_what_their_bytes_tell() {
    let of = |family: Family, kind, extent| family.media(&extending(kind, extent, 74_000));
    let (sound, video, file) = (MediaKind::Audio, MediaKind::Video, MediaKind::File);
    assert_eq!(of(Family::Gemini, sound, Extent::Seconds(600)), 19_200);
    assert_eq!(of(Family::OpenAi, sound, Extent::Seconds(600)), 6_000);
    assert_eq!(of(Family::GeminiOld, video, Extent::Seconds(60)), 18_000);
    assert_eq!(of(Family::Gemini, video, Extent::Seconds(60)), 6_120);
    assert_eq!(of(Family::Claude, file, Extent::Pages(60)), 135_000);
    assert_eq!(of(Family::Gemini, file, Extent::Pages(60)), 33_600);
    assert_eq!(of(Family::GeminiOld, file, Extent::Pages(60)), 15_480);
    assert_eq!(of(Family::OpenAi, file, Extent::Text(60_001)), 15_001);
    assert_eq!(of(Family::OpenAi, file, Extent::Read), 0);
}

fn image(pixels: (u32, u32), detail: Detail) -> Media {
    Media { detail, ..media(MediaKind::Image, Some(pixels), 9) }
}

/// The worked examples of the providers' pages.
#[test]
fn documented_examples() {
    let tiles = |size, detail| in_tiles(&image(size, detail));
    assert_eq!(tiles((1024, 1024), Detail::High), 765);
    assert_eq!(tiles((2048, 4096), Detail::Auto), 1_105);
    assert_eq!(tiles((4096, 8192), Detail::Low), 85);
    assert_eq!(tiles((512, 512), Detail::High), 255);
    assert_eq!(Family::OpenAi.media(&image((4096, 8192), Detail::Low)), 85);
    let claude = |size| Family::ClaudeOld.media(&image(size, Detail::Auto));
    assert_eq!(
        [claude((200, 200)), claude((1000, 1000)), claude((1092, 1092))],
        [54, 1_334, 1_590]
    );
    let gemini = |size| Family::GeminiOld.media(&image(size, Detail::Auto));
    assert_eq!([gemini((384, 384)), gemini((960, 540))], [258, 6 * 258]);
}

/// No header makes an image cost more than its provider can bill.
#[test]
fn no_size_costs_more_than_the_cap() {
    let most = [
        (Family::OpenAi, 12_000),
        (Family::Claude, 3_930),
        (Family::ClaudeOld, 1_590),
        (Family::Gemini, 1_090),
        (Family::GeminiOld, 16 * 258),
    ];
    for size in [(u32::MAX, u32::MAX), (65_535, 65_535), (1, u32::MAX), (u32::MAX, 3)] {
        for (family, most) in most {
            let got = family.media(&image(size, Detail::High));
            assert!((1..=most).contains(&got), "{family:?} {size:?}: {got}");
        }
        assert!(in_tiles(&image(size, Detail::High)) <= 85 + 170 * 8, "{size:?}");
    }
}
