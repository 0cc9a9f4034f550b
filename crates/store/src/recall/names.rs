//! Lists names that left the context, for an agent that knows what it needs but not its name.

use std::collections::HashSet;

use midfold_core::fold::FoldEntry;
use midfold_core::ids::identifiers;
use midfold_core::recap::lost_names::{LostNames, NameUser};
use midfold_core::redact::KnownSecrets;
use midfold_formats::DialectKind;
use serde::Serialize;

use super::RecallError;
use super::target::{covered, record};
use crate::error::StoreError;
use crate::store::Store;
use crate::text::plain_text;
use crate::types::FoldRow;

/// Default length of the answer, in characters: about a hundred names.
pub const NAME_CHARS: usize = 2_000;
/// Greatest length of the answer, in characters.
pub const MAX_NAME_CHARS: usize = 20_000;
/// How many events are read at a time.
const CHUNK: u64 = 64;

/// The names of covered events that the context no longer has.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GoneNames {
    /// The names, the most likely needed first.
    pub names: Vec<String>,
    /// The number of names beyond these.
    pub more: usize,
}

/// The names (paths, symbols, ids, numbers …) of the events that the active fold removed, without those that the
/// context still has. They are ranked by how they were used, and by the words that they share with `question`, which
/// may be empty. Secrets are left out, because a list must not reveal them unasked. O(covered text).
///
/// # Errors
/// Fails where there is no such session, or nothing is folded.
pub async fn names(
    store: &dyn Store,
    session: &str,
    question: &str,
    max_chars: usize,
) -> Result<GoneNames, RecallError> {
    let loaded = store.load(session).await?;
    let fold = loaded.fold.as_ref().ok_or(RecallError::Unfolded)?;
    let dialect = loaded.session.new.dialect.as_str();
    let mut here = fold_names(fold, dialect)?;
    // Beside the texts of the fold, these messages are all that the model sees. A name in them is not gone.
    for event in loaded.head.iter().chain(&loaded.kept).chain(&loaded.tail) {
        add(&mut here, &plain_text(dialect, &event.event.bytes));
    }
    let kind = DialectKind::from_name(dialect);
    let mut secrets = KnownSecrets::default();
    let mut missing_names = LostNames::default();
    for run in covered(fold) {
        let mut at = run.start;
        while at < run.end {
            let chunk = at..run.end.min(at + CHUNK);
            at = chunk.end;
            for event in store.events(session, chunk).await? {
                let bytes = &event.event.bytes;
                let by =
                    kind.map_or(NameUser::User, |kind| NameUser::of(&kind.dialect().view(bytes)));
                let seq = u32::try_from(event.seq).unwrap_or(u32::MAX);
                let text = plain_text(dialect, bytes);
                missing_names.add(seq, by, &secrets.clean(&text));
            }
        }
    }
    let chars = max_chars.clamp(1, MAX_NAME_CHARS);
    let here = |name: &str| here.contains(name) || secrets.touch(name);
    let best = missing_names.best(question, chars, |_, name| here(name));
    let names: Vec<String> = best.into_iter().map(str::to_owned).collect();
    let more = missing_names.count(here) - names.len();
    Ok(GoneNames { names, more })
}

/// The names in the messages that the fold made: the recap or marker, and shortened messages.
fn fold_names(row: &FoldRow, dialect: &str) -> Result<HashSet<String>, StoreError> {
    let fold = record(row)?;
    let mut here = HashSet::new();
    for entry in &fold.entries {
        if let FoldEntry::Recap { bytes }
        | FoldEntry::Marker { bytes }
        | FoldEntry::Edited { bytes, .. } = entry
        {
            add(&mut here, &plain_text(dialect, bytes.as_bytes()));
        }
    }
    Ok(here)
}

/// Adds the names in a text.
fn add(here: &mut HashSet<String>, text: &str) {
    for name in identifiers(text) {
        if !here.contains(name) {
            here.insert(name.to_owned());
        }
    }
}
