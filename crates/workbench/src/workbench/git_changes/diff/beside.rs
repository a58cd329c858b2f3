//! The text before the changes, in a read-only editor beside the one with the text after them, and the space on both
//! sides that keeps their rows side by side.
//!
//! The space is computed from the diff, never from a keystroke: the next diff corrects it once typing rests.

use std::sync::Arc;

use base::{AbsPath, Row};
use display::{BlockId, BlockSpec, Placement};
use editor::{
    BlockView, DocumentModel, Editor, Excerpt, Excerpts, set_unwrapped, show_changed_words,
    show_moved_rows, show_removed_rows,
};
use git::staging::DiffHunk;
use gpui_kit::{
    AppContext as _, Context, Entity, Focusable as _, IntoElement as _, ParentElement as _,
    Styled as _, Subscription, Window, div,
};
use text::RowSpan;
use ui::ActiveTheme as _;

use super::ShownHunk;
use super::alignment::{ExcerptRows, SpacePlace, place_at, rows_before, spaces};
use super::loading::{LoadedDiff, environment, version};
use super::view::DiffLayout;
use crate::workbench::git_changes::hunk_block;
use crate::workbench::git_changes::moved_parts::MoveEnd;
use crate::workbench::{Workbench, excerpts};

/// Order of the space behind the head of a hunk and the header of a file.
const SPACE: i32 = 1;

/// The text before the changes.
pub(super) struct BeforeSide {
    pub(super) editor: Entity<Editor>,
    excerpts: Entity<Excerpts>,
    /// The texts and their rows that are shown.
    shown: Vec<(Arc<[u8]>, RowSpan)>,
    blocks: Vec<BlockId>,
    _focus: Subscription,
}

/// An excerpt on both sides.
struct ExcerptSides {
    /// The text after the changes.
    source: Entity<DocumentModel>,
    file: AbsPath,
    base: Arc<[u8]>,
    hunks: Arc<[DiffHunk]>,
    rows: ExcerptRows,
}

/// Shows or removes the text before the changes of the diff with this index, as its layout wants, and places the space.
pub(super) fn lay_out(
    workbench: &mut Workbench,
    index: usize,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let diff = &mut workbench.git.diffs[index];
    let editor = diff.editor.clone();
    let gone = std::mem::take(&mut diff.spaces);
    let before = diff.before.take();
    remove_blocks(&editor, &gone, cx);
    let combined = editor.read(cx).excerpts().cloned();
    let is_beside = diff.layout == DiffLayout::SideBySide;
    let Some(combined) = combined.filter(|_| is_beside) else {
        return;
    };
    let untitled = workbench.services.dirs.cache.join("untitled");
    let files = &workbench.git.diffs[index].files;
    let sides = sides_of(&combined, files, &untitled, cx);
    let shown = sides.iter().map(|it| (it.base.clone(), it.rows.before));
    let shown: Vec<_> = shown.collect();
    let mut before = match before.filter(|before| before.shown == shown) {
        Some(before) => before,
        None => create(workbench, index, (&sides, shown), window, cx),
    };
    let gone = std::mem::take(&mut before.blocks);
    remove_blocks(&before.editor, &gone, cx);
    let diff = &mut workbench.git.diffs[index];
    before.blocks = heads(&before, &sides, &diff.hunks, cx);
    for (ix, side) in sides.iter().enumerate() {
        let [left, right] = spaces(&side.hunks, &side.rows);
        let firsts = (
            before.excerpts.read(cx).first_row(ix, cx),
            combined.read(cx).first_row(ix, cx),
        );
        let (Some(left_first), Some(right_first)) = firsts else {
            continue;
        };
        for space in left {
            let place = moved(space.place, side.rows.before.start, left_first);
            let id = insert_space(&before.editor, place, space.rows, cx);
            before.blocks.push(id);
        }
        for space in right {
            let place = moved(space.place, side.rows.after.start, right_first);
            let id = insert_space(&editor, place, space.rows, cx);
            diff.spaces.push(id);
        }
    }
    show_marks(&before, &sides, &diff.hunks, cx);
    diff.before = Some(before);
}

fn remove_blocks(editor: &Entity<Editor>, blocks: &[BlockId], cx: &mut Context<Workbench>) {
    editor.update(cx, |editor, cx| {
        for id in blocks {
            editor.remove_block(*id, cx);
        }
    });
}

