//! Renders the view: banners, find bar, text.

use std::cell::RefCell;
use std::rc::Rc;

use gpui_kit::{
    AppContext as _, Context, InteractiveElement as _, IntoElement, ModifiersChangedEvent,
    ParentElement as _, Render, Role, SharedString, StatefulInteractiveElement as _, Styled as _,
    TestSupportExt as _, Window, div,
};
use ui::MenuExt as _;

use crate::action_scope::ActionScope;
use crate::banner;
use crate::comparison::Comparison;
use crate::editor::{Editor, hover, inlay_hints, links, menu, suggesting, vim_mode};
use crate::element::{TextElement, describe};

impl Render for Editor {
    fn render(&mut self, window: &mut Window, cx: &mut Context<Self>) -> impl IntoElement {
        let entity = cx.entity();
        let text = match comparison_view(self, cx) {
            Some(comparison) => comparison.into_any_element(),
            None => render_text(self, window, cx).into_any_element(),
        };
        let whole = div()
            .flex()
            .flex_col()
            .size_full()
            .children(banner::of(self, cx))
            .children(self.find_session.bar.clone())
            .child(
                div()
                    .relative()
                    .flex_1()
                    .min_h_0()
                    .w_full()
                    .child(text)
                    .children(vim_mode::render_overlay(self, cx)),
            );
        ActionScope::of_whole(entity, whole)
    }
}

fn render_text(
    editor: &mut Editor,
    _: &mut Window,
    cx: &mut Context<Editor>,
) -> impl IntoElement + use<> {
    let entity = cx.entity();
    let accessible = Rc::new(RefCell::new(None));
    let element = TextElement::new(entity.clone(), accessible.clone());
    let menu_of = entity.downgrade();
    let text = div()
        .id("editor")
        .role(Role::MultilineTextInput)
        .test_support()
        .aria_label(accessible_name(editor, cx))
        .key_context(editor.key_context(cx))
        .track_focus(&editor.focus)
        .on_modifiers_changed(cx.listener(|editor, event: &ModifiersChangedEvent, _, cx| {
            suggesting::note_held(editor, event.modifiers.alt, cx);
            inlay_hints::note_held(editor, event.modifiers, cx);
            links::modifiers_changed(editor, &event.modifiers, cx);
        }))
        .a11y_synthetic_children(move |builder| {
            if let Some(text) = accessible.borrow().as_ref() {
                describe(text, builder);
            }
        })
        .size_full()
        .child(element)
        .children(hover::render_card(editor, cx))
        .menu_on_right_click(move |_, cx| match menu_of.upgrade() {
            Some(editor) => menu::menu(editor.read(cx), cx),
            None => ui::Menu::new(),
        });
    ActionScope::of_text(entity, text)
}

fn accessible_name(editor: &Editor, cx: &Context<Editor>) -> SharedString {
    let document = editor.model.read(cx).document();
    if document.can_edit() {
        format!("{}, text", document.title()).into()
    } else {
        format!("{}, read-only text", document.title()).into()
    }
}

/// Returns the side-by-side view while a conflict is compared.
fn comparison_view(
    editor: &mut Editor,
    cx: &mut Context<Editor>,
) -> Option<gpui_kit::Entity<Comparison>> {
    if !editor.comparison.is_shown {
        editor.comparison.view = None;
        return None;
    }
    if editor.comparison.view.is_none() {
        let model = editor.model.clone();
        editor.comparison.view = Some(cx.new(|cx| Comparison::new(model, cx)));
    }
    editor.comparison.view.clone()
}
