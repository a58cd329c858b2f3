//! Asks for a value that a task needs: any text, or one of several choices.

use futures::channel::oneshot;
use gpui_kit::{App, Context, SharedString, Task, Window};
use tasks::{InputKind, TaskInput};
use ui::picker::{
    AfterConfirm, Confirm, ConfirmKind, FooterHint, Picker, PickerDelegate, PickerRow,
};

/// Picker delegate whose query, or whose row, is the value.
pub(crate) struct TaskInputPicker {
    input: TaskInput,
    text: String,
    /// Indices of the choices that match.
    matching: Vec<usize>,
    reply: Option<oneshot::Sender<String>>,
}

impl TaskInputPicker {
    /// Creates the picker; `reply` gets the value unless the user dismisses it.
    pub(crate) fn new(input: TaskInput, reply: oneshot::Sender<String>) -> Self {
        Self {
            input,
            text: String::new(),
            matching: Vec::new(),
            reply: Some(reply),
        }
    }

    /// Returns the text that the field has at first.
    pub(crate) fn query(&self) -> String {
        match self.input.kind {
            InputKind::Text => self.input.default.clone(),
            InputKind::Choice(_) => String::new(),
        }
    }

    fn choices(&self) -> &[(String, String)] {
        match &self.input.kind {
            InputKind::Text => &[],
            InputKind::Choice(choices) => choices,
        }
    }

    /// Returns the label and the value of a row.
    fn value(&self, ix: usize) -> Option<(&str, &str)> {
        match &self.input.kind {
            InputKind::Text => Some((self.text.as_str(), self.text.as_str())),
            InputKind::Choice(choices) => {
                let (label, value) = choices.get(*self.matching.get(ix)?)?;
                Some((label.as_str(), value.as_str()))
            }
        }
    }
}

impl PickerDelegate for TaskInputPicker {
    type Found = (String, Vec<usize>);

    fn name(&self) -> SharedString {
        "Value for the task".into()
    }

    fn heading(&self) -> Option<SharedString> {
        Some(ui::foreign::one_line(self.input.description.clone()))
    }

    fn selects_query(&self) -> bool {
        true
    }

    fn placeholder(&self) -> SharedString {
        "Value".into()
    }

    fn search(
        &mut self,
        query: &str,
        _: &mut Window,
        _: &mut Context<Picker<Self>>,
    ) -> Task<Self::Found> {
        let wanted = query.trim().to_lowercase();
        let choices = self.choices().iter().enumerate();
        let matching = choices.filter(|(_, (label, _))| label.to_lowercase().contains(&wanted));
        let matching = matching.map(|(ix, _)| ix).collect();
        Task::ready((query.to_owned(), matching))
    }

    fn accept(&mut self, found: Self::Found, _: &mut Context<Picker<Self>>) -> usize {
        (self.text, self.matching) = found;
        let is_default = |ix: &usize| {
            let choice = self.choices().get(*ix);
            choice.is_some_and(|(_, value)| *value == self.input.default)
        };
        self.matching.iter().position(is_default).unwrap_or(0)
    }

    fn count(&self) -> usize {
        match self.input.kind {
            InputKind::Text => 1,
            InputKind::Choice(_) => self.matching.len(),
        }
    }

    fn row(&self, ix: usize, _: &App) -> PickerRow {
        let Some((label, value)) = self.value(ix) else {
            return PickerRow::default();
        };
        let title = if label.is_empty() { "No text" } else { label };
        let row = PickerRow::new(title.to_owned());
        if label == value {
            row
        } else {
            row.detail(value.to_owned())
        }
    }

    fn footer(&self) -> Vec<FooterHint> {
        vec![FooterHint::new(Confirm, "continue")]
    }

    fn confirm(
        &mut self,
        ix: usize,
        _: ConfirmKind,
        _: &mut Window,
        _: &mut Context<Picker<Self>>,
    ) -> AfterConfirm {
        let value = self.value(ix).map(|(_, value)| value.to_owned());
        if let (Some(value), Some(reply)) = (value, self.reply.take()) {
            // The window may have been closed.
            reply.send(value).ok();
        }
        AfterConfirm::Close
    }
}
