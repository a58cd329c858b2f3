//! What the person has in the editor and has not saved, when its file changes by a landing.

use super::Change;
use super::eol;
use crate::merge::{Entry, Mode, ObjectId, merge_bytes};
use crate::repository::{Error, Repository};

impl Repository {
    /// A text as the editor holds it, with what lands in its file merged in. Both have the line endings of the working
    /// tree. `None` where they want the same lines otherwise, or where the file goes.
    pub fn merge_unsaved(&self, change: &Change, text: &[u8]) -> Result<Option<Vec<u8>>, Error> {
        let bytes = |slot: Option<(Mode, ObjectId)>| {
            let entry = slot.map(|(mode, id)| Entry {
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
