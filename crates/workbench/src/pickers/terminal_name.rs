//! Asks for the name of a terminal among the texts.

use futures::channel::oneshot;
use gpui_kit::{App, Context, SharedString, Task, Window};
use ui::picker::{
    AfterConfirm, Confirm, ConfirmKind, FooterHint, Picker, PickerDelegate, PickerRow,
};

/// Picker delegate that takes the new name of a terminal from the query. An empty query removes the name, so that the
/// tab shows the title that the program sets.
pub(crate) struct TerminalNamePicker {
    name: String,
    reply: Option<oneshot::Sender<String>>,
}

impl TerminalNamePicker {
    /// Creates the picker; `reply` gets the name unless the user dismisses it.
    pub(crate) fn new(reply: oneshot::Sender<String>) -> Self {
        Self {
            name: String::new(),
            reply: Some(reply),
        }
    }
}

impl PickerDelegate for TerminalNamePicker {
    type Found = String;

    fn name(&self) -> SharedString {
        "Rename terminal".into()
    }

    fn heading(&self) -> Option<SharedString> {
        Some("Name of the terminal".into())
    }

    fn selects_query(&self) -> bool {
        true
    }

    fn placeholder(&self) -> SharedString {
        "Name".into()
    }

    fn search(
        &mut self,
        query: &str,
        _: &mut Window,
        _: &mut Context<Picker<Self>>,
    ) -> Task<Self::Found> {
        Task::ready(query.trim().to_owned())
    }

    fn accept(&mut self, name: Self::Found, _: &mut Context<Picker<Self>>) -> usize {
        self.name = name;
        0
    }

    fn count(&self) -> usize {
        1
    }

    fn row(&self, _: usize, _: &App) -> PickerRow {
        if self.name.is_empty() {
            PickerRow::new("Use the title of the program")
        } else {
            PickerRow::new(format!("Rename to {}", self.name))
        }
    }

    fn footer(&self) -> Vec<FooterHint> {
        vec![FooterHint::new(Confirm, "rename")]
    }

    fn confirm(
        &mut self,
        _: usize,
        _: ConfirmKind,
        _: &mut Window,
        _: &mut Context<Picker<Self>>,
    ) -> AfterConfirm {
        if let Some(reply) = self.reply.take() {
            // The window may have been closed.
            reply.send(self.name.clone()).ok();
        }
        AfterConfirm::Close
    }
}