/// Returns both sides of each excerpt. `untitled` names a text without a file.
fn sides_of(
    combined: &Entity<Excerpts>,
    files: &[LoadedDiff],
    untitled: &AbsPath,
    cx: &Context<Workbench>,
) -> Vec<ExcerptSides> {
    let combined = combined.read(cx);
    let excerpts = (0..combined.count()).filter_map(|ix| combined.excerpt(ix, cx));
    // Excerpts of one file follow each other.
    let mut last: Option<FileBase> = None;
    let sides = excerpts.map(|(source, after)| {
        let known = last.take().filter(|it| it.source == source);
        let file = known.unwrap_or_else(|| base_of(source, files, untitled, cx));
        let before = rows_before(&file.hunks, after, file.row_count);
        last = Some(file.clone());
        ExcerptSides {
            source: file.source,
            file: file.file,
            base: file.base,
            hunks: file.hunks,
            rows: ExcerptRows { before, after },
        }
    });
    sides.collect()
}

/// The text before the changes of a file.
#[derive(Clone)]
struct FileBase {
    source: Entity<DocumentModel>,
    file: AbsPath,
    base: Arc<[u8]>,
    hunks: Arc<[DiffHunk]>,
    row_count: u32,
}

fn base_of(
    source: Entity<DocumentModel>,
    files: &[LoadedDiff],
    untitled: &AbsPath,
    cx: &Context<Workbench>,
) -> FileBase {
    let loaded = files.iter().find(|file| file.source == source);
    let (file, base, hunks): (AbsPath, Arc<[u8]>, Arc<[DiffHunk]>) = match loaded {
        Some(loaded) => {
            let diff = &loaded.diff;
            let hunks = diff.hunks.clone().into();
            (loaded.file.clone(), diff.base.clone(), hunks)
        }
        // Nothing differs in this file any more.
        None => {
            let model = source.read(cx);
            let file = model.path().unwrap_or(untitled).clone();
            let text = model.snapshot().to_string();
            (file, text.into_bytes().into(), Arc::from([]))
        }
    };
    let row_count = base.iter().filter(|byte| **byte == b'\n').count() as u32 + 1;
    FileBase {
        source,
        file,
        base,
        hunks,
        row_count,
    }
}

/// The text before the changes of a file, and the rows of it that are shown.
type ShownBase = (Arc<[u8]>, RowSpan);

/// Creates the editor of the texts before.
fn create(
    workbench: &Workbench,
    index: usize,
    (sides, shown): (&[ExcerptSides], Vec<ShownBase>),
    window: &mut Window,
    cx: &mut Context<Workbench>,
) -> BeforeSide {
    let mut texts: Vec<(Entity<DocumentModel>, Entity<DocumentModel>)> = Vec::new();
    let mut parts = Vec::with_capacity(sides.len());
    for side in sides {
        let known = texts.iter().find(|(source, _)| *source == side.source);
        let text = match known {
            Some((_, text)) => text.clone(),
            None => {
                let reason = "it is the text before the changes";
                let text = version(workbench, (side.file.clone(), &side.base[..]), reason, cx);
                texts.push((side.source.clone(), text.clone()));
                text
            }
        };
        parts.push(Excerpt {
            source: text,
            rows: side.rows.before,
        });
    }
    let environment = environment(workbench);
    let shown_excerpts = cx.new(|cx| Excerpts::new(parts, environment, cx));
    let editor = Editor::of_excerpts(shown_excerpts.clone(), window, cx);
    editor.update(cx, |editor, cx| set_unwrapped(editor, true, cx));
    excerpts::insert_headers(workbench, &editor, &shown_excerpts, cx);
    let item = workbench.git.diffs[index].item;
    let focus = editor.read(cx).focus_handle(cx);
    BeforeSide {
        editor,
        excerpts: shown_excerpts,
        shown,
        blocks: Vec::new(),
        _focus: cx.on_focus_in(&focus, window, move |this, _, cx| {
            this.item_focused(item, cx);
        }),
    }
}

