//! The content of a peek: the text around the selected place, and the list of the places.
//!
//! The text is a view of the place's document that never has the focus: it scrolls, and is edited in its
//! own tab.
//! Invariant: an index of a place is less than the number of places.

use std::ops::Range;

use base::{AbsPath, path_text};
use editor::{Editor, Reveal};
use gpui_kit::prelude::FluentBuilder as _;
use gpui_kit::{
    App, Context, Div, Entity, FocusHandle, Focusable, InteractiveElement as _, IntoElement,
    MouseButton, MouseDownEvent, ParentElement as _, Render, Role, ScrollStrategy, SharedString,
    StatefulInteractiveElement as _, Styled as _, Task, TestSupportExt as _,
    UniformListScrollHandle, WeakEntity, Window, div, px, uniform_list,
};
use project::Binary;
use ui::{ActiveTheme as _, Elide, Label, dp};

use crate::actions::peek::{Close, Open, ScrollDown, ScrollUp, SelectNext, SelectPrevious};
use crate::documents::Documents;
use crate::workbench::Workbench;
use crate::workbench::locations::FoundPlace;

/// Width of the list, in design pixels.
const LIST_WIDTH: f32 = 300.0;
/// Height of a row of the list and of the title, in design pixels.
const ROW: f32 = 24.0;
/// Rows that a key scrolls the text by.
const SCROLLED_ROWS: f64 = 8.0;

/// The content of a peek.
pub(crate) struct PeekView {
    title: SharedString,
    /// Not empty.
    places: Vec<FoundPlace>,
    /// The names of the places' files, relative to the folder.
    files: Vec<SharedString>,
    selected: usize,
    /// The view of the selected place's document.
    text: Option<(AbsPath, Entity<Editor>)>,
    /// The reason for which the document cannot be shown.
    failure: Option<SharedString>,
    loading: Option<Task<()>>,
    scroll: UniformListScrollHandle,
    focus: FocusHandle,
    workbench: WeakEntity<Workbench>,
}

impl Focusable for PeekView {
    fn focus_handle(&self, _: &App) -> FocusHandle {
        self.focus.clone()
    }
}

impl PeekView {
    /// Creates a view of places, at least one, whose names are shown relative to `root`.
    pub(super) fn new(
        title: String,
        places: Vec<FoundPlace>,
        root: Option<AbsPath>,
        workbench: WeakEntity<Workbench>,
        cx: &mut Context<Self>,
    ) -> Self {
        let files = places.iter().map(|place| {
            let root = root.as_ref();
            let relative = root.and_then(|root| place.path.relative_to(root));
            let name = path_text(relative.unwrap_or(place.path.as_path()));
            SharedString::from(format!("{name}:{}", place.rows.start.0 + 1))
        });
        Self {
            title: title.into(),
            files: files.collect(),
            places,
            selected: 0,
            text: None,
            failure: None,
            loading: None,
            scroll: UniformListScrollHandle::new(),
            focus: cx.focus_handle(),
            workbench,
        }
    }

    /// Selects a place and shows its text.
    pub(super) fn select(this: &Entity<Self>, ix: usize, window: &mut Window, cx: &mut App) {
        this.update(cx, |this, cx| this.select_place(ix, window, cx));
    }

    fn select_place(&mut self, ix: usize, window: &mut Window, cx: &mut Context<Self>) {
        let Some(place) = self.places.get(ix).cloned() else {
            return;
        };
        self.selected = ix;
        self.scroll.scroll_to_item(ix, ScrollStrategy::Nearest);
        self.loading = None;
        cx.notify();
        if let Some((path, text)) = &self.text
            && *path == place.path
        {
            text.update(cx, |text, cx| {
                text.select(vec![place.span], Reveal::Center, cx);
            });
            return;
        }
        let loading = Documents::open(place.path.clone(), Binary::Refuse, cx);
        self.loading = Some(cx.spawn_in(window, async move |this, cx| {
            let loaded = loading.await;
            // The window or the peek may have been closed.
            let shown = this.update_in(cx, |this, window, cx| {
                match loaded {
                    Ok(document) => this.show_document(&place, document, window, cx),
                    Err(error) => {
                        (this.text, this.failure) = (None, Some(error.to_string().into()));
                    }
                }
                cx.notify();
            });
            shown.ok();
        }));
    }

