//! Snippets in a view: insertion at the carets, and moving between tab stops.
//!
//! Invariant: while a session lasts, all carets are in the inserted texts; Tab moves between tab
//! stops and takes no suggestion.
//! Start at `Editor::insert_snippet`.

use base::{Bias, ByteOffset, Span};
use gpui_kit::{Context, Window};
use snippet::{Expansion, ExpansionOptions, Snippet, SnippetSession};
use text::{Edit, EditKind, Selection, SelectionSet};

use super::completing::accepting::merged_edits;
use super::{Editor, vim_mode};
use crate::scroll::ScrollMargin;

/// A snippet to insert.
pub struct SnippetInsertion<'a> {
    /// The snippet.
    pub snippet: &'a Snippet,
    /// Text that the snippet replaces where it precedes a caret, such as the typed abbreviation.
    pub typed: &'a str,
    /// Returns the value of a variable that does not depend on the caret; `None` for an unknown one.
    pub variable: &'a dyn Fn(&str) -> Option<String>,
}

impl Editor {
    /// Inserts a snippet at every caret, over the selections, and selects its first tab stop.
    /// Returns `false` if the text is read-only.
    pub fn insert_snippet(
        &mut self,
        insertion: &SnippetInsertion,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) -> bool {
        self.sync(cx);
        let mut floor = ByteOffset(0);
        let mut spans = Vec::with_capacity(self.selections.len());
        for selection in self.selections.iter() {
            let span = self.replaced_span(selection, insertion.typed, floor);
            floor = span.end;
            spans.push(span);
        }
        self.insert_snippet_over(&spans, Vec::new(), insertion, window, cx)
    }

    /// Inserts a snippet in place of `spans`, one per selection, and selects its first tab stop.
    /// Applies `additional` edits elsewhere in the same step. Returns `false` if the text is
    /// read-only.
    pub(super) fn insert_snippet_over(
        &mut self,
        spans: &[Span],
        additional: Vec<Edit>,
        insertion: &SnippetInsertion,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) -> bool {
        let expand = |(number, span): (usize, &Span)| self.expand_at(*span, number, insertion, cx);
        let expansions: Vec<Expansion> = spans.iter().enumerate().map(expand).collect();
        let at_carets = spans.iter().zip(&expansions);
        let at_carets = at_carets.map(|(span, it)| Edit::new(*span, it.text.clone()));
        let (edits, starts) = merged_edits(at_carets.collect(), additional);
        let expansions: Vec<(ByteOffset, Expansion)> = starts.into_iter().zip(expansions).collect();
        let primary = self.selections.primary_ix();
        let (selections, session) = SnippetSession::begin(&expansions, primary);
        if self.model.read(cx).document().can_edit() {
            vim_mode::begin_insertion(self);
        }
        if !self.edit(&edits, selections, EditKind::Other, cx) {
            return false;
        }
        self.snippet = session;
        self.reveal_stop(window, cx);
        true
    }

    /// Returns whether the tab stops of a snippet are being filled in.
    pub(crate) fn is_in_snippet(&self) -> bool {
        self.snippet.is_some()
    }

    /// Returns the spans of the tab stops that are not being filled in.
    pub(crate) fn other_tab_stops(&self) -> impl Iterator<Item = Span> {
        self.snippet.iter().flat_map(SnippetSession::other_stops)
    }

    /// Ends the session if a caret left the inserted texts.
    pub(super) fn check_snippet(&mut self) {
        let selections = &self.selections;
        self.snippet
            .take_if(|session| !session.contains(selections));
    }

    /// Returns the selection, extended over the typed text before it, but not before `floor`.
    fn replaced_span(&self, selection: &Selection, typed: &str, floor: ByteOffset) -> Span {
        let span = selection.span();
        let start = ByteOffset(span.start.0.saturating_sub(typed.len()));
        let is_typed = start >= floor
            && self.snapshot.clip(start, Bias::Left) == start
            && self.snapshot.text(Span::new(start, span.start)) == typed;
        if is_typed {
            Span::new(start, span.end)
        } else {
            span
        }
    }

