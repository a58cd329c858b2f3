//! The search bar over a terminal.

use gpui_kit::component::input::{InputEvent, InputState};
use gpui_kit::{
    Action, AppContext as _, Context, Entity, InteractiveElement as _, IntoElement,
    ParentElement as _, Role, SharedString, StatefulInteractiveElement as _, Styled as _,
    Subscription, TestSupportExt as _, Window, div,
};
use ui::{ActiveTheme as _, Icon, IconButton, TextField, dp, space};

use super::TerminalView;
use super::search;
use crate::actions::{
    CloseFind, FindNext, FindPrevious, ToggleFindCase, ToggleFindRegex, ToggleFindWholeWord,
};

/// The field of the search bar.
pub(super) struct SearchBar {
    pub(super) field: Entity<InputState>,
    _events: Subscription,
}

impl SearchBar {
    pub(super) fn new(window: &mut Window, cx: &mut Context<TerminalView>) -> Self {
        let field = cx.new(|cx| InputState::new(window, cx).placeholder("Find"));
        let events = cx.subscribe_in(&field, window, TerminalView::on_search_field);
        Self {
            field,
            _events: events,
        }
    }

    /// Fills and focuses the field.
    pub(super) fn show(&self, query: &str, window: &mut Window, cx: &mut Context<TerminalView>) {
        let query = query.to_owned();
        self.field.update(cx, |field, cx| {
            if field.value() != query {
                field.set_value(query, window, cx);
            }
            field.focus(window, cx);
            field.select_all(window, cx);
        });
    }
}

impl TerminalView {
    fn on_search_field(
        &mut self,
        field: &Entity<InputState>,
        event: &InputEvent,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        match event {
            InputEvent::Change => {
                let query = field.read(cx).value();
                if query != self.search.query {
                    search::set_query(self, &query, cx);
                }
            }
            InputEvent::PressEnter { .. } if self.is_copying() => {
                search::close_find(self, &CloseFind, window, cx);
            }
            InputEvent::PressEnter { shift: true, .. } => {
                search::find_previous(self, &FindPrevious, window, cx);
            }
            InputEvent::PressEnter { .. } => search::find_next(self, &FindNext, window, cx),
            InputEvent::Focus | InputEvent::Blur => {}
        }
    }

    pub(super) fn render_search(&self, cx: &mut Context<Self>) -> Option<impl IntoElement + use<>> {
        let bar = self.search.bar.as_ref()?;
        let colors = cx.theme().colors;
        let options = self.search.options;
        let summary: SharedString = search::search_summary(self).into();
        let error = self.search.error.clone().map(SharedString::from);
        let toggles = div()
            .flex()
            .flex_none()
            .child(
                button(
                    "terminal-find-case",
                    Icon::CaseSensitive,
                    "Match case",
                    ToggleFindCase,
                )
                .small()
                .pressed(options.is_case_sensitive),
            )
            .child(
                button(
                    "terminal-find-word",
                    Icon::WholeWord,
                    "Whole words",
                    ToggleFindWholeWord,
                )
                .small()
                .pressed(options.is_whole_word),
            )
            .child(
                button(
                    "terminal-find-regex",
                    Icon::Regex,
                    "Regular expression",
                    ToggleFindRegex,
                )
                .small()
                .pressed(options.is_regex),
            );
        let field = TextField::new(&bar.field, "Find in terminal")
            .mono()
            .icon(Icon::Search)
            .error(error)
            .end_element(toggles);
        let found = div()
            .id("terminal-find-count")
            .role(Role::Status)
            .aria_label(if summary.is_empty() {
                "No pattern".into()
            } else {
                summary.clone()
            })
            .test_support()
            .flex()
            .flex_none()
            .items_center()
            .h(dp(28.0))
            .min_w(dp(72.0))
            .text_size(dp(12.0))
            .text_color(colors.muted)
            .child(summary);
        let steps = [
            button(
                "terminal-find-previous",
                Icon::ArrowUp,
                "Previous match",
                FindPrevious,
            ),
            button(
                "terminal-find-next",
                Icon::ArrowDown,
                "Next match",
                FindNext,
            ),
            button("terminal-find-close", Icon::Close, "Close find", CloseFind),
        ];
        let bar = div()
            .id("terminal-find")
            .role(Role::Search)
            .aria_label("Find in terminal")
            .test_support()
            .key_context("TerminalSearch")
            .flex()
            .flex_none()
            .items_start()
            .w_full()
            .gap(space(1.0))
            .px(space(2.0))
            .py(space(1.0))
            .bg(colors.raised)
            .border_b_1()
            .border_color(colors.border)
            .child(div().flex_1().min_w_0().child(field))
            .child(found)
            .children(steps);
        Some(bar)
    }
}

/// Builds a button. Each has its own key binding; Tab moves between fields.
fn button(id: &'static str, icon: Icon, name: &'static str, action: impl Action) -> IconButton {
    IconButton::new(id, icon, name)
        .tab_stop(false)
        .action(Box::new(action))
}
