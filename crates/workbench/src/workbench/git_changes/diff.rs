//! The diff of all changed files of a repository in one tab: excerpts of the files with their hunks, each with buttons
//! to stage, unstage and discard it.
//!
//! Invariant: the diff that is shown is the one from which lines are staged.

use std::sync::Arc;

use base::{AbsPath, LogErr as _, Row, Span};
use editor::{
    DocumentEnvironment, DocumentModel, Editor, Excerpt, Excerpts, ReviewMark, reviewed_rows,
    show_changed_words,
};
use git::merge::TreePath;
use git::staging::{DiffHunk, FileDiff, LineSelection, Side};
use git_panel::{ChangesPanel, DiffRequest, GitAnswer};
use gpui_kit::{AppContext as _, Context, Entity, Focusable as _, SharedString, Task, Window};
use project::{Binary, Document};
use text::{RowSpan, encode};
use ui::Tone;

use super::hunk_block;
use super::hunk_parts::{HunkPart, hunk_parts};
use crate::documents::Documents;
use crate::item::TabItem;
use crate::layout::{ItemId, TabOpenMode};
use crate::notices::Notice;
use crate::workbench::changed_words::{ChangedWords, WhitespaceChanges};
use crate::workbench::removed_lines::LineKinds;
use crate::workbench::{Workbench, excerpts};

/// Maximum number of files in one diff.
const MAX_FILES: usize = 300;
/// Rows around a hunk.
const CONTEXT: u32 = 3;

/// A diff in a tab.
pub(super) struct OpenDiff {
    pub(super) item: ItemId,
    pub(super) editor: Entity<Editor>,
    pub(super) repository: AbsPath,
    pub(super) side: Side,
    /// The file for which it was opened.
    around: TreePath,
    /// The treatment of white space with which its rows were chosen.
    whitespace: WhitespaceChanges,
    /// The hunks of the marks, in text order.
    pub(super) hunks: Vec<ShownHunk>,
    _refresh: Option<Task<()>>,
}

/// A part of a hunk with the diff to which it belongs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ShownHunk {
    pub(super) repository: AbsPath,
    pub(super) diff: Arc<FileDiff>,
    /// The hunk, which is staged as a whole.
    pub(super) hunk: DiffHunk,
    /// The rows of it that are shown.
    pub(super) shown: DiffHunk,
    /// The words that differ in these rows.
    pub(super) words: Arc<ChangedWords>,
    /// The kinds of the parts of each removed line; empty if they are not known.
    pub(super) kinds: Arc<[LineKinds]>,
}

/// The content of a tab with a diff.
struct DiffTarget {
    repository: AbsPath,
    side: Side,
    around: TreePath,
    whitespace: WhitespaceChanges,
}

/// A file with its diff.
struct LoadedDiff {
    diff: Arc<FileDiff>,
    /// The parts of its hunks that are shown.
    parts: Vec<HunkPart>,
    source: Entity<DocumentModel>,
}

impl ShownHunk {
    pub(super) fn lines(&self) -> LineSelection {
        LineSelection::of_hunks([&self.hunk])
    }
}

/// Shows the diff of a side of a repository, with the caret at the first hunk of `path`.
pub(super) fn open(
    workbench: &mut Workbench,
    repository: AbsPath,
    path: TreePath,
    side: Side,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let whitespace = workbench.git.whitespace;
    let loading = load(workbench, (&repository, side), &path, window, cx);
    cx.spawn_in(window, async move |this, cx| {
        let files = loading.await;
        this.update_in(cx, |this, window, cx| {
            if !files.iter().any(|file| file.diff.path == path) {
                let text = "There are no lines to compare in this change";
                this.report(Notice::new(Tone::Info, text).key("git"), window, cx);
            }
            if !files.is_empty() {
                let target = DiffTarget {
                    repository,
                    side,
                    around: path.clone(),
                    whitespace,
                };
                show(this, target, &files, None, window, cx);
                go_to_file(this, &path, window, cx);
            }
        })
        // The window may be gone by then.
        .ok();
    })
    .detach();
}

