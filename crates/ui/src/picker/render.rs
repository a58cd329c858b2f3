//! Rendering of a picker.

use gpui_kit::TestSupportExt as _;
use gpui_kit::{
    AnyElement, ClickEvent, Context, InteractiveElement as _, IntoElement, ParentElement as _,
    Render, Role, StatefulInteractiveElement as _, Styled as _, Window, div, uniform_list,
};

use super::{
    Confirm, ConfirmKind, ConfirmOther, FooterHint, Picker, PickerDelegate, SelectFirst,
    SelectLast, SelectNext, SelectPageDown, SelectPageUp, SelectPrevious, VISIBLE_ROWS,
};
use crate::key_hint::{KeyHint, keys_anywhere};
use crate::label::Label;
use crate::row::ListRow;
use crate::text_field::TextField;
use crate::theme::{ActiveTheme as _, dp};

/// Width of the list, in design pixels.
const WIDTH: f32 = 620.0;

/// Width of the preview, in design pixels.
const PREVIEW_WIDTH: f32 = 420.0;

impl<D: PickerDelegate> Render for Picker<D> {
    fn render(&mut self, window: &mut Window, cx: &mut Context<Self>) -> impl IntoElement {
        let c = cx.theme().colors;
        let preview = self
            .selected()
            .and_then(|ix| self.delegate.preview(ix, window, cx));
        let page = isize::try_from(VISIBLE_ROWS - 1).unwrap_or(1);
        div()
            .id("picker")
            .key_context("Picker")
            .on_action(cx.listener(|this, _: &SelectNext, window, cx| this.move_by(1, window, cx)))
            .on_action(
                cx.listener(|this, _: &SelectPrevious, window, cx| this.move_by(-1, window, cx)),
            )
            .on_action(cx.listener(|this, _: &SelectFirst, window, cx| this.select(0, window, cx)))
            .on_action(
                cx.listener(|this, _: &SelectLast, window, cx| this.select(usize::MAX, window, cx)),
            )
            .on_action(cx.listener(move |this, _: &SelectPageDown, window, cx| {
                this.move_by(page, window, cx)
            }))
            .on_action(cx.listener(move |this, _: &SelectPageUp, window, cx| {
                this.move_by(-page, window, cx)
            }))
            .on_action(cx.listener(|this, _: &Confirm, window, cx| {
                this.confirm(ConfirmKind::Usual, window, cx)
            }))
            .on_action(cx.listener(|this, _: &ConfirmOther, window, cx| {
                this.confirm(ConfirmKind::Other, window, cx)
            }))
            .on_action(cx.listener(Self::confirm_all))
            .on_action(cx.listener(Self::complete))
            .capture_action(cx.listener(Self::copy))
            .on_action(cx.listener(Self::cancel))
            .flex()
            .flex_col()
            .w(dp(if preview.is_some() {
                WIDTH + PREVIEW_WIDTH
            } else {
                WIDTH
            }))
            .max_w_full()
            .text_color(c.text)
            .children(self.delegate.heading().map(|heading| {
                div()
                    .id("picker-heading")
                    .role(Role::Heading)
                    .test_support()
                    .aria_label(heading.clone())
                    .px(dp(12.0))
                    .pt(dp(8.0))
                    .child(Label::new(heading).small().strong())
            }))
            .child(
                div()
                    .px(dp(12.0))
                    .h(dp(40.0))
                    .flex()
                    .items_center()
                    .border_b_1()
                    .border_color(c.border)
                    .child(TextField::new(&self.input, self.delegate.name()).bare()),
            )
            .child(
                div()
                    .flex()
                    .child(
                        div()
                            .flex_1()
                            .min_w_0()
                            .p(dp(4.0))
                            .child(self.render_list(cx)),
                    )
                    .children(preview.map(|preview| {
                        div()
                            .w(dp(PREVIEW_WIDTH))
                            .flex_none()
                            .border_l_1()
                            .border_color(c.border)
                            .overflow_hidden()
                            .child(preview)
                    })),
            )
            .children(self.render_footer(cx))
    }
}

