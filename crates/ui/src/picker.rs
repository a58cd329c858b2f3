//! Choosing from a list by typing: the file finder, the palette, symbols, themes.
//!
//! A `PickerDelegate` finds the items and says what they look like; `Picker` has the field, the list, the
//! keys and the footer. Searching is a task: typing on drops the one before.
//! Invariant: the old rows stay until new ones are there, so nothing flickers; `selected` is below `count`
//! whenever there are rows.

mod render;
mod row;

use base::LogErr as _;
use gpui_kit::component::input::{InputEvent, InputState};
use gpui_kit::{
    AnyElement, App, AppContext as _, Context, DismissEvent, Entity, EventEmitter, FocusHandle,
    Focusable, ScrollStrategy, SharedString, Subscription, Task, UniformListScrollHandle, Window,
};

pub use row::PickerRow;

gpui_kit::actions!(
    picker,
    [
        /// Go to the next row.
        SelectNext,
        /// Go to the previous row.
        SelectPrevious,
        /// Go to the first row.
        SelectFirst,
        /// Go to the last row.
        SelectLast,
        /// Go a page of rows down.
        SelectPageDown,
        /// Go a page of rows up.
        SelectPageUp,
        /// Take the chosen row.
        Confirm,
        /// Take the chosen row the other way, for instance to the side.
        ConfirmOther,
        /// Take all rows together.
        ConfirmAll,
        /// Complete what was typed from the chosen row.
        Complete,
        /// Leave without taking anything.
        Cancel,
    ]
);

/// How a row was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    /// With Enter or a click.
    Usual,
    /// With the other key: to the side, in a new window.
    Other,
}

/// What becomes of the picker after a row was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum After {
    /// It closes.
    Close,
    /// It stays, for instance because a folder was entered; the query is `Picker::set_query`'s.
    Stay,
}

/// A key and what it does, for the footer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FooterHint {
    /// Keys as text.
    pub keys: SharedString,
    /// What they do.
    pub does: SharedString,
}

impl FooterHint {
    /// `keys` do `does`.
    pub fn new(keys: impl Into<SharedString>, does: impl Into<SharedString>) -> Self {
        Self {
            keys: keys.into(),
            does: does.into(),
        }
    }
}

/// What a picker chooses among.
pub trait PickerDelegate: Sized + 'static {
    /// What a search gives back; may be found on another thread.
    type Found: 'static;

    /// What is chosen, for screen readers: `Files`.
    fn name(&self) -> SharedString;

    /// Shown above the field, where the field is not empty at first and its placeholder says nothing.
    fn heading(&self) -> Option<SharedString> {
        None
    }

    /// Shown in the empty field.
    fn placeholder(&self) -> SharedString;

    /// Starts to look for what fits the query. Dropping the task stops it.
    fn search(
        &mut self,
        query: &str,
        window: &mut Window,
        cx: &mut Context<Picker<Self>>,
    ) -> Task<Self::Found>;

    /// Takes what was found; from now on rows are these. Returns the row to choose, usually the first.
    fn accept(&mut self, found: Self::Found, cx: &mut Context<Picker<Self>>) -> usize;

    /// How many rows there are.
    fn count(&self) -> usize;

    /// What a row looks like.
    fn row(&self, ix: usize, cx: &App) -> PickerRow;

    /// Headings, each with the row it stands above, in order.
    fn sections(&self) -> Vec<(usize, SharedString)> {
        Vec::new()
    }

    /// Lines of each row.
    fn row_lines(&self) -> u8 {
        1
    }

    /// Another row was chosen: preview it.
    fn selected(&mut self, _ix: usize, _window: &mut Window, _cx: &mut Context<Picker<Self>>) {}

    /// A row was taken.
    fn confirm(
        &mut self,
        ix: usize,
        taken: Taken,
        window: &mut Window,
        cx: &mut Context<Picker<Self>>,
    ) -> After;

    /// All rows are to be taken together. `After::Close` closes.
    fn confirm_all(&mut self, _window: &mut Window, _cx: &mut Context<Picker<Self>>) -> After {
        After::Stay
    }

    /// Enter was pressed with no row. `After::Close` closes.
    fn confirm_query(
        &mut self,
        _query: &str,
        _window: &mut Window,
        _cx: &mut Context<Picker<Self>>,
    ) -> After {
        After::Stay
    }

    /// The picker closes without a row taken: take back a preview.
    fn cancelled(&mut self, _window: &mut Window, _cx: &mut Context<Picker<Self>>) {}

    /// What Tab makes of the query with this row chosen.
    fn complete(&self, _ix: usize) -> Option<String> {
        None
    }

    /// What Tab makes of the query whatever row is chosen.
    fn complete_query(&self, _query: &str) -> Option<String> {
        None
    }

    /// Shown instead of rows when nothing fits.
    fn nothing_found(&self, query: &str) -> SharedString {
        if query.is_empty() {
            "Nothing here".into()
        } else {
            "Nothing fits".into()
        }
    }

    /// Shown at the left of the footer: how many, how far.
    fn status(&self) -> Option<SharedString> {
        None
    }

    /// Keys worth knowing, at the right of the footer.
    fn footer(&self) -> Vec<FooterHint> {
        Vec::new()
    }

    /// Beside the list: the chosen row in full.
    fn preview(
        &self,
        _ix: usize,
        _window: &mut Window,
        _cx: &mut Context<Picker<Self>>,
    ) -> Option<AnyElement> {
        None
    }
}

