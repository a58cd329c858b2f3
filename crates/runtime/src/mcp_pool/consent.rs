//! The user's approvals of MCP servers that projects configure.
//!
//! Invariant: an approval holds for one exact entry in one file, because the same entry may run
//! another program in another project.

use std::sync::Arc;

use base::{AbsPath, LineFeeds, printable};
use connect::mcp::{Approval, Approvals, ServerEntry, ServerOrigin};
use host::{ContentHash, Files};

use crate::Error;

/// The largest mark, in bytes.
const LARGEST: u64 = 1 << 16;

/// Stores approvals in files of Burin, one for each entry.
pub struct Consents {
    files: Arc<dyn Files>,
    folder: AbsPath,
}

impl Consents {
    /// Stores the approvals below `state`.
    pub fn new(files: Arc<dyn Files>, state: &AbsPath) -> Self {
        Self {
            files,
            folder: state.join("mcp/approvals"),
        }
    }

    /// Stores the user's decision about this exact version of an entry. Blocks on the disk. Fails
    /// with `Error::OwnServer` for an entry in the user's own file, because such an entry needs no
    /// decision.
    pub(crate) fn set(&self, entry: &ServerEntry, approval: Approval) -> Result<(), Error> {
        let Some(what) = consent_subject(entry) else {
            return Err(Error::OwnServer(entry.name.clone()));
        };
        let path = self.path(&what);
        let word = match approval {
            Approval::Allowed => ALLOWED,
            Approval::Refused => REFUSED,
            Approval::Unasked => {
                return match self.files.remove(&path) {
                    Err(error) if !error.is_not_found() => Err(error.into()),
                    _ => Ok(()),
                };
            }
        };
        self.files.create_folder(&self.folder)?;
        let text = format!("{what}{word}");
        self.files.write_private(&path, text.as_bytes())?;
        Ok(())
    }

    /// Returns the user's decision about an entry. Blocks on the disk. Fails with
    /// `Error::UnreadableApproval` if the decision is stored but cannot be read.
    pub(crate) fn stored(&self, entry: &ServerEntry) -> Result<Approval, Error> {
        let Some(what) = consent_subject(entry) else {
            return Ok(Approval::Unasked);
        };
        let stored = match self.files.read(&self.path(&what), LARGEST) {
            Ok(stored) => stored,
            Err(error) if error.is_not_found() => return Ok(Approval::Unasked),
            Err(source) => {
                let server = printable(&entry.name, LineFeeds::Escape).into_owned();
                let source = Box::new(source);
                return Err(Error::UnreadableApproval { server, source });
            }
        };
        // The file starts with its subject, so that entries with equal hashes differ.
        Ok(match stored.strip_prefix(what.as_bytes()) {
            Some(word) if word == ALLOWED.as_bytes() => Approval::Allowed,
            Some(word) if word == REFUSED.as_bytes() => Approval::Refused,
            _ => Approval::Unasked,
        })
    }

    /// Returns a sentence about each of these entries whose stored decision cannot be read. Blocks
    /// on the disk.
    pub(crate) fn problems<'a>(
        &self,
        entries: impl IntoIterator<Item = &'a ServerEntry>,
    ) -> Vec<String> {
        let unreadable = entries
            .into_iter()
            .filter_map(|entry| self.stored(entry).err());
        unreadable.map(|error| error.to_string()).collect()
    }

    fn path(&self, what: &str) -> AbsPath {
        let hash = ContentHash::of(what.as_bytes());
        self.folder.join(format!("{:032x}", hash.0))
    }
}

const ALLOWED: &str = "allowed\n";
const REFUSED: &str = "refused\n";

/// Names the file and the entry to approve; `None` for the user's own entries.
fn consent_subject(entry: &ServerEntry) -> Option<String> {
    match &entry.origin {
        ServerOrigin::User => None,
        ServerOrigin::Project { file } => {
            let file = file.as_path().to_string_lossy();
            Some(format!("{file}\n{}\n", entry.fingerprint.0))
        }
    }
}

impl Approvals for Consents {
    fn approval(&self, entry: &ServerEntry) -> Approval {
        // A server whose approval cannot be read does not run; `problems` says so.
        self.stored(entry).unwrap_or(Approval::Unasked)
    }
}
