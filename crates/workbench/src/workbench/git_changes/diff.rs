//! A diff in one tab: excerpts of all files with their hunks. Those of uncommitted changes have buttons to stage, unstage
//! and discard them.
//!
//! Invariant: the diff that is shown is the one from which lines are staged.
//! Start at `open`; `source` says what is compared, `loading` reads it, `beside` shows the text before.

mod alignment;
mod beside;
mod loading;
mod moves;
mod source;
mod view;

use std::sync::Arc;

use base::{Row, Span};
use display::BlockId;
use editor::{
    DocumentModel, Editor, Excerpt, Excerpts, ReviewMark, reviewed_rows, set_unwrapped,
    show_changed_words, show_moved_rows,
};
use git::merge::TreePath;
use git::staging::{DiffHunk, FileDiff, LineSelection};
use gpui_kit::{AnyView, AppContext as _, Context, Entity, Focusable as _, Task, Window};
use serde_json::Value;
use text::RowSpan;
use ui::{ActiveSettings as _, Tone};

use super::hunk_block;
use super::hunk_parts::HunkPart;
use super::moved_parts::{MoveEnd, PartMove};
use crate::configuration::Configuration;
use crate::documents::Documents;
use crate::item::TabItem;
use crate::layout::{ItemId, TabOpenMode};
use crate::notices::Notice;
use crate::workbench::changed_words::{ChangedWords, WhitespaceChanges};
use crate::workbench::removed_lines::LineKinds;
use crate::workbench::{Workbench, excerpts};
use beside::BeforeSide;
use loading::{LoadedDiff, environment, load, reload};
pub(super) use moves::{go_to_moved_lines, go_to_other_end};
pub(super) use source::{BeforeText, ComparedTexts, DiffSource, StagingPlace};
pub(super) use view::DiffLayout;
use view::DiffView;

/// Rows around a hunk.
const CONTEXT: u32 = 3;

/// A diff in a tab.
pub(super) struct OpenDiff {
    pub(super) item: ItemId,
    /// The text after the changes.
    pub(super) editor: Entity<Editor>,
    pub(super) source: DiffSource,
    view: Entity<DiffView>,
    layout: DiffLayout,
    /// The treatment of white space with which its rows were chosen.
    whitespace: WhitespaceChanges,
    files: Vec<LoadedDiff>,
    /// The hunks of the marks, in text order.
    pub(super) hunks: Vec<ShownHunk>,
    /// The text before, in the layout side by side.
    before: Option<BeforeSide>,
    /// The space in the text after, in that layout.
    spaces: Vec<BlockId>,
    _refresh: Option<Task<()>>,
}

/// A part of a hunk with the diff to which it belongs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ShownHunk {
    /// The place where its lines are staged; `None` if they are only compared.
    pub(super) staging: Option<StagingPlace>,
    pub(super) diff: Arc<FileDiff>,
    /// The hunk, which is staged as a whole.
    pub(super) hunk: DiffHunk,
    /// The rows of it that are shown.
    pub(super) shown: DiffHunk,
    /// The words that differ in these rows.
    pub(super) words: Arc<ChangedWords>,
    /// The syntax highlights of each removed line; empty if they are not known.
    pub(super) kinds: Arc<[LineKinds]>,
    /// The lines that moved.
    pub(super) moves: Arc<[PartMove]>,
}

impl ShownHunk {
    pub(super) fn lines(&self) -> LineSelection {
        LineSelection::of_hunks([&self.hunk])
    }
}

/// Shows a diff in a new tab, with the caret at the first hunk of `path`, if there is one.
pub(super) fn open(
    workbench: &mut Workbench,
    source: DiffSource,
    path: Option<TreePath>,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let loading = load(workbench, &source, window, cx);
    cx.spawn_in(window, async move |this, cx| {
        let loaded = loading.await;
        this.update_in(cx, |this, window, cx| {
            let files = match loaded {
                Ok(files) => files,
                Err(failure) => return this.report_error(failure.sentence, window, cx),
            };
            let has_path = |path: &TreePath| files.iter().any(|file| file.diff.path == *path);
            if files.is_empty() || !path.as_ref().is_none_or(has_path) {
                let notice = Notice::new(Tone::Info, source.nothing());
                this.report(notice.key("git"), window, cx);
            }
            if !files.is_empty() {
                show(this, source, files, None, window, cx);
                go_to_file(this, path.as_ref(), window, cx);
            }
        })
        // The window may be gone by then.
        .ok();
    })
    .detach();
}

