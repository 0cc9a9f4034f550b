//! What clients carry for us, sealed: only who has the key can have made it, and only for whoever sent the
//! request. It is self-contained, so that it opens after a restart, and on every node that has the key.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use midfold_core::Hash;
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};

/// By what a blob of ours is known, with its version.
const PREFIX: &str = "mfc1.";
/// Bytes that name the key.
const ID: usize = 8;
/// Bytes of a key.
const KEY: usize = 32;

/// Fills bytes with randomness; false where there is none.
pub type RandomSource = Arc<dyn Fn(&mut [u8]) -> bool + Send + Sync>;

/// A key that seals. Its value is never printed.
#[derive(Clone, PartialEq, Eq)]
pub struct SealKey([u8; KEY]);

/// Why a text is no list of keys.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SealKeyError {
    /// One of them is not 32 bytes in base64. The error text does not show it.
    #[error("key {0} is not 32 bytes in base64; `openssl rand -base64 32` makes one")]
    Invalid(usize),
    /// There is none.
    #[error("there is no key; `openssl rand -base64 32` makes one")]
    None,
}

impl SealKey {
    /// A key of these bytes.
    #[must_use]
    pub fn new(bytes: [u8; KEY]) -> Self {
        Self(bytes)
    }

    /// A new key; none without randomness.
    #[must_use]
    pub fn random(random: &RandomSource) -> Option<Self> {
        let mut bytes = [0; KEY];
        random(&mut bytes).then_some(Self(bytes))
    }

    /// Keys in base64, separated by white space or commas; what follows a `#` in a line is a remark.
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
    /// When there is none, or one that is no key.
    pub fn list(text: &str) -> Result<Vec<Self>, SealKeyError> {
        let lines = text.lines().map(|line| line.split('#').next().unwrap_or_default());
        let words = lines.flat_map(|line| line.split([' ', '\t', ',', '\r']));
        let words = words.filter(|word| !word.is_empty());
        let read = |(at, word): (usize, &str)| {
            let bytes = STANDARD.decode(word).or_else(|_| URL_SAFE_NO_PAD.decode(word));
            let bytes = bytes.ok().and_then(|bytes| bytes.try_into().ok());
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

    /// By what a blob names the key that sealed it: says nothing of the key.
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

/// Keys, the first of which seals, and all of which open; and where nonces come from.
#[derive(Clone)]
pub struct Seal {
    keys: Vec<SealKey>,
    random: RandomSource,
}

/// The result of opening a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OpenedBlob {
    /// The content that was sealed here.
    Ours(Vec<u8>),
    /// It was sealed by somebody else.
    Foreign,
    /// It says that it was sealed here, and does not open: it was changed, it was made for somebody
    /// else, or the key is gone.
    Broken,
}

impl Seal {
    /// Seals with the first of these keys, and opens with all.
    #[must_use]
    pub fn new(keys: Vec<SealKey>, random: RandomSource) -> Self {
        Self { keys, random }
    }

    /// Whether a text says that it was sealed by midfold.
    #[must_use]
    pub fn is_ours(text: &str) -> bool {
        text.starts_with(PREFIX)
    }

    /// Seals bytes for whoever sent a request; none without a key or without randomness.
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

    /// Opens a text for whoever sent a request.
    #[must_use]
    pub fn open(&self, scope: &str, text: &str) -> OpenedBlob {
        match text.strip_prefix(PREFIX) {
            None => OpenedBlob::Foreign,
            Some(sealed) => self.opened(scope, sealed).map_or(OpenedBlob::Broken, OpenedBlob::Ours),
        }
    }

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

/// The data that has to be the same when it is opened: the version, and whose it is.
fn aad(scope: &str) -> Vec<u8> {
    [PREFIX.as_bytes(), scope.as_bytes()].concat()
}
