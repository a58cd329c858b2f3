//! Merges unsaved editor text with a landing that changes the same file.

use super::CheckoutChange;
use super::eol;
use crate::merge::{EntryMode, ObjectEntry, ObjectId, merge_bytes};
use crate::repository::{Error, Repository};

impl Repository {
    /// Merges the change to a file into `text`, the editor's unsaved version; both have the line
    /// endings of the working tree. `None` on a conflict, or if the file is removed.
    pub fn merge_unsaved(
        &self,
        change: &CheckoutChange,
        text: &[u8],
    ) -> Result<Option<Vec<u8>>, Error> {
        let bytes = |slot: Option<(EntryMode, ObjectId)>| {
            let entry = slot.map(|(mode, id)| ObjectEntry {
                mode,
                id,
                bytes: None,
            });
            entry.map(|entry| self.bytes_of(&entry)).transpose()
        };
        let before = bytes(change.before)?.unwrap_or_default();
        let Some(after) = bytes(change.after)? else {
            return Ok(None);
        };
        let is_crlf_in_git = || eol::has_crlf(&before);
        let own = eol::to_git(&self.inner, &change.path, text, &is_crlf_in_git);
        let merged = merge_bytes(&before, &own, &after).clean();
        Ok(merged.map(|merged| eol::to_worktree(&self.inner, &change.path, &merged).into_owned()))
    }
}
