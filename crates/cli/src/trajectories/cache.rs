//! Answers of models on disk, each under the hash of its request. No run pays for the same request twice, and a run
//! that is killed loses no answer.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use midfold::core::Hash;
use midfold::core::narrate::SummaryReply;
use serde::{Deserialize, Serialize};

use super::files::unwritable;
use crate::error::CommandError;

/// One answer.
#[derive(Serialize, Deserialize)]
struct CacheEntry<T> {
    /// The hash of the request, in hex.
    key: String,
    /// The model's answer, before it was judged.
    reply: T,
}

/// A folder of answers. Several runs may use it at the same time.
#[derive(Clone, Debug)]
pub struct AnswerCache {
    folder: PathBuf,
}

impl AnswerCache {
    /// Opens the folder. It is made where it does not exist.
    pub fn open(folder: &Path) -> Result<Self, CommandError> {
        fs::create_dir_all(folder).map_err(|error| unwritable(folder, &error))?;
        Ok(Self { folder: folder.to_owned() })
    }

    /// The path of an answer, whether it exists or not. Answers are spread over 256 folders, so that no folder grows
    /// too large.
    pub fn place(&self, key: &Hash) -> PathBuf {
        let name = key.to_hex();
        self.folder.join(&name[..2]).join(format!("{}.json", &name[2..]))
    }

    /// Whether there is an answer, good or not. A file that cannot be read, as after a power cut, is none: the request is
    /// made again.
    pub fn has(&self, key: &Hash) -> bool {
        self.get(key).is_some()
    }

    /// The answer to a request. `None` where there is none, or it cannot be read.
    pub fn get(&self, key: &Hash) -> Option<SummaryReply> {
        let bytes = fs::read(self.place(key)).ok()?;
        let entry: CacheEntry<SummaryReply> = serde_json::from_slice(&bytes).ok()?;
        (entry.key == key.to_hex()).then_some(entry.reply)
    }

    /// Keeps an answer. The file is written as a whole or not at all.
    pub fn put(&self, key: &Hash, reply: &SummaryReply) -> Result<(), CommandError> {
        let place = self.place(key);
        let part = place.with_extension(format!("{}.part", std::process::id()));
        let entry = CacheEntry { key: key.to_hex(), reply };
        let outcome = serde_json::to_vec(&entry).map_err(io::Error::other).and_then(|json| {
            fs::create_dir_all(place.parent().unwrap_or(&self.folder))?;
            fs::write(&part, json)?;
            fs::rename(&part, &place)
        });
        outcome.map_err(|error| unwritable(&place, &error))
    }
}
