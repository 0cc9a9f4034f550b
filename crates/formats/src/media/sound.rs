//! The length of a sound or a video in seconds, read from its header.

use memchr::memmem;

use super::base64::decode;

/// The bytes that are decoded: enough for the headers of sounds. A video that was made for streaming has the box with
/// its length before its pictures, and so within these bytes.
const HEADER: usize = 64 * 1024;
/// The longest length in seconds, one day. A header that says more is broken.
const LONGEST: u64 = 24 * 60 * 60;

/// The seconds of the sound or video in this base64 text, whose decoded length is `size` bytes: WAV, MP3 of constant
/// rate, MP4 and its relatives. `None` for any other format.
pub(super) fn seconds(base64: &[u8], size: u32) -> Option<u32> {
    let head = decode(base64, HEADER);
    let duration = wav(&head).or_else(|| mp4(&head)).or_else(|| mp3(&head, size))?;
    u32::try_from(duration).ok().filter(|_| (1..=LONGEST).contains(&duration))
}

fn le32(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?)))
}

fn be32(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?)))
}

/// The length of a WAV. The chunk `fmt ` has the bytes per second, the chunk `data` starts with its length in bytes.
fn wav(bytes: &[u8]) -> Option<u64> {
    if !bytes.starts_with(b"RIFF") || bytes.get(8..12)? != b"WAVE" {
        return None;
    }
    let chunk = |name: &[u8]| memmem::find(bytes, name).map(|at| at + name.len());
    let rate = le32(bytes, chunk(b"fmt ")? + 12).filter(|rate| *rate > 0)?;
    Some(le32(bytes, chunk(b"data")?)?.div_ceil(rate))
}

/// The length of an MP4. The box `mvhd` has the units per second and the number of units.
fn mp4(bytes: &[u8]) -> Option<u64> {
    let at = memmem::find(bytes, b"mvhd")? + 4;
    let (scale, units) = match bytes.get(at)? {
        0 => (be32(bytes, at + 12)?, be32(bytes, at + 16)?),
        _ => (be32(bytes, at + 20)?, be32(bytes, at + 24)? << 32 | be32(bytes, at + 28)?),
    };
    (scale > 0).then(|| units.div_ceil(scale))
}

/// The bit rates of layer 3 in thousands of bits per second: those of MPEG 1, then those of MPEG 2 and 2.5.
const RATES: [[u64; 15]; 2] = [
    [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
    [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
];

/// The length of an MP3. Its first frame comes after the tags, and its bit rate is taken for all frames.
fn mp3(bytes: &[u8], size: u32) -> Option<u64> {
    let start = if bytes.starts_with(b"ID3") {
        let part = |at| bytes.get(at).map(|byte| usize::from(*byte & 0x7F));
        10 + (part(6)? << 21 | part(7)? << 14 | part(8)? << 7 | part(9)?)
    } else {
        0
    };
    let frame = bytes.get(start..start + 3)?;
    // The first eleven bits mark a frame, and two more name the layer.
    let is_layer_3 = frame[0] == 0xFF && frame[1] & 0xE6 == 0xE2;
    // Both version bits together name MPEG 1.
    let of_version = RATES.get(usize::from(frame[1] & 0x18 != 0x18))?;
    let rate = *of_version.get(usize::from(frame[2] >> 4))?;
    (is_layer_3 && rate > 0).then(|| {
        let sound = u64::from(size).saturating_sub(start as u64);
        (sound * 8).div_ceil(rate * 1_000)
    })
}

#[cfg(test)]
mod tests {
    use super::super::base64::encode;
    use super::*;

    #[test]
    fn headers_tell_how_long_a_sound_is() {
        let mut wav =
            b"RIFF\0\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0\x80\x3e\0\0\0\x7d\0\0\x02\0\x10\0data"
                .to_vec();
        wav.extend((32_000u32 * 90 + 1).to_le_bytes());
        assert_eq!(seconds(&encode(&wav), 60), Some(91));
        let mut mp4 = b"....moov....mvhd\0\0\0\0........".to_vec();
        mp4.extend(1_000u32.to_be_bytes());
        mp4.extend(61_500u32.to_be_bytes());
        assert_eq!(seconds(&encode(&mp4), 9_000), Some(62));
        let frame = [0xFF, 0xFB, 0x90, 0, 0, 0];
        assert_eq!(seconds(&encode(&frame), 160_000), Some(10), "128 kbit/s");
        let tagged = [&b"ID3\x03\0\0\0\0\0\x03abc"[..], &frame].concat();
        assert_eq!(seconds(&encode(&tagged), 160_013), Some(10));
        for none in [&b"OggS"[..], b"", b"RIFF\0\0\0\0WAVEfmt ", &[0xFF, 0xFB, 0xF0]] {
            assert_eq!(seconds(&encode(none), 900), None);
        }
    }
}