    fn expand_at(
        &self,
        span: Span,
        number: usize,
        insertion: &SnippetInsertion,
        cx: &Context<Self>,
    ) -> Expansion {
        let row = self.snapshot.point_at(span.start).row;
        let line = self.snapshot.row_text(row);
        let before = span.start.0 - self.snapshot.row_start(row).0;
        let indent = line.len() - line.trim_start_matches([' ', '\t']).len();
        let indent = &line[..indent.min(before)];
        let indent_unit = if self.caret_options.hard_tabs {
            "\t".to_owned()
        } else {
            " ".repeat(self.caret_options.tab_width.max(1) as usize)
        };
        let buffer = self.model.read(cx).document().buffer();
        let of_caret = |name: &str| match name {
            "TM_SELECTED_TEXT" => Some(self.snapshot.text(span).into_owned()),
            "TM_CURRENT_LINE" => Some(line.to_string()),
            "TM_CURRENT_WORD" => Some(insertion.typed.to_owned()),
            "TM_LINE_INDEX" => Some(row.0.to_string()),
            "TM_LINE_NUMBER" => Some((row.0 + 1).to_string()),
            "CURSOR_INDEX" => Some(number.to_string()),
            "CURSOR_NUMBER" => Some((number + 1).to_string()),
            name => self
                .file_variable(name, cx)
                .or_else(|| (insertion.variable)(name)),
        };
        insertion.snippet.expand(&ExpansionOptions {
            indent,
            indent_unit: &indent_unit,
            line_ending: buffer.line_ending().as_str(),
            variable: &of_caret,
        })
    }

    /// Returns a variable that names the file or the comments of its language.
    fn file_variable(&self, name: &str, cx: &Context<Self>) -> Option<String> {
        let model = self.model.read(cx);
        let comments = model.language().map(|language| language.comments());
        let path = model.document().path();
        match name {
            "TM_FILENAME" => path.map(|path| path.name()),
            "TM_FILENAME_BASE" => path.map(|path| stem(&path.name()).to_owned()),
            "TM_DIRECTORY" => path?.parent().map(|folder| folder.to_string()),
            "TM_FILEPATH" => path.map(|path| path.to_string()),
            "LINE_COMMENT" => comments?.line.map(str::to_owned),
            "BLOCK_COMMENT_START" => comments?.block.map(|(start, _)| start.to_owned()),
            "BLOCK_COMMENT_END" => comments?.block.map(|(_, end)| end.to_owned()),
            _ => None,
        }
    }

    fn go_to_stop(
        &mut self,
        step: fn(&mut SnippetSession) -> SelectionSet,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        self.sync(cx);
        let Some(session) = &mut self.snippet else {
            cx.propagate();
            return;
        };
        let edits = session.transforms(&self.snapshot);
        if !edits.is_empty() {
            let selections = self.selections.transform(|it| shifted(it, &edits));
            self.edit(&edits, selections, EditKind::Other, cx);
        }
        let Some(mut session) = self.snippet.take() else {
            return;
        };
        let selections = step(&mut session);
        self.snippet = (!session.is_at_end()).then_some(session);
        vim_mode::begin_insertion(self);
        self.set_selections(selections, cx);
        self.reveal_stop(window, cx);
    }

    fn reveal_stop(&mut self, window: &mut Window, cx: &mut Context<Self>) {
        self.unfold_at_carets(cx);
        self.follow = Some(ScrollMargin::Fit);
        self.tell_input_method(window);
        cx.notify();
    }
}

/// Handler of an action: moves to the next tab stop. The final one ends the session.
pub(crate) fn next_tab_stop(editor: &mut Editor, window: &mut Window, cx: &mut Context<Editor>) {
    editor.go_to_stop(SnippetSession::next_stop, window, cx);
}

/// Handler of an action: moves to the previous tab stop.
pub(crate) fn previous_tab_stop(
    editor: &mut Editor,
    window: &mut Window,
    cx: &mut Context<Editor>,
) {
    editor.go_to_stop(SnippetSession::previous_stop, window, cx);
}

/// Handler of an action: ends the session and keeps the text.
pub(crate) fn leave_snippet(editor: &mut Editor, _: &mut Window, cx: &mut Context<Editor>) {
    if editor.snippet.take().is_some() {
        cx.notify();
    } else {
        cx.propagate();
    }
}

/// Returns a file name without its last extension.
fn stem(name: &str) -> &str {
    match name.rsplit_once('.') {
        Some((stem, _)) if !stem.is_empty() => stem,
        _ => name,
    }
}

/// Maps a selection, which no edit changes, through edits.
pub(super) fn shifted(selection: &Selection, edits: &[Edit]) -> Selection {
    let map = |offset: ByteOffset| {
        let before = edits.iter().filter(|edit| edit.span.end <= offset);
        let (added, removed) = before.fold((0, 0), |(added, removed), edit| {
            (added + edit.text.len(), removed + edit.span.len())
        });
        ByteOffset((offset.0 + added).saturating_sub(removed))
    };
    Selection::new(map(selection.anchor), map(selection.head))
}
