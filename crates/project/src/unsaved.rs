//! The texts that stand open with unsaved edits, for whoever works on files beside the windows.
//!
//! Invariant: noting a text costs no copy of it, so that it can be done with every key.
//! May be asked on any thread. Start at `Unsaved::note`.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use base::AbsPath;
use text::Snapshot;

use crate::document::{Document, DocumentKey};

/// The unsaved texts of the whole program.
#[derive(Debug, Default)]
pub struct Unsaved(Mutex<HashMap<DocumentKey, (AbsPath, Snapshot)>>);

impl Unsaved {
    /// Takes in how a document stands now: after every edit, save and renaming.
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

    /// A document is closed: whatever becomes of its edits, nobody looks at them.
    pub fn forget(&self, key: DocumentKey) {
        self.texts().remove(&key);
    }

    /// The text of a file that is open and differs from what was saved.
    pub fn text(&self, path: &AbsPath) -> Option<String> {
        let texts = self.texts();
        let (_, snapshot) = texts.values().find(|(known, _)| known == path)?;
        let snapshot = snapshot.clone();
        // Whoever types meanwhile does not wait for the copy.
        drop(texts);
        Some(snapshot.text(snapshot.full_span()).into_owned())
    }

    /// The files whose text is not saved, in no order.
    pub fn paths(&self) -> Vec<AbsPath> {
        let texts = self.texts();
        texts.values().map(|(path, _)| path.clone()).collect()
    }

    fn texts(&self) -> MutexGuard<'_, HashMap<DocumentKey, (AbsPath, Snapshot)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use base::Span;
    use text::{Edit, Origin, Timestamp};

    use super::*;

    fn path(text: &str) -> AbsPath {
        AbsPath::new(text).expect("absolute")
    }

    fn write(document: &mut Document, text: &str) {
        let end = document.snapshot().len();
        let edit = Edit::new(Span::at(end), text);
        let origin = Origin::user(Timestamp(1));
        document.buffer_mut().edit(&[edit], &origin);
    }

    #[test]
    fn a_text_is_known_from_its_first_edit_until_it_is_closed() {
        let unsaved = Unsaved::default();
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
    fn a_text_without_a_file_is_nobody_elses() {
        let unsaved = Unsaved::default();
        let mut untitled = Document::untitled();
        write(&mut untitled, "one");
        unsaved.note(&untitled);
        assert_eq!(unsaved.paths(), []);
    }
}
