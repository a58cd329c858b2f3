//! Navigation history: Back and Forward, and opening a location.

use base::AbsPath;
use gpui_kit::{Context, Div, InteractiveElement as _, Stateful, Window};

use super::Workbench;
use crate::actions::go::{Back, Forward};
use crate::item::TabItem;
use crate::layout::ItemId;
use crate::open_options::{Focus, GoToPosition, OpenOptions, go_to};

/// Registers the actions of this module.
pub(super) fn with_actions(element: Stateful<Div>, cx: &mut Context<Workbench>) -> Stateful<Div> {
    element
        .on_action(cx.listener(go_back))
        .on_action(cx.listener(go_forward))
}

/// A location in the navigation history.
#[derive(Clone, Debug)]
pub(crate) struct NavigationEntry {
    item: ItemId,
    path: Option<AbsPath>,
    /// Byte offset of the caret, and its row when the location was recorded.
    offset: base::ByteOffset,
    row: base::Row,
}

/// Locations in one text that are fewer rows apart than this count as the same.
const NEAR: u32 = 8;

/// Whether two locations are in the same text and fewer than `NEAR` rows apart.
fn is_same(a: &NavigationEntry, b: &NavigationEntry) -> bool {
    let is_same_text = a.item == b.item || (a.path.is_some() && a.path == b.path);
    is_same_text && a.row.0.abs_diff(b.row.0) < NEAR
}

impl Workbench {
    /// Records the current location before a jump.
    pub(crate) fn leave_place(&mut self, cx: &mut Context<Self>) {
        if let Some(here) = here(self, cx) {
            self.navigation.push(here, is_same);
        }
    }

    /// Opens a file selected in a picker.
    pub(crate) fn open_found(
        &mut self,
        path: AbsPath,
        place: Option<crate::target::LineColumn>,
        to_side: bool,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        self.open_at(path, place.map(GoToPosition::Place), to_side, window, cx);
    }

    /// Opens a file at a location selected in a picker.
    pub(crate) fn open_at(
        &mut self,
        path: AbsPath,
        position: Option<GoToPosition>,
        to_side: bool,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        let options = OpenOptions {
            focus: Focus::Take,
            ..OpenOptions::lasting()
        }
        .at(position);
        if to_side {
            let pane = self.layout.active_pane();
            if let Some(new) = self.layout.split(pane, crate::layout::PaneSide::Right) {
                self.layout_changed(cx);
                self.open_path_in(path, new, options, window, cx);
                return;
            }
        }
        self.open_path(path, options, window, cx);
    }
}

/// Returns the location of the caret. Returns `None` if the active tab shows no text.
fn here(workbench: &Workbench, cx: &mut Context<Workbench>) -> Option<NavigationEntry> {
    let item = workbench.layout.active_item()?;
    let editor = workbench.item(item)?.editor()?.clone();
    let (point, offset) = editor.update(cx, |editor, cx| {
        (editor.caret_point(cx), editor.selections(cx).primary().head)
    });
    let path = workbench.item(item)?.path(cx);
    Some(NavigationEntry {
        item,
        path,
        offset,
        row: point.row,
    })
}

fn go_back(workbench: &mut Workbench, _: &Back, window: &mut Window, cx: &mut Context<Workbench>) {
    if let Some(place) =
        here(workbench, cx).and_then(|here| workbench.navigation.back(here, is_same))
    {
        return_to(workbench, place, window, cx);
    }
}

fn go_forward(
    workbench: &mut Workbench,
    _: &Forward,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    if let Some(place) = workbench.navigation.forward() {
        return_to(workbench, place, window, cx);
    }
}

fn return_to(
    workbench: &mut Workbench,
    place: NavigationEntry,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let position = GoToPosition::Span(base::Span::at(place.offset));
    if let Some(editor) = workbench
        .item(place.item)
        .and_then(TabItem::editor)
        .cloned()
    {
        go_to(&editor, position, cx);
        workbench.activate(place.item, window, cx);
    } else if let Some(path) = place.path {
        let navigation = std::mem::take(&mut workbench.navigation);
        workbench.open_path(path, OpenOptions::lasting().at(Some(position)), window, cx);
        // Opening a file records a location; Back and Forward must not.
        workbench.navigation = navigation;
    }
}