/// Makes the diffs of a side of a repository, of the files around one if there are many, and opens the texts. Files
/// without lines are left out.
fn load(
    workbench: &Workbench,
    (repository, side): (&AbsPath, Side),
    around: &TreePath,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) -> Task<Vec<LoadedDiff>> {
    let Some(panel) = workbench.git.panel().cloned() else {
        return Task::ready(Vec::new());
    };
    let mut paths = panel.read(cx).changed_files(repository, side);
    let place = paths.iter().position(|path| path == around).unwrap_or(0);
    let start = place.saturating_sub(MAX_FILES / 2);
    paths.drain(..start);
    paths.truncate(MAX_FILES);
    let diffs = paths.into_iter().map(|path| {
        let file = repository.join(path.to_path());
        (
            file.clone(),
            request(&panel, repository, file, path, side, cx),
        )
    });
    let diffs: Vec<_> = diffs.collect();
    let whitespace = workbench.git.whitespace;
    cx.spawn_in(window, async move |this, cx| {
        let mut files = Vec::new();
        for (file, diff) in diffs {
            let Some(diff) = diff.await.log_err().filter(|diff| !diff.hunks.is_empty()) else {
                continue;
            };
            let compared = diff.clone();
            let parts = async move { hunk_parts(&compared, whitespace) };
            let parts = cx.background_spawn(parts).await;
            if parts.is_empty() {
                continue;
            }
            let opening = this.update(cx, |_, cx| {
                let is_on_disk = side == Side::Unstaged && diff.work_entry.is_some();
                is_on_disk.then(|| Documents::open(file.clone(), Binary::Refuse, cx))
            });
            let opened = match opening.ok().flatten() {
                Some(opening) => opening.await.log_err(),
                None => None,
            };
            let source = match opened {
                Some(source) => source,
                None => {
                    let made = this.update(cx, |this, cx| version(this, file, &diff, cx));
                    let Ok(source) = made else {
                        break;
                    };
                    source
                }
            };
            files.push(LoadedDiff {
                diff,
                parts,
                source,
            });
        }
        files
    })
}

/// Requests the diff of a file, with its unsaved edits.
fn request(
    panel: &Entity<ChangesPanel>,
    repository: &AbsPath,
    file: AbsPath,
    path: TreePath,
    side: Side,
    cx: &Context<Workbench>,
) -> GitAnswer<Arc<FileDiff>> {
    let document = Documents::of_path(&file, cx);
    let unsaved = document.filter(|it| side == Side::Unstaged && it.read(cx).document().is_dirty());
    let buffer = unsaved.and_then(|document| {
        let document = document.read(cx).document();
        encode(&document.snapshot(), &document.format()).ok()
    });
    let request = DiffRequest { path, side, buffer };
    panel.read(cx).service().file_diff(repository, request)
}

/// Creates the text of a version that is not in the working tree.
fn version(
    workbench: &Workbench,
    file: AbsPath,
    diff: &FileDiff,
    cx: &mut Context<Workbench>,
) -> Entity<DocumentModel> {
    let text = String::from_utf8_lossy(&diff.work);
    let document = Document::of_version(file, &text, "it is the version of the next commit");
    DocumentModel::open(document, environment(workbench), cx)
}

fn environment(workbench: &Workbench) -> DocumentEnvironment {
    DocumentEnvironment {
        files: workbench.services.files.clone(),
        clock: workbench.services.clock.clone(),
        recovery_folder: workbench.services.dirs.recovery(),
    }
}

/// Shows diffs in a new tab, or in the tab `item`.
fn show(
    workbench: &mut Workbench,
    target: DiffTarget,
    files: &[LoadedDiff],
    item: Option<ItemId>,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let DiffTarget {
        repository,
        side,
        around,
        whitespace,
    } = target;
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
    let hunks = mark(&editor, &combined, &repository, files, cx);
    editor.update(cx, |editor, cx| editor.set_scroll_top(0.0, cx));
    let tab = TabItem::Excerpts(editor.clone(), title_of(side));
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
    workbench.git.diffs.retain(|diff| diff.item != item);
    workbench.git.diffs.push(OpenDiff {
        item,
        editor,
        repository,
        side,
        around,
        whitespace,
        hunks,
        _refresh: None,
    });
}

