//! Renders the view: banners, find bar, text; and the blinking caret.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use gpui_kit::{
    AppContext as _, Context, InteractiveElement as _, IntoElement, KeyContext,
    ModifiersChangedEvent, ParentElement as _, Render, Role, SharedString,
    StatefulInteractiveElement as _, Styled as _, TestSupportExt as _, Window, div,
};
use ui::MenuExt as _;

use super::Editor;
use crate::banner;
use crate::comparison::Comparison;
use crate::element::{ActionScope, TextElement, describe};

/// Interval of the caret's blinking.
const BLINK: Duration = Duration::from_millis(530);

impl Render for Editor {
    fn render(&mut self, window: &mut Window, cx: &mut Context<Self>) -> impl IntoElement {
        let entity = cx.entity();
        let text = match self.comparison_view(cx) {
            Some(comparison) => comparison.into_any_element(),
            None => self.render_text(window, cx).into_any_element(),
        };
        let whole = div()
            .flex()
            .flex_col()
            .size_full()
            .children(banner::of(self, cx))
            .children(self.find_bar.clone())
            .child(div().flex_1().min_h_0().w_full().child(text));
        ActionScope::of_whole(entity, whole)
    }
}

impl Editor {
    fn render_text(&mut self, _: &mut Window, cx: &mut Context<Self>) -> impl IntoElement + use<> {
        let entity = cx.entity();
        let accessible = Rc::new(RefCell::new(None));
        let element = TextElement::new(entity.clone(), accessible.clone());
        let menu_of = entity.downgrade();
        let text = div()
            .id("editor")
            .role(Role::MultilineTextInput)
            .test_support()
            .aria_label(self.accessible_name(cx))
            .key_context(self.key_context(cx))
            .track_focus(&self.focus)
            .on_modifiers_changed(cx.listener(|editor, event: &ModifiersChangedEvent, _, cx| {
                editor.note_held(event.modifiers.alt, cx);
            }))
            .a11y_synthetic_children(move |builder| {
                if let Some(text) = accessible.borrow().as_ref() {
                    describe(text, builder);
                }
            })
            .size_full()
            .child(element)
            .menu_on_right_click(move |_, cx| match menu_of.upgrade() {
                Some(editor) => editor.read(cx).menu(cx),
                None => ui::Menu::new(),
            });
        ActionScope::of_text(entity, text)
    }

    fn accessible_name(&self, cx: &Context<Self>) -> SharedString {
        let document = self.model.read(cx).document();
        if document.can_edit() {
            format!("{}, text", document.title()).into()
        } else {
            format!("{}, read-only text", document.title()).into()
        }
    }

    /// Returns the context for keymaps.
    pub(crate) fn key_context(&self, cx: &Context<Self>) -> KeyContext {
        let mut context = KeyContext::default();
        context.add("Editor");
        context.set("mode", "full");
        if !self.model.read(cx).document().can_edit() {
            context.add("read_only");
        }
        if self.selections.len() > 1 {
            context.add("several_carets");
        }
        if self
            .selections
            .iter()
            .any(|selection| !selection.is_empty())
        {
            context.add("has_selection");
        }
        if !self.review.is_empty() {
            context.add("under_review");
        }
        if self.excerpts.is_some() {
            context.add("excerpts");
        }
        if self.find_bar.is_some() {
            context.add("find_open");
        }
        if !self.marked.is_empty() {
            context.add("composing");
        }
        if self.shows_suggestion() {
            context.add("suggestion");
        }
        let in_text = self
            .suggesting
            .in_text()
            .filter(|_| self.shows_suggestion());
        if in_text.is_some_and(|shown| shown.at_caret.is_some()) {
            context.add("ghost_at_caret");
        }
        if self.tab_takes_suggestion(cx) {
            context.add("tab_takes_suggestion");
        }
        if let Some(language) = self.model.read(cx).language() {
            context.set("language", language.name());
        }
        context
    }

    /// Returns the side-by-side view while a conflict is compared.
    fn comparison_view(&mut self, cx: &mut Context<Self>) -> Option<gpui_kit::Entity<Comparison>> {
        if !self.comparison {
            self.comparison_entity = None;
            return None;
        }
        if self.comparison_entity.is_none() {
            let model = self.model.clone();
            self.comparison_entity = Some(cx.new(|cx| Comparison::new(model, cx)));
        }
        self.comparison_entity.clone()
    }

    /// Shows the two sides of a conflict, or the text again.
    pub fn set_comparing(&mut self, comparing: bool, cx: &mut Context<Self>) {
        self.comparison = comparing && self.model.read(cx).document().conflict().is_some();
        cx.notify();
    }

    /// Shows the caret and restarts its blinking.
    pub(crate) fn show_caret(&mut self, cx: &mut Context<Self>) {
        self.caret_shown = true;
        if !self.settings.cursor_blink || !self.may_move(cx) {
            self.blink_task = None;
            return;
        }
        self.blink_task = Some(cx.spawn(async move |this, cx| {
            loop {
                cx.background_executor().timer(BLINK).await;
                let goes_on = this.update(cx, |editor, cx| {
                    editor.caret_shown = !editor.caret_shown;
                    cx.notify();
                });
                if goes_on.is_err() {
                    return;
                }
            }
        }));
    }
}
