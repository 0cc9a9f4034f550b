//! What pictures, sounds and files cost.

use midfold_core::ByteRange;
use midfold_core::view::{MediaExtent, MediaKind, MediaRef, PictureDetail};
use midfold_tokens::{ProviderFamily, in_tiles};

fn media(kind: MediaKind, pixels: Option<(u32, u32)>, size: u32) -> MediaRef {
    let extent =
        pixels.map_or(MediaExtent::Unknown, |(width, height)| MediaExtent::Pixels(width, height));
    extending(kind, extent, size)
}

fn extending(kind: MediaKind, extent: MediaExtent, size: u32) -> MediaRef {
    MediaRef { kind, outer: ByteRange::default(), extent, size, detail: PictureDetail::default() }
}

#[test]
fn images_by_family() {
    let rows = [
        (ProviderFamily::OpenAi, (1024, 1024), 1_229),
        (ProviderFamily::OpenAi, (1920, 1080), 2_448),
        (ProviderFamily::Claude, (1024, 1024), 1_369),
        (ProviderFamily::Claude, (4000, 3000), 3_930),
        (ProviderFamily::ClaudeOld, (1920, 1080), 1_590),
        (ProviderFamily::OpenAi, (8000, 6000), 12_000),
        (ProviderFamily::Gemini, (1024, 1024), 1_090),
        (ProviderFamily::OpenAi, (0, 7), 1_600),
    ];
    for (family, pixels, tokens) in rows {
        let got = family.media(&media(MediaKind::Image, Some(pixels), 5_000_000));
        assert_eq!(got, tokens, "{family:?} {pixels:?}");
    }
    assert_eq!(ProviderFamily::Claude.media(&media(MediaKind::Image, None, 9_000_000)), 1_600);
    let huge = media(MediaKind::Image, Some((u32::MAX, u32::MAX)), 0);
    assert_eq!(ProviderFamily::OpenAi.media(&huge), 12_000);
}

#[test]
fn sounds_and_files_by_size() {
    let minute = media(MediaKind::Audio, None, 960_000);
    assert_eq!(ProviderFamily::OpenAi.media(&minute), 600);
    assert_eq!(ProviderFamily::Gemini.media(&minute), 1_920);
    assert_eq!(ProviderFamily::Gemini.media(&media(MediaKind::Video, None, 12_500_000)), 10_200);
    assert_eq!(ProviderFamily::Claude.media(&media(MediaKind::File, None, 16_385)), 4_500);
    assert_eq!(ProviderFamily::Claude.media(&media(MediaKind::File, None, u32::MAX)), 225_000);
    assert_eq!(ProviderFamily::Claude.media(&media(MediaKind::File, None, 0)), 1_600);
}

#[test]
fn sounds_and_files_by_what_their_bytes_tell() {
    let of = |family: ProviderFamily, kind, extent| family.media(&extending(kind, extent, 74_000));
    let (sound, video, file) = (MediaKind::Audio, MediaKind::Video, MediaKind::File);
    assert_eq!(of(ProviderFamily::Gemini, sound, MediaExtent::Seconds(600)), 19_200);
    assert_eq!(of(ProviderFamily::OpenAi, sound, MediaExtent::Seconds(600)), 6_000);
    assert_eq!(of(ProviderFamily::GeminiOld, video, MediaExtent::Seconds(60)), 18_000);
    assert_eq!(of(ProviderFamily::Gemini, video, MediaExtent::Seconds(60)), 6_120);
    assert_eq!(of(ProviderFamily::Claude, file, MediaExtent::Pages(60)), 135_000);
    assert_eq!(of(ProviderFamily::Gemini, file, MediaExtent::Pages(60)), 33_600);
    assert_eq!(of(ProviderFamily::GeminiOld, file, MediaExtent::Pages(60)), 15_480);
    assert_eq!(of(ProviderFamily::OpenAi, file, MediaExtent::Text(60_001)), 15_001);
    assert_eq!(of(ProviderFamily::OpenAi, file, MediaExtent::Read), 0);
}

fn image(pixels: (u32, u32), detail: PictureDetail) -> MediaRef {
    MediaRef { detail, ..media(MediaKind::Image, Some(pixels), 9) }
}

/// The worked examples of the providers' pages.
#[test]
fn documented_examples() {
    let tiles = |size, detail| in_tiles(&image(size, detail));
    assert_eq!(tiles((1024, 1024), PictureDetail::High), 765);
    assert_eq!(tiles((2048, 4096), PictureDetail::Auto), 1_105);
    assert_eq!(tiles((4096, 8192), PictureDetail::Low), 85);
    assert_eq!(tiles((512, 512), PictureDetail::High), 255);
    assert_eq!(ProviderFamily::OpenAi.media(&image((4096, 8192), PictureDetail::Low)), 85);
    let claude = |size| ProviderFamily::ClaudeOld.media(&image(size, PictureDetail::Auto));
    assert_eq!(
        [claude((200, 200)), claude((1000, 1000)), claude((1092, 1092))],
        [54, 1_334, 1_590]
    );
    let gemini = |size| ProviderFamily::GeminiOld.media(&image(size, PictureDetail::Auto));
    assert_eq!([gemini((384, 384)), gemini((960, 540))], [258, 6 * 258]);
}

/// No header makes an image cost more than its provider can bill.
#[test]
fn no_size_costs_more_than_the_cap() {
    let most = [
        (ProviderFamily::OpenAi, 12_000),
        (ProviderFamily::Claude, 3_930),
        (ProviderFamily::ClaudeOld, 1_590),
        (ProviderFamily::Gemini, 1_090),
        (ProviderFamily::GeminiOld, 16 * 258),
    ];
    for size in [(u32::MAX, u32::MAX), (65_535, 65_535), (1, u32::MAX), (u32::MAX, 3)] {
        for (family, most) in most {
            let got = family.media(&image(size, PictureDetail::High));
            assert!((1..=most).contains(&got), "{family:?} {size:?}: {got}");
        }
        assert!(in_tiles(&image(size, PictureDetail::High)) <= 85 + 170 * 8, "{size:?}");
    }
}