    fn show_document(
        &mut self,
        place: &FoundPlace,
        document: Entity<editor::DocumentModel>,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        let created = self.workbench.update(cx, |workbench, cx| {
            workbench.new_editor(document, window, cx)
        });
        // The window may be closing.
        let Ok(text) = created else {
            return;
        };
        text.update(cx, |text, cx| {
            text.select(vec![place.span], Reveal::Center, cx);
        });
        self.text = Some((place.path.clone(), text));
        self.failure = None;
    }

    /// Selects the place `steps` after the selected one, and begins anew after the last.
    fn move_by(&mut self, steps: usize, window: &mut Window, cx: &mut Context<Self>) {
        let ix = (self.selected + steps) % self.places.len().max(1);
        self.select_place(ix, window, cx);
    }

    fn scroll_text(&self, rows: f64, cx: &mut Context<Self>) {
        if let Some((_, text)) = &self.text {
            text.update(cx, |text, cx| {
                let top = text.scroll_top(cx);
                text.set_scroll_top(top + rows, cx);
            });
        }
    }

    /// Opens the selected place in a tab.
    fn open(&self, window: &mut Window, cx: &mut Context<Self>) {
        let Some(place) = self.places.get(self.selected).cloned() else {
            return;
        };
        let workbench = self.workbench.clone();
        // The workbench closes this view.
        window.defer(cx, move |window, cx| {
            workbench
                .update(cx, |workbench, cx| {
                    super::open_place(workbench, &place, window, cx);
                })
                .ok();
        });
    }

    fn close(&self, window: &mut Window, cx: &mut Context<Self>) {
        let workbench = self.workbench.clone();
        // As in `open`.
        window.defer(cx, move |window, cx| {
            workbench
                .update(cx, |workbench, cx| super::close(workbench, window, cx))
                .ok();
        });
    }

    /// Returns the index of the selected place, and the text that is selected in its document.
    #[cfg(test)]
    pub(crate) fn shown(&self, cx: &mut Context<Self>) -> (usize, String) {
        let text = self.text.as_ref();
        let selected = text.map(|(_, text)| text.update(cx, |text, cx| text.selected_text(cx)));
        (self.selected, selected.unwrap_or_default())
    }

    fn render_title(&self, cx: &Context<Self>) -> impl IntoElement {
        let colors = cx.theme().colors;
        let file = self.files.get(self.selected).cloned().unwrap_or_default();
        let count = self.places.len();
        let position = format!("{} of {count}", self.selected + 1);
        div()
            .flex_none()
            .flex()
            .items_center()
            .gap(dp(8.0))
            .h(dp(ROW))
            .px(dp(12.0))
            .bg(colors.raised)
            .child(Label::new(self.title.clone()).strong())
            .child(
                div()
                    .flex_1()
                    .min_w_0()
                    .child(Label::new(file).small().muted().elide(Elide::Middle(72))),
            )
            .when(count > 1, |row| {
                row.child(Label::new(position).small().muted())
            })
    }

    fn render_text(&self, cx: &Context<Self>) -> Div {
        let content = div().relative().flex_1().min_w_0().h_full();
        match (&self.text, &self.failure) {
            (Some((_, text)), _) => {
                // Clicks are for the peek, the wheel is for the text.
                let cover = div()
                    .absolute()
                    .size_full()
                    .top_0()
                    .left_0()
                    .block_mouse_except_scroll()
                    .on_mouse_down(
                        MouseButton::Left,
                        cx.listener(|this, event: &MouseDownEvent, window, cx| {
                            if event.click_count > 1 {
                                this.open(window, cx);
                            }
                        }),
                    );
                content.child(text.clone()).child(cover)
            }
            (None, Some(failure)) => content
                .p(dp(12.0))
                .child(Label::new(failure.clone()).muted()),
            (None, None) => content,
        }
    }

