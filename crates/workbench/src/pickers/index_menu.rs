//! What the index of the folder does, and what can be done about it.

use std::sync::Arc;

use gpui_kit::{App, Context, SharedString, Task, Window};
use ui::Icon;
use ui::picker::{After, Picker, PickerDelegate, PickerRow, Taken};

use crate::code_index::CodeIndex;
use crate::index_status;

/// Shows the index, and pauses it.
pub(crate) struct IndexMenu {
    index: Arc<dyn CodeIndex>,
    follows: Option<Task<()>>,
}

impl IndexMenu {
    pub(crate) fn new(index: Arc<dyn CodeIndex>) -> Self {
        Self {
            index,
            follows: None,
        }
    }

    /// Shows what is so now, as long as the list is open.
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
        1 + index_status::lines(&self.index.status()).len()
    }

    fn row(&self, ix: usize, _: &App) -> PickerRow {
        let status = self.index.status();
        if ix == 0 {
            return match status.is_paused {
                true => PickerRow::new("Go on with indexing").start(Icon::Refresh),
                false => PickerRow::new("Pause indexing").start(Icon::Stop),
            };
        }
        let mut lines = index_status::lines(&status).into_iter();
        PickerRow::new(lines.nth(ix - 1).unwrap_or_default())
            .start(Icon::Info)
            .muted()
    }

    fn confirm(
        &mut self,
        ix: usize,
        _: Taken,
        window: &mut Window,
        cx: &mut Context<Picker<Self>>,
    ) -> After {
        if ix == 0 {
            self.index.set_paused(!self.index.status().is_paused);
            // The list is drawn again when this call is over.
            let picker = cx.weak_entity();
            window.defer(cx, move |window, cx| {
                picker
                    .update(cx, |picker, cx| picker.refresh(window, cx))
                    .ok();
            });
        }
        After::Stay
    }
}