impl<D: PickerDelegate> Picker<D> {
    fn render_list(&self, cx: &mut Context<Self>) -> AnyElement {
        let count = self.delegate.count();
        if count == 0 {
            let text = if self.searching.is_some() {
                "Searching…".into()
            } else {
                self.delegate.nothing_found(&self.query)
            };
            let words = Label::new(text.clone()).muted();
            return div()
                .id("picker-nothing")
                .role(Role::Status)
                .aria_label(text)
                .px(dp(8.0))
                .h(dp(28.0))
                .flex()
                .items_center()
                .child(words)
                .into_any_element();
        }
        let rows = count + self.sections.len();
        let height = ListRow::height(self.delegate.row_lines());
        let shown = u16::try_from(rows.min(VISIBLE_ROWS)).unwrap_or(u16::MAX);
        div()
            .id("picker-list")
            .role(Role::ListBox)
            .aria_label(self.delegate.name())
            .h(dp(height * f32::from(shown)))
            .child(
                uniform_list(
                    "picker-rows",
                    rows,
                    cx.processor(|this, range: std::ops::Range<usize>, _, cx| {
                        range.map(|at| this.render_row(at, cx)).collect::<Vec<_>>()
                    }),
                )
                .track_scroll(&self.scroll)
                .size_full(),
            )
            .into_any_element()
    }

    fn render_row(&self, at: usize, cx: &mut Context<Self>) -> AnyElement {
        let lines = self.delegate.row_lines();
        let above = self
            .sections
            .iter()
            .enumerate()
            .take_while(|(n, (start, _))| start + n <= at)
            .count();
        if let Some((n, (start, title))) =
            self.sections.iter().enumerate().nth(above.wrapping_sub(1))
            && start + n == at
        {
            return div()
                .flex()
                .items_end()
                .h(dp(ListRow::height(lines)))
                .px(dp(8.0))
                .pb(dp(4.0))
                .child(Label::new(title.clone()).tiny().strong().muted())
                .into_any_element();
        }
        let ix = at - above;
        let row = self.delegate.row(ix, cx);
        ListRow::new(("picker-row", ix), row.spoken())
            .selected(ix == self.selected)
            .lines(lines)
            .on_click(cx.listener(move |this, event: &ClickEvent, window, cx| {
                let kind = if event.modifiers().secondary(cx) {
                    ConfirmKind::Other
                } else {
                    ConfirmKind::Usual
                };
                this.select(ix, window, cx);
                this.take(ix, kind, window, cx);
            }))
            .children(row.row_elements(lines))
            .into_any_element()
    }

    /// Renders the status and the key hints below the list. Returns `None` if the picker has
    /// neither.
    fn render_footer(&self, cx: &mut Context<Self>) -> Option<AnyElement> {
        let (status, hints) = (self.delegate.status(), self.delegate.footer());
        if status.is_none() && hints.is_empty() {
            return None;
        }
        let c = cx.theme().colors;
        let height = dp(30.0);
        let hint = |FooterHint { action, does }| {
            let keys = keys_anywhere(action.as_ref(), cx)?;
            let hint = div()
                .flex()
                .flex_none()
                .items_center()
                .h(height)
                .gap(dp(4.0))
                .child(KeyHint::text(keys))
                .child(Label::new(does).small().muted());
            Some(hint)
        };
        let footer = div()
            .flex()
            .items_center()
            .gap(dp(12.0))
            .h(height)
            .px(dp(12.0))
            .border_t_1()
            .border_color(c.border)
            .children(status.map(|status| {
                let words = Label::new(status).small().muted();
                div().flex_none().max_w_full().child(words)
            }))
            .child(
                // A hint that does not fit beside the status wraps out of view.
                div()
                    .flex()
                    .flex_1()
                    .flex_wrap()
                    .justify_end()
                    .gap_x(dp(12.0))
                    .min_w_0()
                    .h(height)
                    .overflow_hidden()
                    // The first child of a row never wraps: this empty one takes that position.
                    .child(div().h(height))
                    .children(hints.into_iter().filter_map(hint).collect::<Vec<_>>()),
            );
        Some(footer.into_any_element())
    }
}