fn title_of(side: Side) -> SharedString {
    match side {
        Side::Staged => "Staged changes".into(),
        Side::Unstaged => "Changes".into(),
    }
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
    repository: &AbsPath,
    files: &[LoadedDiff],
    cx: &mut Context<Workbench>,
) -> Vec<ShownHunk> {
    let mut placed: Vec<(RowSpan, ShownHunk)> = Vec::new();
    for file in files {
        for part in &file.parts {
            if let Some(rows) = place(combined, file, &part.shown, cx) {
                let shown = ShownHunk {
                    repository: repository.clone(),
                    diff: file.diff.clone(),
                    hunk: part.hunk,
                    shown: part.shown,
                    words: part.words.clone(),
                    kinds: part.kinds.clone(),
                };
                placed.push((rows, shown));
            }
        }
    }
    placed.sort_by_key(|(rows, _)| rows.start);
    let workbench = cx.weak_entity();
    let marks = placed.iter().map(|(rows, shown)| {
        let (height, view) = hunk_block::render(shown, workbench.clone(), cx);
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
    editor.update(cx, |editor, cx| {
        editor.set_review(marks, cx);
        show_changed_words(editor, &words, cx);
    });
    placed.into_iter().map(|(_, shown)| shown).collect()
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

/// Moves the caret of the active diff to the first hunk of a file.
fn go_to_file(
    workbench: &mut Workbench,
    path: &TreePath,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let Some(diff) = active(workbench) else {
        return;
    };
    let ix = diff.hunks.iter().position(|it| it.diff.path == *path);
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
    refresh(workbench, window, cx);
}

/// Makes the diffs of open tabs again after the changes of their repositories were read.
pub(super) fn refresh(workbench: &mut Workbench, window: &mut Window, cx: &mut Context<Workbench>) {
    let items: Vec<ItemId> = workbench.layout.items();
    workbench
        .git
        .diffs
        .retain(|diff| items.contains(&diff.item));
    let tabs = workbench.git.diffs.iter();
    let tabs: Vec<_> = tabs
        .map(|diff| {
            let (repository, around) = (diff.repository.clone(), diff.around.clone());
            (diff.item, repository, diff.side, around)
        })
        .collect();
    let whitespace = workbench.git.whitespace;
    for (item, repository, side, around) in tabs {
        let loading = load(workbench, (&repository, side), &around, window, cx);
        let refreshing = cx.spawn_in(window, async move |this, cx| {
            let files = loading.await;
            this.update_in(cx, |this, window, cx| {
                replace(this, item, (&files, whitespace), window, cx);
            })
            // The window may be gone by then.
            .ok();
        });
        let diffs = &mut workbench.git.diffs;
        if let Some(diff) = diffs.iter_mut().find(|diff| diff.item == item) {
            // Drops a refresh in progress, whose result would be older.
            diff._refresh = Some(refreshing);
        }
    }
}

/// Shows new diffs in a tab.
fn replace(
    workbench: &mut Workbench,
    item: ItemId,
    (files, whitespace): (&[LoadedDiff], WhitespaceChanges),
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let Some(ix) = workbench.git.diffs.iter().position(|it| it.item == item) else {
        return;
    };
    let diff = &workbench.git.diffs[ix];
    let is_switched = diff.whitespace != whitespace;
    let all = files.iter().flat_map(|file| &file.parts);
    let all = all.map(|part| &part.shown);
    if !is_switched
        && diff.hunks.iter().map(|it| &it.shown).eq(all)
        && diff
            .hunks
            .iter()
            .all(|it| files.iter().any(|file| file.diff == it.diff))
    {
        return;
    }
    let (editor, repository) = (diff.editor.clone(), diff.repository.clone());
    let combined = editor.read(cx).excerpts().cloned();
    match (diff.side, combined) {
        // The files in the working tree are the same: only their hunks are others.
        (Side::Unstaged, Some(combined)) if !is_switched => {
            let hunks = mark(&editor, &combined, &repository, files, cx);
            workbench.git.diffs[ix].hunks = hunks;
        }
        (side, _) if !files.is_empty() => {
            let had_focus = editor.read(cx).focus_handle(cx).is_focused(window);
            let target = DiffTarget {
                repository,
                side,
                around: diff.around.clone(),
                whitespace,
            };
            show(workbench, target, files, Some(item), window, cx);
            if had_focus {
                workbench.focus_active(window, cx);
            }
        }
        _ => {
            editor.update(cx, |editor, cx| editor.set_review(Vec::new(), cx));
            workbench.git.diffs[ix].hunks.clear();
            workbench.git.diffs[ix].whitespace = whitespace;
        }
    }
}