/// Returns the view of a tab with a diff; `None` if the tab has none.
pub(in crate::workbench) fn view_of(workbench: &Workbench, item: ItemId) -> Option<AnyView> {
    let diff = workbench.git.diffs.iter().find(|diff| diff.item == item)?;
    Some(diff.view.clone().into())
}

/// Shows loaded files in a new tab, or in the tab `item`.
fn show(
    workbench: &mut Workbench,
    source: DiffSource,
    files: Vec<LoadedDiff>,
    item: Option<ItemId>,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let editor = combine(workbench, &files, window, cx);
    let layout = layout_in(workbench, item, cx);
    let tab = TabItem::Excerpts(editor.clone(), source.title());
    let item = match item {
        Some(item) => {
            let subscriptions = workbench.subscribe_to(item, &tab, window, cx);
            workbench.keep_item(item, tab, subscriptions, cx);
            workbench.layout_changed(cx);
            item
        }
        None => {
            workbench.leave_place(cx);
            let pane = workbench.layout.active_pane();
            workbench.add_item(tab, pane, TabOpenMode::Lasting, window, cx)
        }
    };
    let this = cx.weak_entity();
    let view = cx.new(|cx| DiffView::new(item, source.names(), editor.clone(), this, cx));
    workbench.git.diffs.retain(|diff| diff.item != item);
    workbench.git.diffs.push(OpenDiff {
        item,
        editor,
        source,
        view,
        layout: DiffLayout::Unified,
        whitespace: workbench.git.whitespace,
        files,
        hunks: Vec::new(),
        before: None,
        spaces: Vec::new(),
        _refresh: None,
    });
    set_layout(workbench, item, layout, window, cx);
}

/// Returns the layout of a diff before it is laid out: the one that its tab had, or that of the settings.
fn layout_in(workbench: &Workbench, item: Option<ItemId>, cx: &Context<Workbench>) -> DiffLayout {
    let mut diffs = workbench.git.diffs.iter();
    let known = diffs.find(|diff| Some(diff.item) == item);
    match known {
        Some(diff) => diff.layout,
        None if cx.settings().git.side_by_side_diffs => DiffLayout::SideBySide,
        None => DiffLayout::Unified,
    }
}

/// Creates the editor of the rows around all hunks.
fn combine(
    workbench: &Workbench,
    files: &[LoadedDiff],
    window: &mut Window,
    cx: &mut Context<Workbench>,
) -> Entity<Editor> {
    let parts = files.iter().flat_map(|file| {
        let count = file.source.read(cx).snapshot().row_count();
        let rows = excerpt_rows(&file.parts, count).into_iter();
        rows.map(move |rows| Excerpt {
            source: file.source.clone(),
            rows,
        })
    });
    let parts: Vec<Excerpt> = parts.collect();
    for part in &parts {
        Documents::stop_waiting(&part.source, cx);
    }
    let environment = environment(workbench);
    let combined = cx.new(|cx| Excerpts::new(parts, environment, cx));
    let editor = Editor::of_excerpts(combined.clone(), window, cx);
    excerpts::insert_headers(workbench, &editor, &combined, cx);
    editor.update(cx, |editor, cx| editor.set_scroll_top(0.0, cx));
    editor
}

/// Shows both texts of a diff side by side, or one below the other.
fn set_layout(
    workbench: &mut Workbench,
    item: ItemId,
    layout: DiffLayout,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let mut diffs = workbench.git.diffs.iter_mut();
    let Some(diff) = diffs.find(|diff| diff.item == item) else {
        return;
    };
    if diff.layout != layout {
        diff.layout = layout;
        let is_beside = layout == DiffLayout::SideBySide;
        let editor = diff.editor.clone();
        editor.update(cx, |editor, cx| set_unwrapped(editor, is_beside, cx));
    }
    mark_again(workbench, item, window, cx);
}

