//! What the person said of the servers that projects name.
//!
//! Invariant: what was said holds for one entry, letter by letter, in one file: the same words in another project
//! may run another program.

use std::sync::Arc;

use base::AbsPath;
use connect::mcp::{Approval, Approvals, Origin, ServerEntry};
use host::{ContentHash, Files};

/// The largest mark, in bytes.
const LARGEST: u64 = 1 << 16;

/// Keeps it in files of Burin's own, one for each entry.
pub(crate) struct Consents {
    files: Arc<dyn Files>,
    folder: AbsPath,
}

impl Consents {
    /// Below `state`.
    pub(crate) fn new(files: Arc<dyn Files>, state: &AbsPath) -> Self {
        Self {
            files,
            folder: state.join("mcp/approvals"),
        }
    }

    /// Keeps what the person says of an entry. Blocks on the disk.
    pub(crate) fn set(&self, entry: &ServerEntry, approval: Approval) -> Result<(), String> {
        let Some(what) = what(entry) else {
            return Err(format!(
                "the server \"{}\" is your own and needs no approval; it is written in your mcp.json",
                entry.name
            ));
        };
        let path = self.path(&what);
        let word = match approval {
            Approval::Allowed => ALLOWED,
            Approval::Refused => REFUSED,
            Approval::Unasked => {
                return match self.files.remove(&path) {
                    Err(error) if !error.is_not_found() => Err(error.to_string()),
                    _ => Ok(()),
                };
            }
        };
        let created = self.files.create_folder(&self.folder);
        created
            .and_then(|()| {
                self.files
                    .write_private(&path, format!("{what}{word}").as_bytes())
            })
            .map_err(|error| error.to_string())
    }

    fn path(&self, what: &str) -> AbsPath {
        let hash = ContentHash::of(what.as_bytes());
        self.folder.join(format!("{:032x}", hash.0))
    }
}

const ALLOWED: &str = "allowed\n";
const REFUSED: &str = "refused\n";

/// What is spoken of: the file and the entry. `None` for the person's own.
fn what(entry: &ServerEntry) -> Option<String> {
    match &entry.origin {
        Origin::Person => None,
        Origin::Project { file } => {
            let file = file.as_path().to_string_lossy();
            Some(format!("{file}\n{}\n", entry.fingerprint.0))
        }
    }
}

impl Approvals for Consents {
    fn approval(&self, entry: &ServerEntry) -> Approval {
        let Some(what) = what(entry) else {
            return Approval::Unasked;
        };
        let kept = match self.files.read(&self.path(&what), LARGEST) {
            Ok(kept) => kept,
            Err(error) => {
                if !error.is_not_found() {
                    log::warn!("an approval cannot be read: {error}");
                }
                return Approval::Unasked;
            }
        };
        // The file says what it is about: two entries of one hash are still told apart.
        match kept.strip_prefix(what.as_bytes()) {
            Some(word) if word == ALLOWED.as_bytes() => Approval::Allowed,
            Some(word) if word == REFUSED.as_bytes() => Approval::Refused,
            _ => Approval::Unasked,
        }
    }
}
