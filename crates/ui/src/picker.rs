//! Choosing from a list by typing: the file finder, the palette, symbols, themes.
//!
//! A `PickerDelegate` finds items and renders their rows; `Picker` owns the field, the list, the
//! keys and the footer. Searching is a task: further typing drops the previous one.
//! Invariant: the old rows stay until new ones arrive, so nothing flickers; `selected` is less than
//! `count` if there are rows.

mod render;
mod row;

use base::LogErr as _;
use gpui_kit::component::input::{Copy, InputEvent, InputState};
use gpui_kit::{
    Action, AnyElement, App, AppContext as _, ClipboardItem, Context, DismissEvent, Entity,
    EventEmitter, FocusHandle, Focusable, ScrollStrategy, SharedString, Subscription, Task,
    UniformListScrollHandle, Window,
};

pub use row::PickerRow;

gpui_kit::actions!(
    picker,
    [
        /// Select the next row.
        SelectNext,
        /// Select the previous row.
        SelectPrevious,
        /// Select the first row.
        SelectFirst,
        /// Select the last row.
        SelectLast,
        /// Select one page down.
        SelectPageDown,
        /// Select one page up.
        SelectPageUp,
        /// Confirm the selected row.
        Confirm,
        /// Confirm the selected row with the alternative action, for example opening to the side.
        ConfirmOther,
        /// Confirm all rows at once.
        ConfirmAll,
        /// Complete the query from the selected row.
        Complete,
        /// Dismiss without confirming anything.
        Cancel,
    ]
);

/// Key with which a row was confirmed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConfirmKind {
    /// Enter or a click.
    Usual,
    /// The alternative key: to the side, in a new window.
    Other,
}

/// Effect of a confirmation on the picker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AfterConfirm {
    /// The picker closes afterwards.
    Close,
    /// Keep the picker open, for example after entering a folder; set its query with
    /// `Picker::set_query`.
    Stay,
}

/// An action and its effect, shown with its key in the footer.
#[derive(Debug)]
pub struct FooterHint {
    /// Action whose binding is shown; without a binding, the hint is hidden.
    pub action: Box<dyn Action>,
    /// Effect of the action.
    pub does: SharedString,
}

impl FooterHint {
    /// Creates a hint: the keys of `action` do `does`.
    pub fn new(action: impl Action, does: impl Into<SharedString>) -> Self {
        Self {
            action: Box::new(action),
            does: does.into(),
        }
    }
}

/// Source of a picker's rows, and handler of its choices.
pub trait PickerDelegate: Sized + 'static {
    /// Result of a search; may be computed on another thread.
    type Found: 'static;

    /// Returns the kind of items for screen readers, such as `Files`.
    fn name(&self) -> SharedString;

    /// Returns a heading above the field, for pickers whose field is initially filled, so that the
    /// placeholder is hidden.
    fn heading(&self) -> Option<SharedString> {
        None
    }

    /// Returns whether a query that is set is selected, so that typing replaces it.
    fn selects_query(&self) -> bool {
        false
    }

    /// Returns the placeholder of the empty field.
    fn placeholder(&self) -> SharedString;

    /// Starts a search for the query, which may be empty. The search result goes to `accept`.
    /// Dropping the task cancels the search.
    fn search(
        &mut self,
        query: &str,
        window: &mut Window,
        cx: &mut Context<Picker<Self>>,
    ) -> Task<Self::Found>;

    /// Replaces the rows by a search result. Returns the row to select, usually the first.
    fn accept(&mut self, found: Self::Found, cx: &mut Context<Picker<Self>>) -> usize;

    /// Returns the row to select after a refresh, for the row that was selected before it.
    fn kept_row(&self, ix: usize) -> usize {
        ix
    }

    /// Returns the number of rows.
    fn count(&self) -> usize;

    /// Builds the row with index `ix` for display. `ix` is less than `count`.
    fn row(&self, ix: usize, cx: &App) -> PickerRow;

    /// Returns headings, each with the row it precedes, in order.
    fn sections(&self) -> Vec<(usize, SharedString)> {
        Vec::new()
    }

    /// Returns the number of text lines per row.
    fn row_lines(&self) -> u8 {
        1
    }

    /// Handles a change of the selection, for example by previewing the row.
    fn selected(&mut self, _ix: usize, _window: &mut Window, _cx: &mut Context<Picker<Self>>) {}

    /// Handles the confirmation of the row with index `ix`. Returns whether the picker closes.
    fn confirm(
        &mut self,
        ix: usize,
        kind: ConfirmKind,
        window: &mut Window,
        cx: &mut Context<Picker<Self>>,
    ) -> AfterConfirm;

    /// Handles the key that confirms all rows. By default, does nothing. `AfterConfirm::Close`
    /// closes the picker.
    fn confirm_all(
        &mut self,
        _window: &mut Window,
        _cx: &mut Context<Picker<Self>>,
    ) -> AfterConfirm {
        AfterConfirm::Stay
    }

    /// Handles Enter when the picker has no rows. `AfterConfirm::Close` closes the picker.
    fn confirm_query(
        &mut self,
        _query: &str,
        _window: &mut Window,
        _cx: &mut Context<Picker<Self>>,
    ) -> AfterConfirm {
        AfterConfirm::Stay
    }

    /// Handles dismissal without confirmation: reverts a preview.
    fn cancelled(&mut self, _window: &mut Window, _cx: &mut Context<Picker<Self>>) {}

    /// Returns the query completed by Tab from the selected row; `None` leaves the query as it is.
    fn complete(&self, _ix: usize) -> Option<String> {
        None
    }

    /// Returns the query completed by Tab, independently of the selection; `None` lets the selected
    /// row complete it.
    fn complete_query(&self, _query: &str) -> Option<String> {
        None
    }

    /// Returns the text that the key for copying copies from a row while no part of the query is
    /// selected; `None` if the rows cannot be copied.
    fn copy_text(&self, _ix: usize) -> Option<String> {
        None
    }

    /// Returns the message shown when nothing matches.
    fn nothing_found(&self, query: &str) -> SharedString {
        if query.is_empty() {
            "No entries".into()
        } else {
            "No matching results".into()
        }
    }

    /// Returns the status at the left of the footer, such as counts or progress. `None` shows no
    /// status.
    fn status(&self) -> Option<SharedString> {
        None
    }

    /// Returns the key hints at the right of the footer.
    fn footer(&self) -> Vec<FooterHint> {
        Vec::new()
    }

    /// Renders the preview of the selected row, beside the list. Returns `None` if the picker has
    /// no preview.
    fn preview(
        &self,
        _ix: usize,
        _window: &mut Window,
        _cx: &mut Context<Picker<Self>>,
    ) -> Option<AnyElement> {
        None
    }
}