/// Places the marks of the hunks, and the text before in the layout side by side.
fn mark_again(
    workbench: &mut Workbench,
    item: ItemId,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let Some(ix) = workbench.git.diffs.iter().position(|it| it.item == item) else {
        return;
    };
    let diff = &mut workbench.git.diffs[ix];
    let editor = diff.editor.clone();
    let Some(combined) = editor.read(cx).excerpts().cloned() else {
        return;
    };
    diff.hunks = mark(
        &editor,
        &combined,
        (&diff.source, diff.layout),
        &diff.files,
        cx,
    );
    beside::lay_out(workbench, ix, window, cx);
    let diff = &workbench.git.diffs[ix];
    let before = diff.before.as_ref().map(|before| before.editor.clone());
    diff.view.update(cx, |view, cx| view.set_before(before, cx));
}

/// Returns the rows of a text around its hunks.
fn excerpt_rows(parts: &[HunkPart], row_count: u32) -> Vec<RowSpan> {
    let mut rows: Vec<RowSpan> = Vec::new();
    for hunk in parts.iter().map(|part| &part.shown) {
        let start = Row(hunk.work.start.0.saturating_sub(CONTEXT).min(row_count - 1));
        let end = Row((hunk.work.end.0 + CONTEXT).clamp(start.0 + 1, row_count.max(start.0 + 1)));
        match rows.last_mut() {
            Some(last) if start <= last.end => last.end = end.max(last.end),
            _ => rows.push(RowSpan { start, end }),
        }
    }
    rows
}

/// Marks the hunks of the diffs that lie in an excerpt; returns them in text order.
fn mark(
    editor: &Entity<Editor>,
    combined: &Entity<Excerpts>,
    (source, layout): (&DiffSource, DiffLayout),
    files: &[LoadedDiff],
    cx: &mut Context<Workbench>,
) -> Vec<ShownHunk> {
    let mut placed: Vec<(RowSpan, ShownHunk)> = Vec::new();
    for file in files {
        for part in &file.parts {
            if let Some(rows) = place(combined, file, &part.shown, cx) {
                let shown = ShownHunk {
                    staging: source.staging().cloned(),
                    diff: file.diff.clone(),
                    hunk: part.hunk,
                    shown: part.shown,
                    words: part.words.clone(),
                    kinds: part.kinds.clone(),
                    moves: part.moves.clone(),
                };
                placed.push((rows, shown));
            }
        }
    }
    placed.sort_by_key(|(rows, _)| rows.start);
    let workbench = cx.weak_entity();
    let marks = placed.iter().map(|(rows, shown)| {
        let (height, view) = hunk_block::render(shown, layout, workbench.clone(), cx);
        ReviewMark {
            rows: *rows,
            height,
            view,
            sides: None,
        }
    });
    let marks: Vec<ReviewMark> = marks.collect();
    let text = editor.read(cx).model().read(cx).snapshot();
    let words = placed.iter();
    let words = words.flat_map(|(rows, shown)| shown.words.added_spans(&text, rows.start));
    let words: Vec<Span> = words.collect();
    let moved = placed
        .iter()
        .flat_map(|(rows, shown)| moved_here(*rows, shown));
    let moved: Vec<RowSpan> = moved.collect();
    editor.update(cx, |editor, cx| {
        editor.set_review(marks, cx);
        show_changed_words(editor, &words, cx);
        show_moved_rows(editor, &moved, cx);
    });
    placed.into_iter().map(|(_, shown)| shown).collect()
}

/// Returns the rows of the combined text that a hunk added at `rows` and that moved there.
fn moved_here(rows: RowSpan, shown: &ShownHunk) -> Vec<RowSpan> {
    let here = shown.moves.iter().filter(|it| it.end == MoveEnd::Added);
    let at = |row: Row| rows.start + row.0.saturating_sub(shown.shown.work.start.0);
    let moved = here.map(|it| RowSpan {
        start: at(it.rows.start),
        end: at(it.rows.end),
    });
    moved.collect()
}

