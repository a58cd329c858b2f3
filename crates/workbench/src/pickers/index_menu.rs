//! Menu of the folder's index: its status, and pausing it.

use std::sync::Arc;

use gpui_kit::{App, Context, SharedString, Task, Window};
use ui::Icon;
use ui::picker::{AfterConfirm, ConfirmKind, Picker, PickerDelegate, PickerRow};

use crate::code_index::CodeIndex;
use crate::index_status;

/// Picker delegate that shows the index status and pauses indexing.
pub(crate) struct IndexMenu {
    index: Arc<dyn CodeIndex>,
    follows: Option<Task<()>>,
}

impl IndexMenu {
    /// Creates the menu of an index.
    pub(crate) fn new(index: Arc<dyn CodeIndex>) -> Self {
        Self {
            index,
            follows: None,
        }
    }

    /// Updates the status while the menu is open.
    fn follow(&mut self, window: &mut Window, cx: &mut Context<Picker<Self>>) {
        if self.follows.is_some() {
            return;
        }
        let ticks = self.index.changed();
        self.follows = Some(cx.spawn_in(window, async move |picker, cx| {
            while ticks.recv().await.is_ok() {
                let shown = picker.update_in(cx, |picker, window, cx| picker.refresh(window, cx));
                if shown.is_err() {
                    break;
                }
            }
        }));
    }
}

impl PickerDelegate for IndexMenu {
    type Found = ();

    fn name(&self) -> SharedString {
        "Index".into()
    }

    fn placeholder(&self) -> SharedString {
        "The index of this folder".into()
    }

    fn search(
        &mut self,
        _: &str,
        window: &mut Window,
        cx: &mut Context<Picker<Self>>,
    ) -> Task<Self::Found> {
        self.follow(window, cx);
        Task::ready(())
    }

    fn accept(&mut self, (): Self::Found, _: &mut Context<Picker<Self>>) -> usize {
        0
    }

    fn count(&self) -> usize {
        1 + index_status::describe(&self.index.status()).len()
    }

    fn row(&self, ix: usize, _: &App) -> PickerRow {
        let status = self.index.status();
        if ix == 0 {
            return if status.is_paused {
                PickerRow::new("Resume indexing").start(Icon::Refresh)
            } else {
                PickerRow::new("Pause indexing").start(Icon::Stop)
            };
        }
        let mut lines = index_status::describe(&status).into_iter();
        PickerRow::new(lines.nth(ix - 1).unwrap_or_default())
            .start(Icon::Info)
            .muted()
    }

    fn confirm(
        &mut self,
        ix: usize,
        _: ConfirmKind,
        window: &mut Window,
        cx: &mut Context<Picker<Self>>,
    ) -> AfterConfirm {
        if ix == 0 {
            self.index.set_paused(!self.index.status().is_paused);
            // The menu is redrawn after this call returns.
            let picker = cx.weak_entity();
            window.defer(cx, move |window, cx| {
                picker
                    .update(cx, |picker, cx| picker.refresh(window, cx))
                    .ok();
            });
        }
        AfterConfirm::Stay
    }
}
