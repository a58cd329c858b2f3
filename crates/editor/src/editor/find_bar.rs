//! The find bar: fields and buttons of find and replace.
//!
//! Owns the fields; all other state belongs to the view: see `finding::set_query` and its
//! neighbours.

use caret::find::{CaseMatching, LetterCase, PatternKind, WordBounds};
use gpui_kit::component::input::{InputEvent, InputState};
use gpui_kit::{
    Action, App, AppContext as _, Context, Entity, Focusable as _, InteractiveElement as _,
    IntoElement, ParentElement as _, Pixels, Render, Role, SharedString,
    StatefulInteractiveElement as _, Styled as _, Subscription, WeakEntity, Window, div,
};
use ui::{ActiveTheme as _, Icon, IconButton, TextField, dp, space};

use super::finding;
use crate::actions::{
    CloseFind, FindNext, FindPrevious, ReplaceAll, ReplaceNext, SelectAllMatches, ToggleFindCase,
    ToggleFindInSelection, ToggleFindRegex, ToggleFindWholeWord, ToggleReplaceCase,
};
use crate::editor::Editor;

/// Width, in design pixels, below which the buttons move below the field.
const NARROW: f32 = 440.0;

/// The find bar of one view: fields for query and replacement, and buttons.
pub(crate) struct FindBar {
    editor: WeakEntity<Editor>,
    query: Entity<InputState>,
    replacement: Entity<InputState>,
    replaces: bool,
    /// Whether the buttons are below the field, to leave room for the pattern.
    is_narrow: bool,
    _subscriptions: Vec<Subscription>,
}

impl FindBar {
    /// Creates the bar of an editor with empty fields; `show` fills and focuses them.
    pub(crate) fn new(
        editor: WeakEntity<Editor>,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) -> Self {
        let query = cx.new(|cx| InputState::new(window, cx).placeholder("Find"));
        let replacement = cx.new(|cx| InputState::new(window, cx).placeholder("Replace with"));
        let subscriptions = vec![
            cx.subscribe_in(&query, window, Self::on_query),
            cx.subscribe_in(&replacement, window, Self::on_replacement),
        ];
        Self {
            editor,
            query,
            replacement,
            replaces: false,
            is_narrow: false,
            _subscriptions: subscriptions,
        }
    }

    /// Returns whether the arrangement fits a view of this width.
    pub(crate) fn fits(&self, width: Pixels, window: &Window) -> bool {
        self.is_narrow == (width < dp(NARROW).to_pixels(window.rem_size()))
    }

    /// Switches between the wide and the narrow arrangement.
    pub(crate) fn rearrange(&mut self, cx: &mut Context<Self>) {
        self.is_narrow = !self.is_narrow;
        cx.notify();
    }

    /// Returns whether one of the fields has the focus.
    pub(crate) fn has_keyboard(&self, window: &Window, cx: &App) -> bool {
        [&self.query, &self.replacement]
            .into_iter()
            .any(|field| field.read(cx).focus_handle(cx).is_focused(window))
    }

    /// Fills the fields and focuses the bar. `replaces` shows the field for the replacement, which
    /// then stays visible.
    pub(crate) fn show(
        &mut self,
        text: &str,
        replacement: &str,
        replaces: bool,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        self.replaces |= replaces;
        let text = text.to_owned();
        self.query.update(cx, |state, cx| {
            if state.value() != text {
                state.set_value(text, window, cx);
            }
            state.focus(window, cx);
            // Selects the last query, so that typing replaces it.
            state.select_all(window, cx);
        });
        let replacement = replacement.to_owned();
        self.replacement.update(cx, |state, cx| {
            if state.value() != replacement {
                state.set_value(replacement, window, cx);
            }
        });
        cx.notify();
    }

    fn on_query(
        &mut self,
        state: &Entity<InputState>,
        event: &InputEvent,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        let text = state.read(cx).value();
        let event = event.clone();
        self.with_editor(window, cx, move |editor, window, cx| match event {
            InputEvent::Change => finding::set_query(editor, &text, cx),
            InputEvent::PressEnter { shift: true, .. } => {
                finding::find_previous(editor, window, cx)
            }
            InputEvent::PressEnter { .. } => finding::find_next(editor, window, cx),
            InputEvent::Focus | InputEvent::Blur => {}
        });
    }

    fn on_replacement(
        &mut self,
        state: &Entity<InputState>,
        event: &InputEvent,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        let text = state.read(cx).value();
        let event = event.clone();
        self.with_editor(window, cx, move |editor, window, cx| match event {
            InputEvent::Change => editor.find.replacement = text.to_string(),
            InputEvent::PressEnter {
                secondary: true, ..
            } => finding::replace_all(editor, window, cx),
            InputEvent::PressEnter { .. } => finding::replace_next(editor, window, cx),
            InputEvent::Focus | InputEvent::Blur => {}
        });
    }