/// Returns the rows of the combined text that a hunk added; `None` if no excerpt has them.
fn place(
    combined: &Entity<Excerpts>,
    file: &LoadedDiff,
    hunk: &DiffHunk,
    cx: &Context<Workbench>,
) -> Option<RowSpan> {
    let combined = combined.read(cx);
    let start = hunk.work.start;
    let holds = |ix: &usize| {
        combined.excerpt(*ix, cx).is_some_and(|(source, rows)| {
            source == file.source && rows.start <= start && hunk.work.end <= rows.end
        })
    };
    let ix = (0..combined.count()).find(holds)?;
    let (_, rows) = combined.excerpt(ix, cx)?;
    let first = combined.first_row(ix, cx)? + (start.0 - rows.start.0);
    Some(RowSpan {
        start: first,
        end: first + hunk.work.len(),
    })
}

/// Moves the caret of the active diff to the first hunk of a file, or to the first of all, and focuses it.
fn go_to_file(
    workbench: &mut Workbench,
    path: Option<&TreePath>,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let Some(diff) = active(workbench) else {
        return;
    };
    let is_there = |hunk: &ShownHunk| path.is_none_or(|path| hunk.diff.path == *path);
    let ix = diff.hunks.iter().position(is_there);
    let editor = diff.editor.clone();
    if let Some(ix) = ix {
        editor.update(cx, |editor, cx| editor.go_to_reviewed(ix, cx));
    }
    workbench.focus_active(window, cx);
}

/// Returns the diff of the active tab; `None` if it shows another item.
pub(super) fn active(workbench: &Workbench) -> Option<&OpenDiff> {
    let item = workbench.layout.active_item()?;
    workbench.git.diffs.iter().find(|diff| diff.item == item)
}

/// Returns the hunk at the caret of the active diff.
pub(super) fn hunk_at_caret(
    workbench: &Workbench,
    cx: &mut Context<Workbench>,
) -> Option<ShownHunk> {
    let diff = active(workbench)?;
    let ix = diff
        .editor
        .clone()
        .update(cx, |editor, cx| editor.reviewed_at_caret(cx))?;
    diff.hunks.get(ix).cloned()
}

/// Moves the caret of the active diff to the next change below it, or to the one above, across files.
pub(super) fn step(workbench: &Workbench, is_next: bool, cx: &mut Context<Workbench>) {
    let Some(diff) = active(workbench) else {
        return;
    };
    diff.editor.update(cx, |editor, cx| {
        let rows = reviewed_rows(editor, cx);
        let caret = editor.caret_point(cx).row;
        let next = if is_next {
            rows.iter().position(|rows| rows.start > caret)
        } else {
            rows.iter().rposition(|rows| rows.start < caret)
        };
        if let Some(ix) = next {
            editor.go_to_reviewed(ix, cx);
        }
    });
}

/// Leaves changes of white space alone out of the diffs, or shows them again.
pub(super) fn toggle_whitespace(
    workbench: &mut Workbench,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let (whitespace, text) = match workbench.git.whitespace {
        WhitespaceChanges::Shown => (
            WhitespaceChanges::Ignored,
            "Diffs leave out changes of white space alone. Staging still takes whole changes, with their white space.",
        ),
        WhitespaceChanges::Ignored => (WhitespaceChanges::Shown, "Diffs show all changes"),
    };
    workbench.git.whitespace = whitespace;
    workbench.report(Notice::new(Tone::Info, text).key("git"), window, cx);
    refresh_those(workbench, |_| true, window, cx);
}

/// Shows both texts of diffs side by side, or one below the other, and remembers it in the settings.
pub(super) fn toggle_side_by_side(cx: &mut Context<Workbench>) {
    let value = Value::from(!cx.settings().git.side_by_side_diffs);
    let path = ["git", "side_by_side_diffs"];
    Configuration::of(cx).update(cx, |configuration, cx| {
        // Each diff follows the settings once it is drawn. A failure is reported by the configuration.
        configuration.write_setting(&path, value, cx).detach();
    });
}

/// Makes the diffs of open tabs again after the changes of their repositories were read.
pub(super) fn refresh(workbench: &mut Workbench, window: &mut Window, cx: &mut Context<Workbench>) {
    refresh_those(workbench, DiffSource::follows_repository, window, cx);
}

