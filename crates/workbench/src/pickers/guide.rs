//! The search in Burin's guide: sections by their titles and texts.

use gpui_kit::{App, Context, SharedString, Task, WeakEntity, Window};
use guide::GuideHit;
use ui::Icon;
use ui::picker::{AfterConfirm, ConfirmKind, FooterHint, Picker, PickerDelegate, PickerRow};

use crate::workbench::{Workbench, help};

/// Picker delegate for sections of the guide.
pub(crate) struct GuidePicker {
    workbench: WeakEntity<Workbench>,
    found: Vec<GuideHit>,
}

impl GuidePicker {
    /// Lists all sections, in the order of the guide.
    pub(crate) fn new(workbench: WeakEntity<Workbench>) -> Self {
        Self {
            workbench,
            found: Vec::new(),
        }
    }
}

impl PickerDelegate for GuidePicker {
    type Found = Vec<GuideHit>;

    fn name(&self) -> SharedString {
        "Sections of the guide".into()
    }

    fn placeholder(&self) -> SharedString {
        "Search the guide".into()
    }

    fn search(
        &mut self,
        query: &str,
        _: &mut Window,
        _: &mut Context<Picker<Self>>,
    ) -> Task<Self::Found> {
        // The guide is small and in memory.
        Task::ready(guide::search(query))
    }

    fn accept(&mut self, found: Self::Found, _: &mut Context<Picker<Self>>) -> usize {
        self.found = found;
        0
    }

    fn count(&self) -> usize {
        self.found.len()
    }

    fn row(&self, ix: usize, _: &App) -> PickerRow {
        let Some(hit) = self.found.get(ix) else {
            return PickerRow::default();
        };
        let section = &hit.section;
        let row = PickerRow::new(section.title.replace('`', ""))
            .start(Icon::Book)
            .detail(hit.excerpt.clone())
            .prose();
        if section.row == 0 {
            row
        } else {
            row.end_text(section.page.title())
        }
    }

    fn row_lines(&self) -> u8 {
        2
    }

    fn confirm(
        &mut self,
        ix: usize,
        _: ConfirmKind,
        window: &mut Window,
        cx: &mut Context<Picker<Self>>,
    ) -> AfterConfirm {
        let Some(hit) = self.found.get(ix) else {
            return AfterConfirm::Stay;
        };
        let (page, row) = (hit.section.page, hit.row);
        // The window may have been closed.
        self.workbench
            .update(cx, |workbench, cx| {
                help::open_page(workbench, page, row, window, cx);
            })
            .ok();
        AfterConfirm::Close
    }

    fn nothing_found(&self, _: &str) -> SharedString {
        "No section of the guide has all of these words".into()
    }

    fn footer(&self) -> Vec<FooterHint> {
        vec![FooterHint::new(ui::picker::Confirm, "open the page")]
    }
}
