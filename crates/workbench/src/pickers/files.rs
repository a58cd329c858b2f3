//! The file finder: finds a file of the folder by parts of its name, optionally followed by a line
//! and column.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use base::{AbsPath, LineFeeds, printable, text_path};
use gpui_kit::{
    App, AppContext as _, Context, Entity, SharedString, Subscription, Task, WeakEntity, Window,
};
use ui::picker::{AfterConfirm, ConfirmKind, FooterHint, Picker, PickerDelegate, PickerRow};

use super::{byte_offsets, follow_files};
use crate::finder::{FileMatch, find_files};
use crate::folder::OpenFolder;
use crate::target::{LineColumn, Target};
use crate::workbench::Workbench;

/// Picker delegate for the files of a folder.
pub(crate) struct FileFinder {
    root: AbsPath,
    folder: Entity<OpenFolder>,
    workbench: WeakEntity<Workbench>,
    recent: Arc<Vec<String>>,
    found: Vec<FileMatch>,
    place: Option<LineColumn>,
    cancel: Arc<AtomicBool>,
    files_followed: Option<Subscription>,
    /// Uses the chosen file; without it, the file is opened.
    chosen: Option<ChosenFile>,
}

/// A use of a file other than to open it.
struct ChosenFile {
    heading: &'static str,
    use_file: UseFile,
}

type UseFile = Box<dyn Fn(AbsPath, &mut Window, &mut App)>;

/// Maximum number of results.
const LIMIT: usize = 100;

impl FileFinder {
    /// Creates the finder of a folder, with the recent files of the window.
    pub(crate) fn new(
        folder: Entity<OpenFolder>,
        workbench: &Workbench,
        cx: &mut Context<Workbench>,
    ) -> Self {
        let root = folder.read(cx).root().clone();
        let recent = workbench.files_by_use(&root, cx);
        Self {
            root,
            folder,
            recent: Arc::new(recent),
            workbench: cx.weak_entity(),
            found: Vec::new(),
            place: None,
            cancel: Arc::default(),
            files_followed: None,
            chosen: None,
        }
    }

    /// Passes the chosen file to `use_file` in place of opening it. `heading` says for what it is chosen.
    pub(crate) fn choosing(
        self,
        heading: &'static str,
        use_file: impl Fn(AbsPath, &mut Window, &mut App) + 'static,
    ) -> Self {
        let chosen = ChosenFile {
            heading,
            use_file: Box::new(use_file),
        };
        Self {
            chosen: Some(chosen),
            ..self
        }
    }
}

impl PickerDelegate for FileFinder {
    type Found = (Vec<FileMatch>, Option<LineColumn>);

    fn name(&self) -> SharedString {
        "Files".into()
    }

    fn heading(&self) -> Option<SharedString> {
        self.chosen.as_ref().map(|chosen| chosen.heading.into())
    }

    fn placeholder(&self) -> SharedString {
        "Find a file, or file:line".into()
    }

    fn search(
        &mut self,
        query: &str,
        window: &mut Window,
        cx: &mut Context<Picker<Self>>,
    ) -> Task<Self::Found> {
        if self.files_followed.is_none() {
            self.files_followed = Some(follow_files(&self.folder, |_| {}, window, cx));
        }
        self.cancel.store(true, Ordering::Relaxed);
        self.cancel = Arc::default();
        let target = Target::parse(query);
        let (cancel, recent) = (self.cancel.clone(), self.recent.clone());
        let files = self.folder.read(cx).files().paths.clone();
        cx.background_spawn(async move {
            let found = find_files(&target.path, &files, &recent, LIMIT, &cancel);
            (found, target.place)
        })
    }

    fn accept(&mut self, found: Self::Found, _: &mut Context<Picker<Self>>) -> usize {
        (self.found, self.place) = found;
        0
    }

    fn count(&self) -> usize {
        self.found.len()
    }

    fn row(&self, ix: usize, cx: &App) -> PickerRow {
        let Some(found) = self.found.get(ix) else {
            return PickerRow::default();
        };
        row(found, cx)
    }

    fn confirm(
        &mut self,
        ix: usize,
        kind: ConfirmKind,
        window: &mut Window,
        cx: &mut Context<Picker<Self>>,
    ) -> AfterConfirm {
        let Some(found) = self.found.get(ix) else {
            return AfterConfirm::Stay;
        };
        let (path, place) = (self.root.join(text_path(&found.path)), self.place);
        if let Some(chosen) = &self.chosen {
            (chosen.use_file)(path, window, cx);
            return AfterConfirm::Close;
        }
        self.workbench
            .update(cx, |workbench, cx| {
                workbench.open_found(path, place, kind == ConfirmKind::Other, window, cx);
            })
            .ok();
        AfterConfirm::Close
    }

    fn nothing_found(&self, query: &str) -> SharedString {
        if query.is_empty() {
            "This folder has no files".into()
        } else {
            "No matching files".into()
        }
    }

    fn status(&self) -> Option<SharedString> {
        Some(match self.found.len() {
            LIMIT => format!("the best {LIMIT}").into(),
            1 => "1 file".into(),
            count => format!("{count} files").into(),
        })
    }

    fn footer(&self) -> Vec<FooterHint> {
        if self.chosen.is_some() {
            return vec![FooterHint::new(ui::picker::Confirm, "choose")];
        }
        vec![
            FooterHint::new(ui::picker::Confirm, "open"),
            FooterHint::new(ui::picker::ConfirmOther, "open to the side"),
        ]
    }
}

/// Builds the row for a file.
pub(super) fn row(found: &FileMatch, cx: &App) -> PickerRow {
    let name_at = found.path.rfind('/').map_or(0, |slash| slash + 1);
    let (folder, name) = found.path.split_at(name_at);
    let matched = byte_offsets(&found.path, &found.matched);
    let (in_folder, in_name): (Vec<usize>, Vec<usize>) =
        matched.into_iter().partition(|offset| *offset < name_at);
    let in_name = in_name.into_iter().map(|offset| offset - name_at).collect();
    let (name, in_name) = display_text(name, in_name);
    let (folder, in_folder) = display_text(folder.trim_end_matches('/'), in_folder);
    let row = PickerRow::new(name.clone())
        .start(ui::file_icon(&name, cx))
        .matches(in_name)
        .detail(folder)
        .detail_matches(in_folder);
    if found.is_recent {
        row.end_text("recent")
    } else {
        row
    }
}

/// Returns the display form of a path with its match offsets; no offsets if the two forms differ.
fn display_text(text: &str, matches: Vec<usize>) -> (String, Vec<usize>) {
    let path = text_path(text);
    let shown = printable(&path.to_string_lossy(), LineFeeds::Escape).into_owned();
    let matches = if shown == text { matches } else { Vec::new() };
    (shown, matches)
}