/// The field and the list.
pub struct Picker<D: PickerDelegate> {
    delegate: D,
    input: Entity<InputState>,
    query: String,
    selected: usize,
    sections: Vec<(usize, SharedString)>,
    scroll: UniformListScrollHandle,
    searching: Option<Task<()>>,
    /// The rows belong to what was typed before: the answer for the query is still looked for.
    is_stale: bool,
    /// Enter was pressed on rows that were stale: the first row of the answer is meant.
    awaited: Option<Taken>,
    /// A row was taken or the picker left: nothing is to be taken back any more.
    finished: bool,
    _typed: Subscription,
}

/// Rows shown at once.
const VISIBLE_ROWS: usize = 12;

impl<D: PickerDelegate> Picker<D> {
    /// A picker with an empty field; it starts to search at once.
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

    /// What it chooses among.
    pub fn delegate(&self) -> &D {
        &self.delegate
    }

    /// The same, to change; call `refresh` when the rows change with it.
    pub fn delegate_mut(&mut self) -> &mut D {
        &mut self.delegate
    }

    /// What was typed.
    pub fn query(&self) -> &str {
        &self.query
    }

    /// The chosen row.
    pub fn selected(&self) -> Option<usize> {
        (self.selected < self.delegate.count()).then_some(self.selected)
    }

    /// Puts text into the field, as if typed.
    pub fn set_query(&mut self, query: &str, window: &mut Window, cx: &mut Context<Self>) {
        self.query = query.to_owned();
        let text = SharedString::from(query.to_owned());
        self.input.update(cx, |input, cx| {
            input.set_value(text, window, cx);
            let end = input.value().len();
            input.set_selected_range(end..end, cx);
        });
        self.search(None, window, cx);
    }

    /// Searches again because there is more to find; the chosen row stays the one of its number.
    pub fn refresh(&mut self, window: &mut Window, cx: &mut Context<Self>) {
        self.search(Some(self.selected), window, cx);
    }

    /// Chooses a row.
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
        self.select(keep.unwrap_or(first), window, cx);
        if let Some(taken) = self.awaited.take() {
            self.take(self.selected, taken, window, cx);
        }
        cx.notify();
    }

    /// Where a row stands in the list, headings counted.
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
        // One step past an end goes to the other; a page stops at the end.
        let ix = match rows {
            1 => (self.selected + 1) % count,
            -1 => (self.selected + count - 1) % count,
            _ => self.selected.saturating_add_signed(rows).min(count - 1),
        };
        self.select(ix, window, cx);
    }

    /// Takes the chosen row, as soon as the rows are those of what was typed: keys may be faster than the search.
    fn confirm(&mut self, taken: Taken, window: &mut Window, cx: &mut Context<Self>) {
        match self.is_stale {
            true => self.awaited = Some(taken),
            false => self.take(self.selected, taken, window, cx),
        }
    }

    fn take(&mut self, ix: usize, taken: Taken, window: &mut Window, cx: &mut Context<Self>) {
        let after = if ix < self.delegate.count() {
            self.delegate.confirm(ix, taken, window, cx)
        } else {
            let query = self.query.clone();
            self.delegate.confirm_query(&query, window, cx)
        };
        if after == After::Close {
            self.finished = true;
            cx.emit(DismissEvent);
        }
    }

    fn confirm_all(&mut self, _: &ConfirmAll, window: &mut Window, cx: &mut Context<Self>) {
        if self.delegate.count() > 0 && self.delegate.confirm_all(window, cx) == After::Close {
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
