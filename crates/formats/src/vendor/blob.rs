//! The content of midfold's own opaque blocks, before they are sealed.
//!
//! A client sends the block back with its next request, possibly to another node and after a restart, so the block
//! itself holds all that is needed to continue. Sealing is done elsewhere: only bytes that were opened with the key may
//! be decoded here.

use crate::dialect::DialectKind;

/// The first bytes of a blob.
const MAGIC: &[u8; 3] = b"mfb";
/// The version of the encoding, in the byte after the first ones.
const VERSION: u8 = 1;
/// The most bytes of a blob, which also bounds the lengths inside it.
const LIMIT: usize = 32 * 1024 * 1024;
/// The most names in a blob.
const IDS: usize = 4_096;

/// The state after a compaction, for the requests that follow it.
///
/// ```
/// use midfold_formats::DialectKind;
/// use midfold_formats::vendor::blob::Blob;
/// let blob = Blob {
///     dialect: DialectKind::Anthropic,
///     session: "s1".into(),
///     messages: 40,
///     through: [7; 32],
///     recap: "What was done".into(),
///     context: r#"[{"role":"user","content":"What was done"}]"#.into(),
///     ids: vec!["call_1".into()],
/// };
/// assert_eq!(Blob::decode(&blob.encode())?, blob);
/// # Ok::<(), midfold_formats::vendor::blob::BlobError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blob {
    /// The dialect of the conversation.
    pub dialect: DialectKind,
    /// The id of the session. Empty where there is none.
    pub session: String,
    /// The number of messages from the first on that it replaces.
    pub messages: u64,
    /// The chain hash through the last of these messages.
    pub through: [u8; 32],
    /// The recap, as text for people.
    pub recap: String,
    /// The messages in their place, as a JSON array with the very bytes that were sent, so that the next prompt extends
    /// them.
    pub context: String,
    /// The names of what can be recalled: folds, calls, artifacts. Names after the first 4,096 are not encoded.
    pub ids: Vec<String>,
}

/// The reason why bytes are no blob.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BlobError {
    /// The bytes do not start as a blob does.
    #[error("not a blob of midfold's: the first bytes are wrong; pass it to whoever made it")]
    Foreign,
    /// A later version of midfold wrote the blob.
    #[error("the blob has version {0}, and this midfold reads version {VERSION}; update midfold")]
    Version(u8),
    /// The blob ends in the middle.
    #[error("the blob ends before its {0}; it was cut on the way")]
    Short(&'static str),
    /// Bytes follow the end of the blob.
    #[error("the blob has {0} more bytes than it should have")]
    Long(usize),
    /// A part is not valid.
    #[error("the blob's {0} is not valid")]
    Invalid(&'static str),
}

impl Blob {
    /// The blob as bytes. The same blob always has the same bytes.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.recap.len() + self.context.len() + 128);
        out.extend_from_slice(MAGIC);
        out.push(VERSION);
        put_text(self.dialect.name(), &mut out);
        put_text(&self.session, &mut out);
        put_number(self.messages, &mut out);
        out.extend_from_slice(&self.through);
        put_text(&self.recap, &mut out);
        put_text(&self.context, &mut out);
        // `decode` refuses more names than these.
        let ids = &self.ids[..self.ids.len().min(IDS)];
        put_number(ids.len() as u64, &mut out);
        ids.iter().for_each(|id| put_text(id, &mut out));
        out
    }

    /// Reads the bytes that [`Blob::encode`] wrote.
    ///
    /// # Errors
    ///
    /// A [`BlobError`] for any other bytes.
    pub fn decode(bytes: &[u8]) -> Result<Self, BlobError> {
        let rest = bytes.strip_prefix(MAGIC).ok_or(BlobError::Foreign)?;
        let (&version, rest) = rest.split_first().ok_or(BlobError::Short("version"))?;
        if version != VERSION {
            return Err(BlobError::Version(version));
        }
        if rest.len() > LIMIT {
            return Err(BlobError::Invalid("length"));
        }
        let mut input = BlobInput { rest };
        let dialect = DialectKind::from_name(input.text("dialect")?);
        let blob = Self {
            dialect: dialect.ok_or(BlobError::Invalid("dialect"))?,
            session: input.text("session")?.to_owned(),
            messages: input.number("number of messages")?,
            through: input.hash()?,
            recap: input.text("recap")?.to_owned(),
            context: input.text("context")?.to_owned(),
            ids: input.texts("ids")?,
        };
        match input.rest {
            [] => Ok(blob),
            more => Err(BlobError::Long(more.len())),
        }
    }
}

/// Writes a number with seven bits per byte, the lowest first. The highest bit of a byte says that more follow.
fn put_number(mut number: u64, out: &mut Vec<u8>) {
    loop {
        let low = number.to_le_bytes()[0] & 0x7f;
        number >>= 7;
        if number == 0 {
            out.push(low);
            return;
        }
        out.push(low | 0x80);
    }
}

fn put_text(text: &str, out: &mut Vec<u8>) {
    put_number(text.len() as u64, out);
    out.extend_from_slice(text.as_bytes());
}

/// The bytes of a blob that are still to be read.
struct BlobInput<'a> {
    rest: &'a [u8],
}

impl<'a> BlobInput<'a> {
    fn number(&mut self, field: &'static str) -> Result<u64, BlobError> {
        let mut number = 0_u64;
        for shift in (0..64).step_by(7) {
            let (&byte, rest) = self.rest.split_first().ok_or(BlobError::Short(field))?;
            self.rest = rest;
            let low = u64::from(byte & 0x7f);
            // A number has exactly one encoding: no bit may be lost, and no zero byte may end it.
            if (low << shift) >> shift != low || (byte == 0 && shift > 0) {
                return Err(BlobError::Invalid(field));
            }
            number |= low << shift;
            if byte & 0x80 == 0 {
                return Ok(number);
            }
        }
        Err(BlobError::Invalid(field))
    }

    fn take(&mut self, length: u64, field: &'static str) -> Result<&'a [u8], BlobError> {
        let length = usize::try_from(length).map_err(|_| BlobError::Short(field))?;
        let (bytes, rest) = self.rest.split_at_checked(length).ok_or(BlobError::Short(field))?;
        self.rest = rest;
        Ok(bytes)
    }

    fn hash(&mut self) -> Result<[u8; 32], BlobError> {
        let bytes = self.take(32, "hash")?;
        bytes.try_into().map_err(|_| BlobError::Short("hash"))
    }

    fn text(&mut self, field: &'static str) -> Result<&'a str, BlobError> {
        let length = self.number(field)?;
        let bytes = self.take(length, field)?;
        std::str::from_utf8(bytes).map_err(|_| BlobError::Invalid(field))
    }

    fn texts(&mut self, field: &'static str) -> Result<Vec<String>, BlobError> {
        let count = self.number(field)?;
        if count > IDS as u64 {
            return Err(BlobError::Invalid(field));
        }
        (0..count).map(|_| self.text(field).map(str::to_owned)).collect()
    }
}