    fn render_list(&self, cx: &Context<Self>) -> impl IntoElement {
        let this = cx.weak_entity();
        let rows = uniform_list(
            "peek-places",
            self.places.len(),
            move |range: Range<usize>, _, cx| {
                let rows = range.filter_map(|ix| {
                    let this = this.upgrade()?;
                    Some(render_place(&this, ix, cx))
                });
                rows.collect::<Vec<_>>()
            },
        );
        div()
            .id("peek-list")
            .test_support()
            .role(Role::ListBox)
            .aria_label(self.title.clone())
            .flex_none()
            .w(dp(LIST_WIDTH))
            .h_full()
            .border_l_1()
            .border_color(cx.theme().colors.border)
            .child(rows.track_scroll(&self.scroll).size_full())
    }
}

impl Render for PeekView {
    fn render(&mut self, _: &mut Window, cx: &mut Context<Self>) -> impl IntoElement {
        let theme = cx.theme();
        let colors = theme.colors;
        let content = div()
            .flex_1()
            .min_h_0()
            .flex()
            .child(self.render_text(cx))
            .when(self.places.len() > 1, |row| row.child(self.render_list(cx)));
        div()
            .id("peek")
            .test_support()
            .role(Role::Group)
            .aria_label(self.title.clone())
            .key_context("EditorBlock Peek")
            .track_focus(&self.focus)
            .on_action(cx.listener(|this, _: &SelectNext, window, cx| {
                this.move_by(1, window, cx);
            }))
            .on_action(cx.listener(|this, _: &SelectPrevious, window, cx| {
                this.move_by(this.places.len().saturating_sub(1), window, cx);
            }))
            .on_action(cx.listener(|this, _: &ScrollDown, _, cx| {
                this.scroll_text(SCROLLED_ROWS, cx);
            }))
            .on_action(cx.listener(|this, _: &ScrollUp, _, cx| {
                this.scroll_text(-SCROLLED_ROWS, cx);
            }))
            .on_action(cx.listener(|this, _: &Open, window, cx| this.open(window, cx)))
            .on_action(cx.listener(|this, _: &Close, window, cx| this.close(window, cx)))
            .occlude()
            .size_full()
            .flex()
            .flex_col()
            .border_y_1()
            .border_color(colors.accent)
            .bg(colors.surface)
            .font_family(theme.fonts.ui_family.clone())
            .text_size(dp(13.0))
            .text_color(colors.text)
            .cursor_default()
            .child(self.render_title(cx))
            .child(content)
    }
}

fn render_place(this: &Entity<PeekView>, ix: usize, cx: &App) -> impl IntoElement + use<> {
    let view = this.read(cx);
    let colors = cx.theme().colors;
    let is_selected = ix == view.selected;
    let file = view.files.get(ix).cloned().unwrap_or_default();
    let line = view.places.get(ix).map(|place| place.line.clone());
    let line = line.unwrap_or_default();
    let clicked = this.downgrade();
    div()
        .id(("peek-place", ix))
        .test_support()
        .role(Role::ListBoxOption)
        .aria_label(SharedString::from(format!("{file}, {line}")))
        .aria_selected(is_selected)
        .flex()
        .items_center()
        .gap(dp(8.0))
        .w_full()
        .h(dp(ROW))
        .px(dp(8.0))
        .when(is_selected, |row| row.bg(colors.selected))
        .when(!is_selected, |row| {
            row.hover(|style| style.bg(colors.hover))
        })
        .on_mouse_down(
            MouseButton::Left,
            move |event: &MouseDownEvent, window, cx| {
                // A closed peek has nothing to do.
                clicked
                    .update(cx, |this, cx| {
                        this.select_place(ix, window, cx);
                        if event.click_count > 1 {
                            this.open(window, cx);
                        }
                    })
                    .ok();
            },
        )
        .child(
            div()
                .flex_none()
                .max_w(dp(LIST_WIDTH / 2.0))
                .child(Label::new(file).small().muted().elide(Elide::Middle(40))),
        )
        .child(
            div()
                .flex_1()
                .min_w(px(0.0))
                .overflow_hidden()
                .child(Label::new(line).small().mono()),
        )
}
