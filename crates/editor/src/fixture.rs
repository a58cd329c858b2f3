//! Fixture for tests and benchmarks of views: fake files, a fixed clock, texts with marked carets.
//!
//! An ordinary module, so that the panels above can use it in their tests.

use std::sync::Arc;

use base::{AbsPath, ByteOffset, Span};
use gpui_kit::{App, Entity};
use host::{FakeClock, FakeFiles, Files};
use project::Document;
use text::{EditOrigin, Selection, SelectionSet, Timestamp};

use crate::editor::Editor;
use crate::model::{DocumentEnvironment, DocumentModel};

/// Creates an environment for tests with empty fake files and a fixed clock.
pub fn environment() -> DocumentEnvironment {
    environment_over(Arc::new(FakeFiles::new()))
}

/// Creates an environment for tests with these files and a fixed clock.
pub fn environment_over(files: Arc<dyn Files>) -> DocumentEnvironment {
    DocumentEnvironment {
        files,
        clock: Arc::new(FakeClock::at(1_000_000)),
        recovery_folder: AbsPath::new("/recovery").expect("the path starts at the root"),
    }
}

/// Creates the model of a text that is not saved yet, for tests. The path must be absolute and
/// determines the language.
pub fn model(
    path: &str,
    text: &str,
    environment: DocumentEnvironment,
    cx: &mut App,
) -> Entity<DocumentModel> {
    let path = AbsPath::new(path).expect("the caller gives an absolute path");
    let mut document = Document::new_at(path);
    let origin = EditOrigin::user(Timestamp(0));
    document
        .buffer_mut()
        .replace(Span::at(ByteOffset(0)), text, &origin);
    document.buffer_mut().seal_step();
    DocumentModel::open(document, environment, cx)
}

/// Parses marks in a text: `ˇ` is a caret; `«` and `»` enclose a selection, with `ˇ` at its head.
pub fn unmark(marked: &str) -> (String, SelectionSet) {
    let mut text = String::new();
    let mut selections = Vec::new();
    // Start of an open selection, and whether its head is there.
    let mut open: Option<(usize, bool)> = None;
    let mut chars = marked.chars().peekable();
    while let Some(char) = chars.next() {
        match (char, open) {
            ('«', _) => {
                let head_first = chars.next_if_eq(&'ˇ').is_some();
                open = Some((text.len(), head_first));
            }
            ('»', Some((start, head_first))) => {
                let (start, end) = (ByteOffset(start), ByteOffset(text.len()));
                selections.push(if head_first {
                    Selection::new(end, start)
                } else {
                    Selection::new(start, end)
                });
                open = None;
            }
            ('ˇ', Some(_)) => {}
            ('ˇ', None) => selections.push(Selection::caret(ByteOffset(text.len()))),
            _ => text.push(char),
        }
    }
    let newest = selections.len().saturating_sub(1);
    (text, SelectionSet::new(selections, newest))
}

/// Returns the text of a view with marks for its selections, as `unmark` reads them.
pub fn marked(editor: &Entity<Editor>, cx: &mut App) -> String {
    editor.update(cx, |editor, cx| {
        let selections = editor.selections(cx).clone();
        let mut marked = editor.model().read(cx).snapshot().to_string();
        for selection in selections.as_slice().iter().rev() {
            let (start, end) = (selection.start().0, selection.end().0);
            match (selection.is_empty(), selection.is_reversed()) {
                (true, _) => marked.insert(start, 'ˇ'),
                (false, true) => {
                    marked.insert(end, '»');
                    marked.insert_str(start, "«ˇ");
                }
                (false, false) => {
                    marked.insert_str(end, "ˇ»");
                    marked.insert(start, '«');
                }
            }
        }
        marked
    })
}
