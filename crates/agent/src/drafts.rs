//! The texts in prompt boxes, kept while the program does not run: drafts, and prompts that were
//! sent.
//!
//! Knows: files. Must not know: sessions, views, when to save.
//! Invariant: a damaged or missing file reads as nothing kept, never as an error.
//! Start at `DraftStore::load`.

use std::collections::BTreeMap;
use std::sync::Arc;

use base::AbsPath;
use host::{ContentHash, Files};
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::record::StoredPart;

/// The largest file of a folder's drafts, in bytes.
const LARGEST: u64 = 64 << 20;

/// A prompt that is not sent yet.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Draft {
    /// The text in the prompt box.
    pub text: String,
    /// The images attached to it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<StoredPart>,
}

/// The prompts kept for a folder.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct KeptPrompts {
    /// Drafts by session id; that of a new session has an empty id.
    pub drafts: BTreeMap<String, Draft>,
    /// The texts of sent prompts, oldest first.
    pub sent: Vec<String>,
}

/// Keeps the prompts of folders in the state folder, one file for each.
#[derive(Clone)]
pub struct DraftStore {
    files: Arc<dyn Files>,
    folder: AbsPath,
}

impl DraftStore {
    /// Creates a store below `state`. Nothing is read yet.
    pub fn new(files: Arc<dyn Files>, state: &AbsPath) -> Self {
        Self {
            files,
            folder: state.join("prompts"),
        }
    }

    /// Reads the prompts of the folder `root`. Blocks on the disk.
    pub fn load(&self, root: &AbsPath) -> KeptPrompts {
        let read = self.files.read(&self.path(root), LARGEST);
        let bytes = read.unwrap_or_default();
        serde_json::from_slice(&bytes).unwrap_or_default()
    }

    /// Writes the prompts of the folder `root`; they are on the disk on return. Blocks on the disk.
    ///
    /// # Errors
    ///
    /// The state folder cannot be written.
    pub fn save(&self, root: &AbsPath, kept: &KeptPrompts) -> Result<(), Error> {
        let bytes = serde_json::to_vec(kept).unwrap_or_else(|error| {
            base::never!("prompts are plain data: {error}");
            Vec::new()
        });
        self.files.create_folder(&self.folder)?;
        self.files.write_private(&self.path(root), &bytes)?;
        Ok(())
    }

    fn path(&self, root: &AbsPath) -> AbsPath {
        let hash = ContentHash::of(root.to_string().as_bytes());
        self.folder.join(format!("{:032x}.json", hash.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_folder_has_its_own_prompts() {
        let path = |text: &str| AbsPath::new(text).expect("absolute");
        let files: Arc<dyn Files> = Arc::new(host::FakeFiles::new());
        let store = DraftStore::new(files.clone(), &path("/state"));
        assert_eq!(store.load(&path("/a")), KeptPrompts::default());
        let draft = Draft {
            text: "half a thought".to_owned(),
            images: vec![crate::stored_parts::text("[image]")],
        };
        let kept = KeptPrompts {
            drafts: BTreeMap::from([(String::new(), draft)]),
            sent: vec!["one".to_owned()],
        };
        store.save(&path("/a"), &kept).expect("saved");
        assert_eq!(store.load(&path("/a")), kept);
        assert_eq!(store.load(&path("/b")), KeptPrompts::default());
        files
            .write_private(&store.path(&path("/a")), b"{ damaged")
            .expect("written");
        assert_eq!(store.load(&path("/a")), KeptPrompts::default());
    }
}
