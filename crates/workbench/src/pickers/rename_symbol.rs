//! Asks for the new name of a symbol.

use base::{LineFeeds, printable};
use futures::channel::oneshot;
use gpui_kit::{App, Context, SharedString, Task, Window};
use ui::picker::{
    AfterConfirm, Confirm, ConfirmKind, ConfirmOther, FooterHint, Picker, PickerDelegate, PickerRow,
};

/// The answer of the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NewName {
    /// The name.
    pub(crate) name: String,
    /// Whether to show the changes before they are made.
    pub(crate) wants_preview: bool,
}

/// Picker delegate whose query is the new name.
pub(crate) struct RenamePicker {
    old: String,
    new: String,
    reply: Option<oneshot::Sender<NewName>>,
}

impl RenamePicker {
    /// Creates the picker; `reply` gets the answer unless the user dismisses it.
    pub(crate) fn new(old: &str, reply: oneshot::Sender<NewName>) -> Self {
        Self {
            old: old.to_owned(),
            new: String::new(),
            reply: Some(reply),
        }
    }

    fn is_new(&self) -> bool {
        !self.new.is_empty() && self.new != self.old
    }
}

impl PickerDelegate for RenamePicker {
    type Found = String;

    fn name(&self) -> SharedString {
        "Rename symbol".into()
    }

    fn heading(&self) -> Option<SharedString> {
        let old = printable(&self.old, LineFeeds::Escape);
        Some(format!("Rename \u{201c}{old}\u{201d}").into())
    }

    fn selects_query(&self) -> bool {
        true
    }

    fn placeholder(&self) -> SharedString {
        "New name".into()
    }

    fn search(
        &mut self,
        query: &str,
        _: &mut Window,
        _: &mut Context<Picker<Self>>,
    ) -> Task<Self::Found> {
        Task::ready(query.trim().to_owned())
    }

    fn accept(&mut self, new: Self::Found, _: &mut Context<Picker<Self>>) -> usize {
        self.new = new;
        0
    }

    fn count(&self) -> usize {
        usize::from(self.is_new())
    }

    fn row(&self, _: usize, _: &App) -> PickerRow {
        PickerRow::new(format!("Rename to {}", self.new))
    }

    fn nothing_found(&self, _: &str) -> SharedString {
        "Type another name".into()
    }

    fn footer(&self) -> Vec<FooterHint> {
        vec![
            FooterHint::new(Confirm, "rename"),
            FooterHint::new(ConfirmOther, "show the changes first"),
        ]
    }

    fn confirm(
        &mut self,
        _: usize,
        kind: ConfirmKind,
        _: &mut Window,
        _: &mut Context<Picker<Self>>,
    ) -> AfterConfirm {
        if let Some(reply) = self.reply.take() {
            let answer = NewName {
                name: self.new.clone(),
                wants_preview: kind == ConfirmKind::Other,
            };
            // The window may have been closed.
            reply.send(answer).ok();
        }
        AfterConfirm::Close
    }
}
