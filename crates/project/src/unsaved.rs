//! Open texts with unsaved edits, for code that works on files outside the windows.
//!
//! Invariant: noting a text does not copy it, so that it is cheap enough for every key press.
//! Usable from any thread. Start at `Unsaved::note`.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use base::{AbsPath, Revision};
use text::Snapshot;

use crate::document::{Document, DocumentKey};

/// The unsaved texts of all open documents of the program, by document. Agents and searches read it
/// in place of the files. Usable from any thread.
#[derive(Debug, Default)]
pub struct UnsavedTexts(Mutex<HashMap<DocumentKey, (AbsPath, Snapshot)>>);

impl UnsavedTexts {
    /// Updates the state of a document: call it after every edit, save and rename.
    pub fn note(&self, document: &Document) {
        let Some(path) = document.path().filter(|_| document.is_dirty()) else {
            return self.forget(document.key());
        };
        let mut texts = self.texts();
        match texts.get_mut(&document.key()) {
            Some((known, snapshot)) if known == path => *snapshot = document.snapshot(),
            _ => {
                let known = (path.clone(), document.snapshot());
                texts.insert(document.key(), known);
            }
        }
    }

    /// Removes a document when it is closed, with or without unsaved edits; without effect if it
    /// has none.
    pub fn forget(&self, key: DocumentKey) {
        self.texts().remove(&key);
    }

    /// Returns a copy of the text of an open file with unsaved edits; `None` if it has none or is
    /// not open. The path is compared as opened, without resolving links.
    pub fn text(&self, path: &AbsPath) -> Option<String> {
        let texts = self.texts();
        let (_, snapshot) = texts.values().find(|(known, _)| known == path)?;
        let snapshot = snapshot.clone();
        // Unlock first: typing must not wait for the copy.
        drop(texts);
        Some(snapshot.text(snapshot.full_span()).into_owned())
    }

    /// Returns the files with unsaved text and the versions of their texts, in no fixed order. Equal
    /// versions of a file are equal texts.
    pub fn versions(&self) -> Vec<(AbsPath, (DocumentKey, Revision))> {
        let texts = self.texts();
        let versions = texts.iter();
        versions
            .map(|(key, (path, snapshot))| (path.clone(), (*key, snapshot.revision())))
            .collect()
    }

    /// Returns the files with unsaved text, in no fixed order.
    pub fn paths(&self) -> Vec<AbsPath> {
        let texts = self.texts();
        texts.values().map(|(path, _)| path.clone()).collect()
    }

    /// Locks the texts, even if a thread panicked while it held the lock.
    fn texts(&self) -> MutexGuard<'_, HashMap<DocumentKey, (AbsPath, Snapshot)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use base::Span;
    use text::{Edit, EditOrigin, Timestamp};

    use super::*;

    fn path(text: &str) -> AbsPath {
        AbsPath::new(text).expect("absolute")
    }

    fn write(document: &mut Document, text: &str) {
        let end = document.snapshot().len();
        let edit = Edit::new(Span::at(end), text);
        let origin = EditOrigin::user(Timestamp(1));
        document.buffer_mut().edit(&[edit], &origin);
    }

    #[test]
    fn unsaved_text_is_known_from_edit_to_close() {
        let unsaved = UnsavedTexts::default();
        let mut document = Document::new_at(path("/p/a.txt"));
        write(&mut document, "one");
        unsaved.note(&document);
        assert_eq!(unsaved.text(&path("/p/a.txt")).as_deref(), Some("one"));
        write(&mut document, " two");
        document.set_path(path("/p/b.txt"));
        unsaved.note(&document);
        assert_eq!(unsaved.text(&path("/p/a.txt")), None);
        assert_eq!(unsaved.text(&path("/p/b.txt")).as_deref(), Some("one two"));
        assert_eq!(unsaved.paths(), [path("/p/b.txt")]);
        unsaved.forget(document.key());
        assert_eq!(unsaved.paths(), []);
    }

    #[test]
    fn untitled_documents_are_not_listed() {
        let unsaved = UnsavedTexts::default();
        let mut untitled = Document::untitled();
        write(&mut untitled, "one");
        unsaved.note(&untitled);
        assert_eq!(unsaved.paths(), []);
    }
}
