//! Accepting an item of the completion list at every caret.
//!
//! Invariant: the insertion and its additional edits are one step of undo, unless the edits arrive
//! after `RESOLVE_WAIT`.
//! Start at `accept`.

use std::time::Duration;

use base::{Bias, ByteOffset, Span};
use gpui_kit::{Context, Task, Window};
use snippet::Snippet;
use text::{Edit, EditKind, Selection, SelectionSet};

use super::resolving::{self, LateEdits};
use super::session::AnswerOrigin;
use crate::completion::{CompletionGroup, CompletionId, CompletionItem, is_word_char};
use crate::editor::snippets::SnippetInsertion;
use crate::editor::{Editor, signature, vim_mode};
use crate::scroll::ScrollMargin;

/// Maximum wait for the additional edits of an accepted item.
const RESOLVE_WAIT: Duration = Duration::from_millis(150);

/// Maximum bytes of the rest of a word that is replaced.
const MAX_REST: usize = 200;

/// The text that an accepted item replaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AcceptMode {
    /// The typed word.
    Insert,
    /// The typed word and its rest behind the caret.
    Replace,
}

/// An accepted item that waits for its additional edits.
pub(super) struct PendingAccept {
    pub(super) item: (usize, CompletionId),
    mode: AcceptMode,
    _wait: Task<()>,
}

/// Handler of an action: accepts the selected item in place of the typed word. Passes the key on if
/// the item is the typed word.
pub(crate) fn accept_completion(
    editor: &mut Editor,
    window: &mut Window,
    cx: &mut Context<Editor>,
) {
    accept(editor, AcceptMode::Insert, window, cx);
}

/// Handler of an action: accepts the selected item in place of the whole word at the caret. Passes
/// the key on if the item is the typed word.
pub(crate) fn accept_completion_replacing(
    editor: &mut Editor,
    window: &mut Window,
    cx: &mut Context<Editor>,
) {
    accept(editor, AcceptMode::Replace, window, cx);
}

/// Accepts the item of a row, for a click.
pub(crate) fn accept_row(
    editor: &mut Editor,
    row: usize,
    window: &mut Window,
    cx: &mut Context<Editor>,
) {
    if let Some(session) = &mut editor.completions.session {
        session.list.select(row);
        accept(editor, AcceptMode::Insert, window, cx);
    }
}

/// Prepares the list for a caret command: an item that waits for its edits is inserted first, and a
/// commit character accepts the selected item.
pub(in crate::editor) fn before_command(
    editor: &mut Editor,
    typed: Option<&str>,
    window: &mut Window,
    cx: &mut Context<Editor>,
) {
    if editor.completions.session.is_none() {
        return;
    }
    insert_pending(editor, window, cx);
    let mut chars = typed.unwrap_or_default().chars();
    if let (Some(char), None) = (chars.next(), chars.next())
        && commits(editor, char)
    {
        insert_selected(editor, AcceptMode::Insert, window, cx);
    }
}

/// Returns whether a typed character accepts the selected item. Items of a list that may be older
/// than the word, and those that the user did not choose while the word is complete by itself, are
/// not accepted.
fn commits(editor: &Editor, char: char) -> bool {
    let session = editor.completions.session.as_ref();
    let Some(session) = session.filter(|session| session.is_shown()) else {
        return false;
    };
    let list = &session.list;
    let Some((_, item)) = list.selected() else {
        return false;
    };
    if is_word_char(char) || !item.commit_characters.contains(&char) {
        return false;
    }
    let word = list.query();
    let is_strict_prefix = item.filter_text.len() > word.len()
        && item.filter_text.starts_with(word)
        && !word.is_empty()
        && !list.has_exact_match();
    list.has_moved() || is_strict_prefix && !session.has_requests()
}

/// Accepts the selected item, at once or when its additional edits arrive.
fn accept(editor: &mut Editor, mode: AcceptMode, window: &mut Window, cx: &mut Context<Editor>) {
    editor.sync(cx);
    editor.follow_completions(cx);
    if !editor.shows_completions() {
        return cx.propagate();
    }
    let session = editor.completions.session.as_ref();
    let Some((group, item)) = session.and_then(|session| session.list.selected()) else {
        return cx.propagate();
    };
    let (group, item) = (group, item.clone());
    if changes_nothing(editor, &item, mode) {
        editor.dismiss_completions(cx);
        return cx.propagate();
    }
    if let CompletionGroup::Source(ix) = group
        && resolving::is_awaited(editor, ix, &item, cx)
    {
        return wait_for_edits(editor, (ix, item.id), mode, cx);
    }
    insert_selected(editor, mode, window, cx);
}