/// A query field with a list of results.
pub struct Picker<D: PickerDelegate> {
    delegate: D,
    input: Entity<InputState>,
    query: String,
    selected: usize,
    sections: Vec<(usize, SharedString)>,
    scroll: UniformListScrollHandle,
    searching: Option<Task<()>>,
    /// Whether the rows belong to the previous query, because the search is still running.
    is_stale: bool,
    /// Enter was pressed while the rows were stale: confirm the first row of the new result.
    awaited: Option<ConfirmKind>,
    /// Whether a row was confirmed or the picker dismissed, so that nothing is reverted any more.
    finished: bool,
    _typed: Subscription,
}

/// Number of rows shown at once.
const VISIBLE_ROWS: usize = 12;

impl<D: PickerDelegate> Picker<D> {
    /// Creates a picker with an empty field and starts a search.
    pub fn new(delegate: D, window: &mut Window, cx: &mut Context<Self>) -> Self {
        let placeholder = delegate.placeholder();
        let input = cx.new(|cx| InputState::new(window, cx).placeholder(placeholder));
        let typed = cx.subscribe_in(
            &input,
            window,
            |this, input, event: &InputEvent, window, cx| {
                if matches!(event, InputEvent::Change) {
                    let query = input.read(cx).value().to_string();
                    if query != this.query {
                        this.query = query;
                        this.search(None, window, cx);
                    }
                }
            },
        );
        let mut this = Self {
            delegate,
            input,
            query: String::new(),
            selected: 0,
            sections: Vec::new(),
            scroll: UniformListScrollHandle::new(),
            searching: None,
            is_stale: false,
            awaited: None,
            finished: false,
            _typed: typed,
        };
        this.search(None, window, cx);
        this
    }

    /// Returns the delegate of the picker.
    pub fn delegate(&self) -> &D {
        &self.delegate
    }

    /// Returns the delegate for changing it; call `refresh` if its rows change.
    pub fn delegate_mut(&mut self) -> &mut D {
        &mut self.delegate
    }

    /// Returns the current query.
    pub fn query(&self) -> &str {
        &self.query
    }

    /// Returns the index of the selected row, or `None` if there are no rows.
    pub fn selected(&self) -> Option<usize> {
        (self.selected < self.delegate.count()).then_some(self.selected)
    }

    /// Sets the query as if the user typed it.
    pub fn set_query(&mut self, query: &str, window: &mut Window, cx: &mut Context<Self>) {
        self.query = query.to_owned();
        let selects = self.delegate.selects_query();
        let text = SharedString::from(query.to_owned());
        self.input.update(cx, |input, cx| {
            input.set_value(text, window, cx);
            let end = input.value().len();
            let start = if selects { 0 } else { end };
            input.set_selected_range(start..end, cx);
        });
        self.search(None, window, cx);
    }

    /// Runs the search again for changed data; keeps the selected row.
    pub fn refresh(&mut self, window: &mut Window, cx: &mut Context<Self>) {
        self.search(Some(self.selected), window, cx);
    }

