//! Go to Line: the view scrolls along while the user types.

use editor::{Editor, ViewState};
use gpui_kit::{App, Context, Entity, SharedString, Task, Window};
use ui::picker::{AfterConfirm, ConfirmKind, Picker, PickerDelegate, PickerRow};

use crate::open_options::{GoToPosition, go_to};
use crate::target::LineColumn;

/// Picker delegate for a line of one text.
pub(crate) struct LinePicker {
    editor: Entity<Editor>,
    before: ViewState,
    rows: u32,
    place: Option<LineColumn>,
}

impl LinePicker {
    /// Creates the picker and remembers the view's position. Dismissing the picker restores this
    /// position.
    pub(crate) fn new(editor: Entity<Editor>, cx: &mut App) -> Self {
        let before = editor.update(cx, |editor, cx| editor.view_state(cx));
        let rows = editor.read(cx).model().read(cx).snapshot().row_count();
        Self {
            editor,
            before,
            rows,
            place: None,
        }
    }
}

impl PickerDelegate for LinePicker {
    type Found = Option<LineColumn>;

    fn name(&self) -> SharedString {
        "Line".into()
    }

    fn placeholder(&self) -> SharedString {
        format!("Line from 1 to {}, or line:column", self.rows).into()
    }

    fn search(
        &mut self,
        query: &str,
        _: &mut Window,
        _: &mut Context<Picker<Self>>,
    ) -> Task<Self::Found> {
        Task::ready(LineColumn::parse(query.trim_start_matches(':')))
    }

    fn accept(&mut self, found: Self::Found, cx: &mut Context<Picker<Self>>) -> usize {
        self.place = found;
        if let Some(place) = found {
            go_to(&self.editor, GoToPosition::Place(place), cx);
        }
        0
    }

    fn count(&self) -> usize {
        usize::from(self.place.is_some())
    }

    fn row(&self, _: usize, _: &App) -> PickerRow {
        match self.place {
            Some(place) => {
                let row = PickerRow::new(format!("Go to line {}", place.line.min(self.rows)));
                if place.column > 1 {
                    row.detail(format!("column {}", place.column))
                } else {
                    row
                }
            }
            None => PickerRow::default(),
        }
    }

    fn confirm(
        &mut self,
        _: usize,
        _: ConfirmKind,
        _: &mut Window,
        _: &mut Context<Picker<Self>>,
    ) -> AfterConfirm {
        AfterConfirm::Close
    }

    fn cancelled(&mut self, _: &mut Window, cx: &mut Context<Picker<Self>>) {
        let before = self.before.clone();
        self.editor
            .update(cx, |editor, cx| editor.restore_view_state(&before, cx));
    }

    fn nothing_found(&self, query: &str) -> SharedString {
        if query.is_empty() {
            "Type the number of a line".into()
        } else {
            "Not a line number".into()
        }
    }
}