/// Returns whether the item is the typed word and replaces nothing else.
fn changes_nothing(editor: &Editor, item: &CompletionItem, mode: AcceptMode) -> bool {
    let session = editor.completions.session.as_ref();
    let is_word = session.is_some_and(|session| item.insert.text == session.list.query());
    let head = editor.selections.primary().head;
    let has_rest = mode == AcceptMode::Replace && word_rest(editor, head) > 0;
    is_word && !has_rest && !item.insert.is_snippet && item.additional_edits.is_empty()
}

fn wait_for_edits(
    editor: &mut Editor,
    item: (usize, CompletionId),
    mode: AcceptMode,
    cx: &mut Context<Editor>,
) {
    let window = editor.completions.window;
    let wait = cx.spawn(async move |this, cx| {
        cx.background_executor().timer(RESOLVE_WAIT).await;
        // The window or the view may have been closed.
        window
            .update(cx, |_, window, cx| {
                this.update(cx, |editor, cx| insert_pending(editor, window, cx))
                    .ok()
            })
            .ok();
    });
    if let Some(session) = &mut editor.completions.session {
        session.accepting = Some(PendingAccept {
            item,
            mode,
            _wait: wait,
        });
    }
}

/// Inserts the item that waits for its edits, if any, with those that are known.
pub(super) fn insert_pending(editor: &mut Editor, window: &mut Window, cx: &mut Context<Editor>) {
    let session = editor.completions.session.as_mut();
    if let Some(pending) = session.and_then(|session| session.accepting.take()) {
        insert_selected(editor, pending.mode, window, cx);
    }
}

/// Inserts the selected item at every caret and closes the list.
fn insert_selected(
    editor: &mut Editor,
    mode: AcceptMode,
    window: &mut Window,
    cx: &mut Context<Editor>,
) {
    editor.sync(cx);
    let Some(mut session) = editor.completions.session.take() else {
        return;
    };
    let selected = session.list.selected();
    let Some((group, item)) = selected.map(|(group, item)| (group, item.clone())) else {
        return;
    };
    let source = match group {
        CompletionGroup::Source(ix) => Some(ix),
        CompletionGroup::Keywords | CompletionGroup::Words => None,
    };
    let origin = source.and_then(|ix| session.asked.get(ix)?.origin.clone());
    let place = ReplacedText::of(&item, origin.as_ref(), session.list.query().len(), mode);
    let spans = place.spans(editor);
    let additional = origin.as_ref().map_or_else(Vec::new, |origin| {
        resolving::edits_now(editor, origin, &item.additional_edits, &spans, cx)
    });
    let is_inserted = if item.insert.is_snippet {
        let source = source.and_then(|ix| editor.completions.sources.get(ix));
        let variables = source.map_or_else(Vec::new, |source| source.variables(cx));
        let insertion = SnippetInsertion {
            snippet: &Snippet::parse(&item.insert.text),
            typed: session.list.query(),
            variable: &|name: &str| {
                let value = variables.iter().find(|(known, _)| *known == name);
                value.map(|(_, value)| value.clone())
            },
        };
        editor.insert_snippet_over(&spans, additional, &insertion, window, cx)
    } else {
        vim_mode::note_completion(editor, &spans, &item.insert.text);
        insert_text(editor, &item, &spans, additional, cx)
    };
    editor.completions_changed(cx);
    if !is_inserted {
        return;
    }
    editor.unfold_at_carets(cx);
    editor.follow = Some(ScrollMargin::Fit);
    editor.tell_input_method(window);
    editor.completions.memory.note_accepted(&item.label);
    signature::completion_inserted(editor, cx);
    let Some(ix) = source else {
        return;
    };
    let late = session.resolved.remove(&(ix, item.id)).flatten();
    editor.completions.late = late
        .zip(origin)
        .map(|(task, origin)| LateEdits::new((session.number, ix, item.id), origin, task));
    if let Some(source) = editor.completions.sources.get(ix).cloned() {
        source.accepted(&item, cx);
    }
}

/// The text around each caret that an item replaces.
struct ReplacedText {
    /// Bytes before the newest caret.
    before: usize,
    after: ReplacedRest,
}

/// The text behind a caret that an item replaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ReplacedRest {
    /// The number of bytes behind the newest caret, if the same text follows.
    Bytes(usize),
    /// The rest of the word.
    Word,
}

impl ReplacedText {
    /// Returns what `item` replaces when a word of `typed` bytes precedes the caret.
    fn of(
        item: &CompletionItem,
        origin: Option<&AnswerOrigin>,
        typed: usize,
        mode: AcceptMode,
    ) -> Self {
        let insert = &item.insert;
        let span = match mode {
            AcceptMode::Insert => insert.insert_span.or(insert.replace_span),
            AcceptMode::Replace => insert.replace_span.or(insert.insert_span),
        };
        if let Some((span, origin)) = span.zip(origin) {
            // Text typed since the answer lies between the word's start and the caret.
            let lead = origin.start.0.saturating_sub(span.start.0);
            let trail = span.end.0.saturating_sub(origin.offset.0);
            return Self {
                before: typed + lead,
                after: ReplacedRest::Bytes(trail),
            };
        }
        Self {
            before: typed,
            after: match mode {
                AcceptMode::Insert => ReplacedRest::Bytes(0),
                AcceptMode::Replace => ReplacedRest::Word,
            },
        }
    }

