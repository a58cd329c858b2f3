//! Picker for recently opened folders.

use base::AbsPath;
use gpui_kit::{App, Context, SharedString, Task, WeakEntity, Window};
use ui::picker::{AfterConfirm, ConfirmKind, FooterHint, Picker, PickerDelegate, PickerRow};

use crate::services::Services;
use crate::window_registry;
use crate::workbench::Workbench;

/// Picker delegate for recently opened folders.
pub(crate) struct RecentFolders {
    workbench: WeakEntity<Workbench>,
    services: Services,
    folders: Vec<AbsPath>,
    found: Vec<usize>,
}

impl RecentFolders {
    /// Lists the recently opened folders, newest first.
    pub(crate) fn new(workbench: WeakEntity<Workbench>, cx: &mut App) -> Self {
        let folders = window_registry::recent_folders(cx);
        Self {
            workbench,
            services: Services::of(cx),
            found: (0..folders.len()).collect(),
            folders,
        }
    }

    /// Returns the folder in a row of the list; `None` if there is none.
    fn folder(&self, ix: usize) -> Option<&AbsPath> {
        self.folders.get(*self.found.get(ix)?)
    }
}

impl PickerDelegate for RecentFolders {
    type Found = Vec<usize>;

    fn name(&self) -> SharedString {
        "Recent folders".into()
    }

    fn placeholder(&self) -> SharedString {
        "Open a folder again".into()
    }

    fn search(
        &mut self,
        query: &str,
        _: &mut Window,
        _: &mut Context<Picker<Self>>,
    ) -> Task<Self::Found> {
        let query = query.to_lowercase();
        let fits = |folder: &AbsPath| folder.printable().to_lowercase().contains(&query);
        let found = self
            .folders
            .iter()
            .enumerate()
            .filter(|(_, folder)| fits(folder));
        Task::ready(found.map(|(index, _)| index).collect())
    }

    fn accept(&mut self, found: Self::Found, _: &mut Context<Picker<Self>>) -> usize {
        self.found = found;
        0
    }

    fn count(&self) -> usize {
        self.found.len()
    }

    fn row(&self, ix: usize, cx: &App) -> PickerRow {
        let Some(folder) = self.folder(ix) else {
            return PickerRow::default();
        };
        let name = folder.printable_name();
        let above = folder
            .parent()
            .map(|parent| self.services.display(&parent))
            .unwrap_or_default();
        PickerRow::new(name.clone())
            .start(ui::folder_icon(&name, false, cx))
            .detail(above)
    }

    fn confirm(
        &mut self,
        ix: usize,
        kind: ConfirmKind,
        window: &mut Window,
        cx: &mut Context<Picker<Self>>,
    ) -> AfterConfirm {
        let Some(folder) = self.folder(ix).cloned() else {
            return AfterConfirm::Stay;
        };
        if kind == ConfirmKind::Other {
            cx.defer(move |cx| window_registry::open_folder(folder, cx));
        } else {
            self.workbench
                .update(cx, |workbench, cx| {
                    workbench.open_folder_here(folder, window, cx)
                })
                .ok();
        }
        AfterConfirm::Close
    }

    fn nothing_found(&self, query: &str) -> SharedString {
        if query.is_empty() {
            "No folder was opened before".into()
        } else {
            "No such folder".into()
        }
    }

    fn footer(&self) -> Vec<FooterHint> {
        vec![
            FooterHint::new(ui::picker::Confirm, "open here"),
            FooterHint::new(ui::picker::ConfirmOther, "in a new window"),
        ]
    }
}
