//! The unsaved texts of the windows, as far as the background process knows them.
//!
//! Invariant: a text is copied only when it changed since it was last reported.

use std::collections::HashMap;
use std::sync::Arc;

use base::{AbsPath, Revision};
use project::{DocumentKey, UnsavedTexts};

use crate::protocol::ClientReport;

/// The texts that were reported over the present connection.
pub(super) struct ReportedTexts {
    unsaved: Arc<UnsavedTexts>,
    reported: HashMap<AbsPath, (DocumentKey, Revision)>,
}

impl ReportedTexts {
    pub(super) fn new(unsaved: Arc<UnsavedTexts>) -> Self {
        let reported = HashMap::new();
        Self { unsaved, reported }
    }

    /// Forgets all reports, for a new connection.
    pub(super) fn clear(&mut self) {
        self.reported.clear();
    }

    /// Returns reports of the texts that changed since the last call.
    pub(super) fn changes(&mut self) -> Vec<ClientReport> {
        let now: HashMap<_, _> = self.unsaved.versions().into_iter().collect();
        let gone = self.reported.keys().filter(|path| !now.contains_key(*path));
        let mut reports: Vec<ClientReport> = gone
            .map(|path| ClientReport::Unsaved(path.clone(), None))
            .collect();
        for (path, version) in &now {
            if self.reported.get(path) != Some(version) {
                let text = self.unsaved.text(path);
                reports.push(ClientReport::Unsaved(path.clone(), text));
            }
        }
        self.reported = now;
        reports
    }
}

#[cfg(test)]
mod tests {
    use base::Span;
    use project::Document;
    use text::{EditOrigin, Timestamp};

    use super::*;

    #[test]
    fn each_change_is_reported_once() {
        let unsaved = Arc::new(UnsavedTexts::default());
        let mut reported = ReportedTexts::new(unsaved.clone());
        let path = AbsPath::new("/p/a").expect("absolute");
        let mut document = Document::new_at(path.clone());
        let origin = EditOrigin::user(Timestamp(1));
        let mut changes = |document: &Document| {
            unsaved.note(document);
            reported.changes()
        };
        let is_text = |reports: &[ClientReport], text: Option<&str>| matches!(reports, [ClientReport::Unsaved(at, now)] if *at == path && now.as_deref() == text);
        for (ix, text) in ["a", "ba"].into_iter().enumerate() {
            let start = Span::at(base::ByteOffset(0));
            let typed = if ix == 0 { "a" } else { "b" };
            document.buffer_mut().replace(start, typed, &origin);
            assert!(is_text(&changes(&document), Some(text)));
            assert!(changes(&document).is_empty());
        }
        unsaved.forget(document.key());
        assert!(is_text(&reported.changes(), None));
        assert!(reported.changes().is_empty());
    }
}
