//! Asks for the name of a branch or tag at a commit.

use futures::channel::oneshot;
use gpui_kit::{App, Context, SharedString, Task, Window};
use ui::picker::{
    AfterConfirm, Confirm, ConfirmKind, FooterHint, Picker, PickerDelegate, PickerRow,
};

/// Picker delegate whose query is the name.
pub(crate) struct CommitNamePicker {
    is_tag: bool,
    /// The subject of the commit.
    subject: String,
    name: String,
    reply: Option<oneshot::Sender<String>>,
}

impl CommitNamePicker {
    /// Creates the picker; `reply` gets the name unless the user dismisses it.
    pub(crate) fn new(is_tag: bool, subject: String, reply: oneshot::Sender<String>) -> Self {
        Self {
            is_tag,
            subject,
            name: String::new(),
            reply: Some(reply),
        }
    }

    fn kind(&self) -> &'static str {
        if self.is_tag { "tag" } else { "branch" }
    }
}

impl PickerDelegate for CommitNamePicker {
    type Found = String;

    fn name(&self) -> SharedString {
        format!("Create {}", self.kind()).into()
    }

    fn heading(&self) -> Option<SharedString> {
        Some(ui::foreign::one_line(format!(
            "New {} at \u{201c}{}\u{201d}",
            self.kind(),
            self.subject
        )))
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
        usize::from(!self.name.is_empty())
    }

    fn row(&self, _: usize, _: &App) -> PickerRow {
        PickerRow::new(format!("Create {} {}", self.kind(), self.name))
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