/// Makes the diffs of open tabs again whose source is one of `wanted`.
fn refresh_those(
    workbench: &mut Workbench,
    wanted: fn(&DiffSource) -> bool,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let items: Vec<ItemId> = workbench.layout.items();
    workbench
        .git
        .diffs
        .retain(|diff| items.contains(&diff.item));
    let tabs = workbench.git.diffs.iter().filter(|it| wanted(&it.source));
    let tabs: Vec<_> = tabs.map(|diff| (diff.item, diff.source.clone())).collect();
    let whitespace = workbench.git.whitespace;
    for (item, source) in tabs {
        let loading = load(workbench, &source, window, cx);
        let refreshing = cx.spawn_in(window, async move |this, cx| {
            // The failure of a reading leaves the diff as it is.
            let Ok(files) = loading.await else {
                return;
            };
            this.update_in(cx, |this, window, cx| {
                replace(this, item, (files, whitespace), window, cx);
            })
            // The window may be gone by then.
            .ok();
        });
        keep_refresh(workbench, item, refreshing);
    }
}

/// Keeps a refresh of a tab, and drops one in progress, whose result would be older.
fn keep_refresh(workbench: &mut Workbench, item: ItemId, refreshing: Task<()>) {
    let mut diffs = workbench.git.diffs.iter_mut();
    if let Some(diff) = diffs.find(|diff| diff.item == item) {
        diff._refresh = Some(refreshing);
    }
}

/// Compares a text of a tab again after typing in it rested, where its rows must stay beside others or where only the
/// texts tell the difference.
pub(in crate::workbench) fn text_rested(
    workbench: &mut Workbench,
    item: ItemId,
    document: &Entity<DocumentModel>,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let Some(diff) = workbench.git.diffs.iter().find(|it| it.item == item) else {
        return;
    };
    let is_of_texts = matches!(diff.source, DiffSource::Texts(_));
    if diff.layout == DiffLayout::Unified && !is_of_texts {
        return;
    }
    let Some(index) = diff.files.iter().position(|it| it.source == *document) else {
        return;
    };
    let (source, files) = (diff.source.clone(), diff.files.clone());
    let loading = reload(workbench, &source, (files, index), window, cx);
    let refreshing = cx.spawn_in(window, async move |this, cx| {
        let Some(files) = loading.await else {
            return;
        };
        this.update_in(cx, |this, window, cx| {
            let mut diffs = this.git.diffs.iter_mut();
            if let Some(diff) = diffs.find(|diff| diff.item == item) {
                diff.files = files;
                mark_again(this, item, window, cx);
            }
        })
        // The window may be gone by then.
        .ok();
    });
    keep_refresh(workbench, item, refreshing);
}

/// Shows new diffs in a tab.
fn replace(
    workbench: &mut Workbench,
    item: ItemId,
    (files, whitespace): (Vec<LoadedDiff>, WhitespaceChanges),
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let mut diffs = workbench.git.diffs.iter_mut();
    let Some(diff) = diffs.find(|it| it.item == item) else {
        return;
    };
    let is_switched = diff.whitespace != whitespace;
    if !is_switched && is_same(diff, &files) {
        return;
    }
    if !is_switched && diff.source.is_editable() {
        // The files in the working tree are the same: only their hunks are others.
        diff.files = files;
        return mark_again(workbench, item, window, cx);
    }
    if !files.is_empty() {
        let had_focus = diff.editor.read(cx).focus_handle(cx).is_focused(window);
        let source = diff.source.clone();
        show(workbench, source, files, Some(item), window, cx);
        if had_focus {
            workbench.focus_active(window, cx);
        }
        return;
    }
    diff.files.clear();
    diff.whitespace = whitespace;
    mark_again(workbench, item, window, cx);
}

/// Returns whether a tab shows the hunks of these files already.
fn is_same(diff: &OpenDiff, files: &[LoadedDiff]) -> bool {
    let all = files.iter().flat_map(|file| &file.parts);
    let is_known = |hunk: &ShownHunk| files.iter().any(|file| file.diff == hunk.diff);
    let shown = diff.hunks.iter().map(|it| &it.shown);
    shown.eq(all.map(|part| &part.shown)) && diff.hunks.iter().all(is_known)
}