    /// Returns the spans to replace, one per selection, sorted and disjoint. Around a caret where
    /// the text differs from that around the newest caret, nothing is replaced.
    fn spans(&self, editor: &Editor) -> Vec<Span> {
        let snapshot = &editor.snapshot;
        let newest = editor.selections.primary().head;
        let start = ByteOffset(newest.0.saturating_sub(self.before));
        let before = snapshot.text(Span::new(snapshot.clip(start, Bias::Right), newest));
        let trail = match self.after {
            ReplacedRest::Bytes(bytes) => bytes,
            ReplacedRest::Word => 0,
        };
        let after = (newest + trail).min(snapshot.len());
        let after = snapshot.text(Span::new(newest, snapshot.clip(after, Bias::Left)));
        let mut floor = ByteOffset(0);
        let mut spans = Vec::with_capacity(editor.selections.len());
        for selection in editor.selections.iter() {
            let (start, end) = (selection.start(), selection.end());
            let start = start_of(snapshot, &before, start).max(floor);
            let end = match self.after {
                ReplacedRest::Bytes(_) => end_of(snapshot, &after, end),
                ReplacedRest::Word => end + word_rest(editor, end),
            };
            let span = Span::new(start, end.max(start));
            floor = span.end;
            spans.push(span);
        }
        spans
    }
}

/// Returns the start of `text` if it ends at `offset`; otherwise `offset`.
fn start_of(snapshot: &text::Snapshot, text: &str, offset: ByteOffset) -> ByteOffset {
    let start = ByteOffset(offset.0.saturating_sub(text.len()));
    let is_boundary = snapshot.clip(start, Bias::Left) == start;
    if is_boundary && snapshot.text(Span::new(start, offset)) == text {
        start
    } else {
        offset
    }
}

/// Returns the end of `text` if it starts at `offset`; otherwise `offset`.
fn end_of(snapshot: &text::Snapshot, text: &str, offset: ByteOffset) -> ByteOffset {
    let end = (offset + text.len()).min(snapshot.len());
    let is_boundary = snapshot.clip(end, Bias::Left) == end;
    if is_boundary && snapshot.text(Span::new(offset, end)) == text {
        end
    } else {
        offset
    }
}

/// Returns the bytes of the word behind `offset`.
fn word_rest(editor: &Editor, offset: ByteOffset) -> usize {
    let chars = editor.snapshot.chars_at(offset);
    let mut bytes = 0;
    for char in chars.take(MAX_REST) {
        if !is_word_char(char) {
            break;
        }
        bytes += char.len_utf8();
    }
    bytes
}

fn insert_text(
    editor: &mut Editor,
    item: &CompletionItem,
    spans: &[Span],
    additional: Vec<Edit>,
    cx: &mut Context<Editor>,
) -> bool {
    let ending = editor.model.read(cx).document().buffer().line_ending();
    let text = item.insert.text.replace("\r\n", "\n");
    let text = text.replace('\n', ending.as_str());
    let inserted = spans
        .iter()
        .map(|span| Edit::new(*span, text.as_str()))
        .collect();
    let (edits, starts) = merged_edits(inserted, additional);
    let carets = starts
        .iter()
        .map(|start| Selection::caret(*start + text.len()));
    let selections = SelectionSet::new(carets.collect(), editor.selections.primary_ix());
    editor.edit(&edits, selections, EditKind::Other, cx)
}

/// Merges the edits at the carets with further ones, sorted. Also returns the starts of the inserted
/// texts, in the text after all edits.
pub(in crate::editor) fn merged_edits(
    at_carets: Vec<Edit>,
    additional: Vec<Edit>,
) -> (Vec<Edit>, Vec<ByteOffset>) {
    let mut tagged: Vec<(Edit, bool)> = additional.into_iter().map(|edit| (edit, false)).collect();
    tagged.extend(at_carets.into_iter().map(|edit| (edit, true)));
    tagged.sort_by_key(|(edit, _)| (edit.span.start, edit.span.end));
    let (mut added, mut removed) = (0, 0);
    let mut starts = Vec::new();
    for (edit, is_at_caret) in &tagged {
        if *is_at_caret {
            starts.push(ByteOffset(
                (edit.span.start.0 + added).saturating_sub(removed),
            ));
        }
        added += edit.text.len();
        removed += edit.span.len();
    }
    let edits = tagged.into_iter().map(|(edit, _)| edit).collect();
    (edits, starts)
}
