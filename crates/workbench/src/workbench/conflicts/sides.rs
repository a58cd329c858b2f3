//! The versions of a text in conflict, in panes around it: ours on the left, theirs on the right, the
//! common base below. They are read-only and follow the steps between conflicts.
//!
//! Their files are in the cache folder, named by their content.
//! Start at `open_sides`.

use std::sync::Arc;

use base::{AbsPath, Row};
use editor::{Editor, Reveal};
use git::conflict::{ConflictNames, TextStages};
use git::merge::ObjectId;
use gpui_kit::{AppContext as _, Context, EntityId, WeakEntity, Window};
use host::Files;
use project::{Document, Loaded};
use text::Encoding;

use super::{NOTICE, active_text, at_caret, tell_none};
use crate::documents::Documents;
use crate::item::TabItem;
use crate::layout::{PaneId, PaneSide};
use crate::open_options::OpenOptions;
use crate::reread::load_as;
use crate::workbench::Workbench;

/// The places of both sides.
pub(super) const BOTH: [(ConflictVersion, PaneSide); 2] = [
    (ConflictVersion::Ours, PaneSide::Left),
    (ConflictVersion::Theirs, PaneSide::Right),
];
/// The place of the base.
pub(super) const BASE: [(ConflictVersion, PaneSide); 1] = [(ConflictVersion::Base, PaneSide::Down)];

/// A version of a text in conflict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ConflictVersion {
    Base,
    Ours,
    Theirs,
}

/// A view of a version.
pub(super) struct SideView {
    version: ConflictVersion,
    view: WeakEntity<Editor>,
}

/// A version that is written to the cache folder.
struct SideFile {
    version: ConflictVersion,
    side: PaneSide,
    path: AbsPath,
    text: Arc<str>,
    /// Its name, which the banner above it shows.
    name: String,
}

impl ConflictVersion {
    fn word(self) -> &'static str {
        match self {
            Self::Base => "base",
            Self::Ours => "ours",
            Self::Theirs => "theirs",
        }
    }

    fn text(self, stages: &TextStages) -> Option<Arc<str>> {
        match self {
            Self::Base => stages.base.clone(),
            Self::Ours => Some(stages.ours.clone()),
            Self::Theirs => Some(stages.theirs.clone()),
        }
    }

    fn name(self, names: &ConflictNames) -> String {
        match self {
            Self::Base => "the common base of both sides".to_owned(),
            Self::Ours => format!("ours, {}", names.ours),
            Self::Theirs => format!("theirs, {}", names.theirs),
        }
    }
}

/// Opens versions of the active text in panes around it.
pub(super) fn open_sides(
    workbench: &mut Workbench,
    versions: &[(ConflictVersion, PaneSide)],
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let Some(document) = active_text(workbench, cx) else {
        return tell_none(workbench, window, cx);
    };
    let sides = side_files(workbench, document.entity_id(), versions, cx);
    if sides.is_empty() {
        let sentence = "Git has only the markers of this conflict, not the versions of the text.";
        return workbench.tell(NOTICE, sentence, window, cx);
    }
    let (id, pane) = (document.entity_id(), workbench.layout.active_pane());
    let files = workbench.services.files.clone();
    let writing = cx.background_spawn(async move {
        let written = sides.into_iter().map(|side| {
            let loaded = write_side(&*files, &side);
            loaded.map(|loaded| (side, loaded))
        });
        written.collect::<Result<Vec<(SideFile, Loaded)>, host::Error>>()
    });
    cx.spawn_in(window, async move |this, cx| {
        let written = writing.await;
        let shown = this.update_in(cx, |this, window, cx| match written {
            Ok(sides) => show_sides(this, (id, pane), sides, window, cx),
            Err(error) => this.report_error(error.to_string(), window, cx),
        });
        shown.ok();
    })
    .detach();
}

/// Returns the versions that the index has, with their files.
fn side_files(
    workbench: &Workbench,
    document: EntityId,
    versions: &[(ConflictVersion, PaneSide)],
    cx: &Context<Workbench>,
) -> Vec<SideFile> {
    let text = workbench.conflicts.texts.get(&document);
    let path = workbench.active_item().and_then(|item| item.path(cx));
    let (Some(text), Some(path)) = (text, path) else {
        return Vec::new();
    };
    let (names, stages) = (text.set.names(), text.set.stages());
    let folder = workbench.services.dirs.cache.join("conflicts");
    let sides = versions.iter().filter_map(|(version, side)| {
        let text = version.text(stages?)?;
        let id = ObjectId::of_blob(text.as_bytes()).to_string();
        let name = format!("{}.{}", version.word(), path.name());
        Some(SideFile {
            version: *version,
            side: *side,
            path: folder.join(id).join(name),
            text,
            name: version.name(names),
        })
    });
    sides.collect()
}

/// Writes a version and reads it as a read-only file.
fn write_side(files: &dyn Files, side: &SideFile) -> Result<Loaded, host::Error> {
    if let Some(folder) = side.path.parent() {
        files.create_folder(&folder)?;
    }
    files.write_private(&side.path, side.text.as_bytes())?;
    let loaded = load_as(files, side.path.clone(), Encoding::UTF_8)?;
    Ok(Loaded {
        read_only: Some(side.name.clone()),
        ..loaded
    })
}

/// Shows versions in panes around `pane`, which keeps the focus.
fn show_sides(
    workbench: &mut Workbench,
    (document, pane): (EntityId, PaneId),
    sides: Vec<(SideFile, Loaded)>,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    for (side, loaded) in sides {
        let Some(new) = workbench.layout.split(pane, side.side) else {
            continue;
        };
        workbench.layout_changed(cx);
        let version = Documents::of_path(&side.path, cx)
            .unwrap_or_else(|| Documents::add(Document::from_loaded(loaded), cx));
        workbench.open_document_in(version, new, OpenOptions::lasting(), window, cx);
        if let Some(editor) = workbench.active_item().and_then(TabItem::editor) {
            let view = SideView {
                version: side.version,
                view: editor.downgrade(),
            };
            let views = workbench.conflicts.sides.entry(document);
            views.or_default().push(view);
        }
    }
    // All versions have the same share of the window.
    workbench.even_out(cx);
    workbench.focus_pane(pane, window, cx);
    if let Some((shown, index)) = at_caret(workbench, cx) {
        follow(workbench, shown.entity_id(), index, cx);
    }
}

/// Shows the lines of a conflict in the views of the versions.
pub(super) fn follow(
    workbench: &Workbench,
    document: EntityId,
    index: usize,
    cx: &mut Context<Workbench>,
) {
    let text = workbench.conflicts.texts.get(&document);
    let conflict = text.and_then(|text| text.set.conflicts().get(index));
    let Some(lines) = conflict.and_then(|conflict| conflict.lines()) else {
        return;
    };
    let views = workbench.conflicts.sides.get(&document);
    for side in views.into_iter().flatten() {
        let row = match side.version {
            ConflictVersion::Base => lines.base.start,
            ConflictVersion::Ours => lines.ours.start,
            ConflictVersion::Theirs => lines.theirs.start,
        };
        if let Some(editor) = side.view.upgrade() {
            editor.update(cx, |editor, cx| {
                let snapshot = editor.model().read(cx).snapshot();
                let row = Row(row).min(snapshot.last_row());
                editor.go_to(snapshot.row_start(row), Reveal::Center, cx);
            });
        }
    }
}
