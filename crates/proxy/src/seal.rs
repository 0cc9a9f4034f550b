//! Seals the data that clients carry for midfold. Only a holder of the key can have made it, and it opens only for the
//! same sender. It has everything in it, so that it opens after a restart and on every node that has the key.

use std::sync::Arc;

use base64::Engine as _;
use base64::alphabet;
use base64::engine::DecodePaddingMode;
use base64::engine::general_purpose::{
    GeneralPurpose, GeneralPurposeConfig, STANDARD, URL_SAFE_NO_PAD,
};
use midfold_core::Hash;
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};

/// The prefix by which a sealed text of midfold is known, with its version.
const PREFIX: &str = "mfc1.";
/// The length of a key's id, in bytes.
const ID: usize = 8;
/// The length of a key, in bytes.
const KEY: usize = 32;

/// How keys are read: programs write base64 with both alphabets, and with or without padding.
const ANY_PADDING: GeneralPurposeConfig =
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
const KEY_READERS: [GeneralPurpose; 2] = [
    GeneralPurpose::new(&alphabet::STANDARD, ANY_PADDING),
    GeneralPurpose::new(&alphabet::URL_SAFE, ANY_PADDING),
];

/// Fills bytes with randomness; returns false if none is available.
pub type RandomSource = Arc<dyn Fn(&mut [u8]) -> bool + Send + Sync>;

/// A key for sealing. Its value is never printed.
#[derive(Clone, PartialEq, Eq)]
pub struct SealKey([u8; KEY]);

/// Why a text is not a list of keys.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SealKeyError {
    /// One of them is not 32 bytes in base64. The error text does not show it.
    #[error("key {0} is not 32 bytes in base64; `openssl rand -base64 32` makes one")]
    Invalid(usize),
    /// The list is empty.
    #[error("there is no key; `openssl rand -base64 32` makes one")]
    None,
}

impl SealKey {
    /// Makes a key of these bytes.
    #[must_use]
    pub fn new(bytes: [u8; KEY]) -> Self {
        Self(bytes)
    }

    /// Makes a new key; `None` if there is no randomness.
    #[must_use]
    pub fn random(random: &RandomSource) -> Option<Self> {
        let mut bytes = [0; KEY];
        random(&mut bytes).then_some(Self(bytes))
    }

    /// Reads keys in base64, separated by white space or commas. The text after a `#` in a line is a comment.
    ///
    /// ```
    /// use midfold_proxy::{SealKey, SealKeyError};
    /// let key = SealKey::new([7; 32]);
    /// assert_eq!(SealKey::list(&format!("{} # of July", key.text()))?, [key]);
    /// assert_eq!(SealKey::list("AAAA"), Err(SealKeyError::Invalid(1)));
    /// # Ok::<(), SealKeyError>(())
    /// ```
    ///
    /// # Errors
    /// If there is no key, or if one of them is invalid.
    pub fn list(text: &str) -> Result<Vec<Self>, SealKeyError> {
        let lines = text.lines().map(|line| line.split('#').next().unwrap_or_default());
        let words = lines.flat_map(|line| line.split([' ', '\t', ',', '\r']));
        let words = words.filter(|word| !word.is_empty());
        let read = |(at, word): (usize, &str)| {
            let bytes = KEY_READERS.iter().find_map(|reader| reader.decode(word).ok());
            let bytes = bytes.and_then(|bytes| bytes.try_into().ok());
            bytes.map(Self).ok_or(SealKeyError::Invalid(at + 1))
        };
        let keys: Vec<_> = words.enumerate().map(read).collect::<Result<_, _>>()?;
        if keys.is_empty() { Err(SealKeyError::None) } else { Ok(keys) }
    }

    /// The key as [`SealKey::list`] reads it.
    #[must_use]
    pub fn text(&self) -> String {
        STANDARD.encode(self.0)
    }

    /// The id by which a sealed text names its key: a hash, which does not reveal the key.
    fn id(&self) -> [u8; ID] {
        let hash = Hash::ROOT.chain(b"midfold seal key").chain(&self.0);
        let mut id = [0; ID];
        id.iter_mut().zip(hash.0).for_each(|(to, from)| *to = from);
        id
    }

    fn cipher(&self) -> Option<LessSafeKey> {
        UnboundKey::new(&CHACHA20_POLY1305, &self.0).ok().map(LessSafeKey::new)
    }
}

impl std::fmt::Debug for SealKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SealKey(…)")
    }
}

/// Keys and a source of nonces. The first key seals, all of them open.
#[derive(Clone)]
pub struct Seal {
    keys: Vec<SealKey>,
    random: RandomSource,
}

/// The result of opening a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OpenedBlob {
    /// The content; it was sealed by midfold.
    Ours(Vec<u8>),
    /// The text was not sealed by midfold.
    Foreign,
    /// The text has midfold's prefix but does not open: it was changed, it was sealed for another sender, or its key is
    /// not here any more.
    Broken,
}

impl Seal {
    /// Makes a seal that seals with the first of these keys, and opens with all.
    #[must_use]
    pub fn new(keys: Vec<SealKey>, random: RandomSource) -> Self {
        Self { keys, random }
    }

    /// Whether a text has the prefix of midfold's seal.
    #[must_use]
    pub fn is_ours(text: &str) -> bool {
        text.starts_with(PREFIX)
    }

    /// Seals bytes for the sender of a request; `None` without a key or randomness.
    #[must_use]
    pub fn seal(&self, scope: &str, bytes: &[u8]) -> Option<String> {
        let key = self.keys.first()?;
        let mut nonce = [0; NONCE_LEN];
        if !(self.random)(&mut nonce) {
            return None;
        }
        let mut sealed = bytes.to_vec();
        let of = Nonce::assume_unique_for_key(nonce);
        key.cipher()?.seal_in_place_append_tag(of, Aad::from(aad(scope)), &mut sealed).ok()?;
        let all = [&key.id()[..], &nonce, &sealed].concat();
        Some(format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode(all)))
    }

    /// Opens a text for the sender of a request.
    #[must_use]
    pub fn open(&self, scope: &str, text: &str) -> OpenedBlob {
        match text.strip_prefix(PREFIX) {
            None => OpenedBlob::Foreign,
            Some(sealed) => self.opened(scope, sealed).map_or(OpenedBlob::Broken, OpenedBlob::Ours),
        }
    }

    /// The content of a sealed text without its prefix; `None` if it does not open.
    fn opened(&self, scope: &str, sealed: &str) -> Option<Vec<u8>> {
        let all = URL_SAFE_NO_PAD.decode(sealed).ok()?;
        let (id, rest) = all.split_at_checked(ID)?;
        let (nonce, sealed) = rest.split_at_checked(NONCE_LEN)?;
        let key = self.keys.iter().find(|key| key.id() == id)?;
        let nonce = Nonce::try_assume_unique_for_key(nonce).ok()?;
        let mut bytes = sealed.to_vec();
        let opened = key.cipher()?.open_in_place(nonce, Aad::from(aad(scope)), &mut bytes).ok()?;
        let length = opened.len();
        bytes.truncate(length);
        Some(bytes)
    }
}

/// The additional authenticated data, which has to be the same when the text is opened: the version and the sender.
fn aad(scope: &str) -> Vec<u8> {
    [PREFIX.as_bytes(), scope.as_bytes()].concat()
}
