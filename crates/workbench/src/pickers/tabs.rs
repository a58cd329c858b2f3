//! The tab switcher: the tabs of all panes, most recently used first.

use gpui_kit::{App, Context, SharedString, Task, WeakEntity, Window};
use ui::Icon;
use ui::picker::{AfterConfirm, ConfirmKind, Picker, PickerDelegate, PickerRow};

use crate::layout::ItemId;
use crate::workbench::Workbench;

struct OpenTab {
    item: ItemId,
    title: SharedString,
    detail: String,
    is_dirty: bool,
    is_terminal: bool,
}

/// Picker delegate for the open tabs.
pub(crate) struct TabPicker {
    workbench: WeakEntity<Workbench>,
    tabs: Vec<OpenTab>,
    found: Vec<usize>,
    start: usize,
}

impl TabPicker {
    /// Creates the switcher. `step` sets the initial selection: 1 for the previous tab, -1 for the
    /// least recently used one.
    pub(crate) fn new(workbench: &Workbench, step: isize, cx: &mut Context<Workbench>) -> Self {
        let layout = workbench.layout();
        let active = layout.active_pane();
        let mut items: Vec<ItemId> = layout
            .tabs(active)
            .into_iter()
            .flat_map(|tabs| tabs.recent())
            .collect();
        let others = layout
            .tree()
            .panes()
            .into_iter()
            .filter(|pane| *pane != active);
        for pane in others {
            items.extend(layout.tabs(pane).into_iter().flat_map(|tabs| tabs.recent()));
        }
        let tabs: Vec<OpenTab> = items
            .into_iter()
            .filter_map(|id| {
                let item = workbench.item(id)?;
                let detail = item.path(cx).and_then(|path| path.parent());
                Some(OpenTab {
                    item: id,
                    title: item.title(cx),
                    detail: detail
                        .map(|folder| workbench.display_path(&folder, cx))
                        .unwrap_or_default(),
                    is_dirty: item.is_dirty(cx),
                    is_terminal: item.terminal().is_some(),
                })
            })
            .collect();
        let start = if step < 0 {
            tabs.len().saturating_sub(1)
        } else {
            1.min(tabs.len().saturating_sub(1))
        };
        Self {
            workbench: cx.weak_entity(),
            found: (0..tabs.len()).collect(),
            tabs,
            start,
        }
    }
}

impl PickerDelegate for TabPicker {
    type Found = Vec<usize>;

    fn name(&self) -> SharedString {
        "Tabs".into()
    }

    fn placeholder(&self) -> SharedString {
        "Go to a tab".into()
    }

    fn search(
        &mut self,
        query: &str,
        _: &mut Window,
        _: &mut Context<Picker<Self>>,
    ) -> Task<Self::Found> {
        let query = query.to_lowercase();
        let fits = |tab: &OpenTab| {
            format!("{}/{}", tab.detail, tab.title)
                .to_lowercase()
                .contains(&query)
        };
        let found = self.tabs.iter().enumerate().filter(|(_, tab)| fits(tab));
        if !query.is_empty() {
            self.start = 0;
        }
        Task::ready(found.map(|(index, _)| index).collect())
    }

    fn accept(&mut self, found: Self::Found, _: &mut Context<Picker<Self>>) -> usize {
        self.found = found;
        self.start
    }

    fn count(&self) -> usize {
        self.found.len()
    }

    fn row(&self, ix: usize, cx: &App) -> PickerRow {
        let Some(tab) = self.found.get(ix).and_then(|index| self.tabs.get(*index)) else {
            return PickerRow::default();
        };
        let row = PickerRow::new(tab.title.clone()).detail(tab.detail.clone());
        let row = if tab.is_terminal {
            row.start(Icon::Terminal)
        } else {
            row.start(ui::file_icon(&tab.title, cx))
        };
        if tab.is_dirty {
            row.end_text("not saved")
        } else {
            row
        }
    }

    fn confirm(
        &mut self,
        ix: usize,
        _: ConfirmKind,
        window: &mut Window,
        cx: &mut Context<Picker<Self>>,
    ) -> AfterConfirm {
        let tab = self.found.get(ix).and_then(|index| self.tabs.get(*index));
        if let Some(item) = tab.map(|tab| tab.item) {
            self.workbench
                .update(cx, |workbench, cx| workbench.activate(item, window, cx))
                .ok();
        }
        AfterConfirm::Close
    }
}
