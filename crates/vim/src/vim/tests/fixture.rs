//! A text with carets and a machine, for tests: `|` marks the caret of a text.
//!
//! Start at `check`.

use std::collections::BTreeMap;

use base::{ByteOffset, Span};
use text::{
    Buffer, Change, Edit, EditKind, EditOrigin, Selection, SelectionSet, Snapshot, Timestamp,
};

use crate::effect::Effect;
use crate::globals::VimGlobals;
use crate::host::{ClipboardKind, FileName, UndoMove, VimHost};
use crate::key::Key;
use crate::vim::Vim;

/// The owner of a text in tests.
pub(crate) struct TextHost {
    pub(crate) buffer: Buffer,
    pub(crate) clipboards: BTreeMap<String, String>,
    pub(crate) comments: Option<(String, String)>,
    pub(crate) folds: Vec<std::ops::Range<u32>>,
    pub(crate) is_read_only: bool,
}

impl TextHost {
    pub(crate) fn new(text: &str) -> Self {
        Self {
            buffer: Buffer::new(text),
            clipboards: BTreeMap::new(),
            comments: Some(("//".to_owned(), String::new())),
            folds: Vec::new(),
            is_read_only: false,
        }
    }
}

impl VimHost for TextHost {
    fn snapshot(&self) -> Snapshot {
        self.buffer.snapshot()
    }

    fn edit(&mut self, edits: &[Edit]) -> Change {
        for pair in edits.windows(2) {
            assert!(
                pair[0].span.end <= pair[1].span.start,
                "edits overlap: {pair:?}"
            );
        }
        let len = self.buffer.len();
        assert!(
            edits.iter().all(|edit| edit.span.end <= len),
            "{edits:?} of {len:?}"
        );
        let origin = EditOrigin::new(text::Author::User, EditKind::Other, Timestamp(0));
        self.buffer.edit(edits, &origin)
    }

    fn begin_step(&mut self) {
        self.buffer.begin_step();
    }

    fn end_step(&mut self) {
        self.buffer.end_step();
    }

    fn travel(&mut self, to: UndoMove) -> Option<Change> {
        let outcome = match to {
            UndoMove::Undo => self.buffer.undo(),
            UndoMove::Redo => self.buffer.redo(),
            UndoMove::To(state) => self.buffer.go_to(text::NodeId(state)),
        };
        outcome.map(|outcome| outcome.change)
    }

    fn undo_state(&self) -> u32 {
        self.buffer.history().current().0
    }

    fn is_read_only(&self) -> bool {
        self.is_read_only
    }

    fn line_ending(&self) -> text::LineEnding {
        self.buffer.line_ending()
    }

    fn clipboard(&mut self, kind: ClipboardKind) -> Option<String> {
        self.clipboards.get(&format!("{kind:?}")).cloned()
    }

    fn set_clipboard(&mut self, kind: ClipboardKind, text: &str) {
        self.clipboards.insert(format!("{kind:?}"), text.to_owned());
    }

    fn closed_fold(&self, row: u32) -> Option<std::ops::Range<u32>> {
        self.folds.iter().find(|rows| rows.contains(&row)).cloned()
    }

    fn folds(&self) -> Vec<std::ops::Range<u32>> {
        self.folds.clone()
    }

    fn comment_markers(&self, _row: u32) -> Option<(String, String)> {
        self.comments.clone()
    }

    fn file_name(&self, which: FileName) -> Option<String> {
        (which == FileName::Current).then(|| "file.txt".to_owned())
    }
}

/// A text, a machine and the state that machines share.
pub(crate) struct Fixture {
    pub(crate) vim: Vim,
    pub(crate) globals: VimGlobals,
    pub(crate) host: TextHost,
    pub(crate) effects: Vec<Effect>,
}

impl Fixture {
    /// Creates a fixture for a text with carets at each `|`.
    pub(crate) fn new(marked: &str) -> Self {
        let mut text = String::new();
        let mut carets = Vec::new();
        for char in marked.chars() {
            match char {
                '|' => carets.push(Selection::caret(ByteOffset(text.len()))),
                _ => text.push(char),
            }
        }
        let host = TextHost::new(&text);
        let mut fixture = Self {
            vim: Vim::new(),
            globals: VimGlobals::new(),
            host,
            effects: Vec::new(),
        };
        if !carets.is_empty() {
            let set = SelectionSet::new(carets, 0);
            fixture.vim.set_selections(
                &set,
                &fixture.host.snapshot(),
                fixture.globals.options.tab_width,
            );
        }
        fixture
    }

    /// Presses keys in Vim's notation.
    pub(crate) fn keys(&mut self, notation: &str) -> &mut Self {
        for key in Key::parse(notation, '\\') {
            self.press(key);
        }
        self
    }

    pub(crate) fn press(&mut self, key: Key) {
        let effects = self.vim.press(key, &mut self.globals, &mut self.host);
        self.effects.extend(effects);
    }

    pub(crate) fn is_inserting(&self) -> bool {
        matches!(
            self.vim.mode(),
            crate::vim::Mode::Insert | crate::vim::Mode::Replace
        )
    }

    pub(crate) fn text(&self) -> String {
        self.host.snapshot().to_string()
    }

    /// The text with a `|` at each caret.
    pub(crate) fn marked(&self) -> String {
        let snapshot = self.host.snapshot();
        let mut text = snapshot.to_string();
        for caret in self
            .vim
            .carets(&snapshot, self.globals.options.tab_width)
            .iter()
            .rev()
        {
            text.insert(caret.offset.0, '|');
        }
        text
    }

    /// The selected texts.
    pub(crate) fn selected(&self) -> Vec<String> {
        let snapshot = self.host.snapshot();
        let selections = self
            .vim
            .selections(&snapshot, self.globals.options.tab_width);
        let text = |span: Span| snapshot.text(span).into_owned();
        selections
            .iter()
            .map(|selection| text(selection.span()))
            .collect()
    }
}

/// Presses keys on a text and compares the result; `|` marks carets.
#[track_caller]
pub(crate) fn check(before: &str, keys: &str, after: &str) {
    let mut fixture = Fixture::new(before);
    fixture.keys(keys);
    assert_eq!(fixture.marked(), after, "after {keys} on {before:?}");
}