    /// Runs the search again for changed data; the delegate chooses the row to select.
    pub fn reload(&mut self, window: &mut Window, cx: &mut Context<Self>) {
        self.search(None, window, cx);
    }

    /// Selects the row with this index, or the last row if the index is too large, and scrolls to
    /// the row. Does nothing if there are no rows.
    pub fn select(&mut self, ix: usize, window: &mut Window, cx: &mut Context<Self>) {
        let count = self.delegate.count();
        if count == 0 {
            return;
        }
        self.selected = ix.min(count - 1);
        self.scroll
            .scroll_to_item(self.list_index(self.selected), ScrollStrategy::Nearest);
        self.delegate.selected(self.selected, window, cx);
        cx.notify();
    }

    fn search(&mut self, keep: Option<usize>, window: &mut Window, cx: &mut Context<Self>) {
        if keep.is_none() {
            self.is_stale = true;
            self.awaited = None;
        }
        let query = self.query.clone();
        let found = self.delegate.search(&query, window, cx);
        self.searching = Some(cx.spawn_in(window, async move |this, cx| {
            let found = found.await;
            this.update_in(cx, |this, window, cx| this.accept(found, keep, window, cx))
                .log_err();
        }));
    }

    fn accept(
        &mut self,
        found: D::Found,
        keep: Option<usize>,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        let first = self.delegate.accept(found, cx);
        self.sections = self.delegate.sections();
        self.searching = None;
        self.selected = 0;
        self.is_stale = false;
        let chosen = keep.map_or(first, |ix| self.delegate.kept_row(ix));
        self.select(chosen, window, cx);
        if let Some(kind) = self.awaited.take() {
            self.take(self.selected, kind, window, cx);
        }
        cx.notify();
    }

    /// Returns the index of a row in the list, counting headings.
    fn list_index(&self, ix: usize) -> usize {
        ix + self
            .sections
            .iter()
            .take_while(|(start, _)| *start <= ix)
            .count()
    }

    fn move_by(&mut self, rows: isize, window: &mut Window, cx: &mut Context<Self>) {
        let count = self.delegate.count();
        if count == 0 {
            return;
        }
        // A step past an end wraps around; a page stops at the end.
        let ix = match rows {
            1 => (self.selected + 1) % count,
            -1 => (self.selected + count - 1) % count,
            _ => self.selected.saturating_add_signed(rows).min(count - 1),
        };
        self.select(ix, window, cx);
    }

    /// Confirms the selected row once the rows match the query: keys may be faster than the search.
    fn confirm(&mut self, kind: ConfirmKind, window: &mut Window, cx: &mut Context<Self>) {
        if self.is_stale {
            self.awaited = Some(kind)
        } else {
            self.take(self.selected, kind, window, cx)
        }
    }

    fn take(&mut self, ix: usize, kind: ConfirmKind, window: &mut Window, cx: &mut Context<Self>) {
        let after = if ix < self.delegate.count() {
            self.delegate.confirm(ix, kind, window, cx)
        } else {
            let query = self.query.clone();
            self.delegate.confirm_query(&query, window, cx)
        };
        if after == AfterConfirm::Close {
            self.finished = true;
            cx.emit(DismissEvent);
        }
    }

    fn confirm_all(&mut self, _: &ConfirmAll, window: &mut Window, cx: &mut Context<Self>) {
        if self.delegate.count() > 0 && self.delegate.confirm_all(window, cx) == AfterConfirm::Close
        {
            self.finished = true;
            cx.emit(DismissEvent);
        }
    }

    fn cancel(&mut self, _: &Cancel, window: &mut Window, cx: &mut Context<Self>) {
        if !self.finished {
            self.finished = true;
            self.delegate.cancelled(window, cx);
            cx.emit(DismissEvent);
        }
    }

    /// Copies the selected row before the field handles the key, which copies its selection.
    fn copy(&mut self, _: &Copy, _: &mut Window, cx: &mut Context<Self>) {
        if !self.input.read(cx).selected_range().is_empty() {
            return;
        }
        let text = self.selected().and_then(|ix| self.delegate.copy_text(ix));
        if let Some(text) = text {
            cx.write_to_clipboard(ClipboardItem::new_string(text));
            cx.stop_propagation();
        }
    }

    fn complete(&mut self, _: &Complete, window: &mut Window, cx: &mut Context<Self>) {
        let of_row = || self.selected().and_then(|ix| self.delegate.complete(ix));
        let query = self.delegate.complete_query(&self.query).or_else(of_row);
        if let Some(query) = query {
            self.set_query(&query, window, cx);
        }
    }
}

impl<D: PickerDelegate> EventEmitter<DismissEvent> for Picker<D> {}

impl<D: PickerDelegate> Focusable for Picker<D> {
    fn focus_handle(&self, cx: &App) -> FocusHandle {
        self.input.read(cx).focus_handle(cx)
    }
}

#[cfg(test)]
mod tests;