    fn with_editor(
        &self,
        window: &mut Window,
        cx: &mut Context<Self>,
        act: impl FnOnce(&mut Editor, &mut Window, &mut Context<Editor>) + 'static,
    ) {
        let editor = self.editor.clone();
        window.defer(cx, move |window, cx| {
            // The view may have been closed with its tab.
            editor.update(cx, |editor, cx| act(editor, window, cx)).ok();
        });
    }
}

impl FindBar {
    fn render_replace(&self, letter_case: LetterCase) -> Vec<gpui_kit::Div> {
        let field = TextField::new(&self.replacement, "Replace with").mono();
        let keep_case = button(
            "replace-case",
            Icon::CaseUpper,
            "Preserve case",
            ToggleReplaceCase,
        )
        .small()
        .pressed(letter_case == LetterCase::LikeMatch);
        let [next, all] = [
            button(
                "replace-next",
                Icon::Replace,
                "Replace and find next",
                ReplaceNext,
            ),
            button("replace-all", Icon::ReplaceAll, "Replace all", ReplaceAll),
        ];
        if self.is_narrow {
            vec![
                row().child(stretch(field)),
                row().items_center().child(keep_case).child(next).child(all),
            ]
        } else {
            vec![
                row()
                    .child(stretch(field.icon(Icon::Replace).end_element(keep_case)))
                    .child(next)
                    .child(all),
            ]
        }
    }
}

impl Render for FindBar {
    fn render(&mut self, _: &mut Window, cx: &mut Context<Self>) -> impl IntoElement {
        let colors = cx.theme().colors;
        let Some(editor) = self.editor.upgrade() else {
            return div().into_any_element();
        };
        let editor = editor.read(cx);
        let find = &editor.find;
        let summary: SharedString = find.summary(editor.selections.primary().span()).into();
        let error = find
            .error()
            .map(|error| SharedString::from(error.to_owned()));
        let pressed = [
            find.case == CaseMatching::Sensitive,
            find.words == WordBounds::Whole,
            find.pattern == PatternKind::Regex,
            find.within.is_some(),
        ];
        let found = div()
            .id("find-count")
            .role(Role::Status)
            .aria_label(summary.clone())
            .flex()
            .flex_none()
            .items_center()
            .h(dp(28.0))
            .min_w(dp(72.0))
            .text_size(dp(12.0))
            .text_color(colors.muted)
            .child(summary);
        let field = TextField::new(&self.query, "Find").mono().error(error);
        let close = button("find-close", Icon::Close, "Close find", CloseFind);
        let first = if self.is_narrow {
            vec![
                row().child(stretch(field)).child(close),
                row()
                    .flex_wrap()
                    .items_center()
                    .child(toggles(pressed))
                    .children(steps())
                    .child(found),
            ]
        } else {
            vec![
                row()
                    .child(stretch(
                        field.icon(Icon::Search).end_element(toggles(pressed)),
                    ))
                    .child(found)
                    .children(steps())
                    .child(close),
            ]
        };
        let second = if self.replaces {
            self.render_replace(find.letter_case)
        } else {
            Vec::new()
        };
        div()
            .id("find-bar")
            .role(Role::Search)
            .aria_label("Find and replace")
            .key_context("FindBar")
            .flex()
            .flex_col()
            .flex_none()
            .w_full()
            .gap(space(1.0))
            .px(space(2.0))
            .py(space(1.0))
            .bg(colors.raised)
            .border_b_1()
            .border_color(colors.border)
            .children(first)
            .children(second)
            .into_any_element()
    }
}

fn row() -> gpui_kit::Div {
    div().flex().w_full().items_start().gap(space(1.0))
}

fn stretch(field: TextField) -> gpui_kit::Div {
    div().flex_1().min_w_0().child(field)
}

fn steps() -> [IconButton; 3] {
    [
        button(
            "find-previous",
            Icon::ArrowUp,
            "Previous match",
            FindPrevious,
        ),
        button("find-next", Icon::ArrowDown, "Next match", FindNext),
        button(
            "find-select-all",
            Icon::TextCursor,
            "Select all matches",
            SelectAllMatches,
        ),
    ]
}

/// Builds a button. Each has its own key binding; Tab moves between fields.
fn button(id: &'static str, icon: Icon, name: &'static str, action: impl Action) -> IconButton {
    IconButton::new(id, icon, name)
        .tab_stop(false)
        .action(Box::new(action))
}

fn toggles(pressed: [bool; 4]) -> impl IntoElement {
    let toggle = |button: IconButton, on: bool| button.small().pressed(on);
    div()
        .flex()
        .flex_none()
        .child(toggle(
            button(
                "find-case",
                Icon::CaseSensitive,
                "Match case",
                ToggleFindCase,
            ),
            pressed[0],
        ))
        .child(toggle(
            button(
                "find-word",
                Icon::WholeWord,
                "Whole words",
                ToggleFindWholeWord,
            ),
            pressed[1],
        ))
        .child(toggle(
            button(
                "find-regex",
                Icon::Regex,
                "Regular expression",
                ToggleFindRegex,
            ),
            pressed[2],
        ))
        .child(toggle(
            button(
                "find-within",
                Icon::Rows,
                "Find in selection",
                ToggleFindInSelection,
            ),
            pressed[3],
        ))
}
