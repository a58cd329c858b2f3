//! Asks for the name of a new branch.

use futures::channel::oneshot;
use gpui_kit::{App, Context, SharedString, Task, Window};
use ui::picker::{
    AfterConfirm, Confirm, ConfirmKind, FooterHint, Picker, PickerDelegate, PickerRow,
};

/// Picker delegate whose query is the name.
pub(crate) struct BranchNamePicker {
    name: String,
    reply: Option<oneshot::Sender<String>>,
}

impl BranchNamePicker {
    /// Creates the picker; `reply` gets the name unless the user dismisses it.
    pub(crate) fn new(reply: oneshot::Sender<String>) -> Self {
        Self {
            name: String::new(),
            reply: Some(reply),
        }
    }
}

impl PickerDelegate for BranchNamePicker {
    type Found = String;

    fn name(&self) -> SharedString {
        "Create branch".into()
    }

    fn heading(&self) -> Option<SharedString> {
        Some("Name of the new branch".into())
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
        // Git permits no blanks in names; a dash takes their place.
        Task::ready(query.split_whitespace().collect::<Vec<_>>().join("-"))
    }

    fn accept(&mut self, name: Self::Found, _: &mut Context<Picker<Self>>) -> usize {
        self.name = name;
        0
    }

    fn count(&self) -> usize {
        usize::from(!self.name.is_empty())
    }

    fn row(&self, _: usize, _: &App) -> PickerRow {
        PickerRow::new(format!("Create {} and switch to it", self.name))
    }

    fn footer(&self) -> Vec<FooterHint> {
        vec![FooterHint::new(Confirm, "create")]
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