/// Returns the excerpt with a hunk, and the row of the combined text before at which its removed rows begin.
fn place_of(
    before: &BeforeSide,
    sides: &[ExcerptSides],
    hunk: &ShownHunk,
    cx: &Context<Workbench>,
) -> Option<(usize, Row)> {
    let ix = sides.iter().position(|side| {
        let rows = side.rows.after;
        let shown = hunk.shown.work;
        Arc::ptr_eq(&side.base, &hunk.diff.base)
            && rows.start <= shown.start
            && shown.end <= rows.end
    })?;
    let first = before.excerpts.read(cx).first_row(ix, cx)?;
    let start = hunk.shown.base.start.0;
    let above = start.checked_sub(sides[ix].rows.before.start.0)?;
    Some((ix, first + above))
}

/// Inserts the head above the removed rows of each hunk, as high as the one beside it.
fn heads(
    before: &BeforeSide,
    sides: &[ExcerptSides],
    hunks: &[ShownHunk],
    cx: &mut Context<Workbench>,
) -> Vec<BlockId> {
    let workbench = cx.weak_entity();
    let mut blocks = Vec::with_capacity(hunks.len());
    for hunk in hunks {
        let Some((ix, first)) = place_of(before, sides, hunk, cx) else {
            continue;
        };
        let rows = sides[ix].rows.before;
        let place = place_at(hunk.shown.base.start, rows);
        let start = first.0 - (hunk.shown.base.start.0 - rows.start.0);
        let place = moved(place, rows.start, Row(start));
        let (height, view) = hunk_block::render_before(hunk, workbench.clone(), cx);
        let id = insert(&before.editor, (place, height, 0), view, cx);
        blocks.push(id);
    }
    blocks
}

/// Shows the removed rows, their moved ones, and their changed words.
fn show_marks(
    before: &BeforeSide,
    sides: &[ExcerptSides],
    hunks: &[ShownHunk],
    cx: &mut Context<Workbench>,
) {
    let (mut removed, mut moved_rows, mut words) = (Vec::new(), Vec::new(), Vec::new());
    let text = before.editor.read(cx).model().read(cx).snapshot();
    for hunk in hunks {
        let Some((_, first)) = place_of(before, sides, hunk, cx) else {
            continue;
        };
        let rows = |rows: RowSpan| RowSpan {
            start: first + (rows.start.0 - hunk.shown.base.start.0),
            end: first + (rows.end.0 - hunk.shown.base.start.0),
        };
        if !hunk.shown.base.is_empty() {
            removed.push(rows(hunk.shown.base));
        }
        let away = hunk.moves.iter().filter(|it| it.end == MoveEnd::Removed);
        moved_rows.extend(away.map(|it| rows(it.rows)));
        words.extend(hunk.words.removed_spans(&text, first));
    }
    before.editor.update(cx, |editor, cx| {
        show_removed_rows(editor, &removed, cx);
        show_moved_rows(editor, &moved_rows, cx);
        show_changed_words(editor, &words, cx);
    });
}

/// Moves a place from a text whose excerpt begins at `from` to the combined text in which it begins at `to`.
fn moved(place: SpacePlace, from: Row, to: Row) -> SpacePlace {
    let row = |row: Row| to + row.0.saturating_sub(from.0);
    match place {
        SpacePlace::Above(at) => SpacePlace::Above(row(at)),
        SpacePlace::Below(at) => SpacePlace::Below(row(at)),
    }
}

fn insert_space(
    editor: &Entity<Editor>,
    place: SpacePlace,
    rows: u32,
    cx: &mut Context<Workbench>,
) -> BlockId {
    let view = BlockView::new(|place, _, cx| {
        let space = div().size_full().bg(cx.theme().colors.sunken);
        div()
            .size_full()
            .pl(place.gutter)
            .child(space)
            .into_any_element()
    });
    insert(editor, (place, rows as f32, SPACE), view, cx)
}

/// Inserts a block with its place, its height in line heights and its priority.
fn insert(
    editor: &Entity<Editor>,
    (place, height, priority): (SpacePlace, f32, i32),
    view: BlockView,
    cx: &mut Context<Workbench>,
) -> BlockId {
    let (row, placement) = match place {
        SpacePlace::Above(row) => (row, Placement::Above),
        SpacePlace::Below(row) => (row, Placement::Below),
    };
    let spec = BlockSpec {
        row,
        placement,
        height,
        priority,
    };
    editor.update(cx, |editor, cx| editor.insert_block(spec, view, cx))
}
