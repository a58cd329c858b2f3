//! Rendering of the preview.

use gpui_kit::{
    AnyElement, Context, InteractiveElement as _, IntoElement, KeyContext, ParentElement as _,
    Render, Role, StatefulInteractiveElement as _, Styled as _, TestSupportExt as _, Window, div,
    list, relative,
};
use ui::{ActiveTheme as _, Banner, EmptyState, Icon, Menu, MenuExt as _, Tone, dp};

use super::MarkdownPreview;
use crate::actions::{OpenText, Reload, ToggleScrollInStep};
use crate::loading::render_absent;

/// Maximum width of the text, in design pixels.
const WIDTH: f32 = 900.0;

impl MarkdownPreview {
    fn render_list(&self, cx: &mut Context<Self>) -> AnyElement {
        let is_empty = self
            .content
            .ready()
            .is_some_and(|document| document.blocks().is_empty());
        if is_empty {
            return EmptyState::new("There is no text yet")
                .icon(Icon::FileText)
                .into_any_element();
        }
        let view = cx.entity();
        let blocks = list(self.list.clone(), move |ix, _, cx| {
            view.update(cx, |view, cx| view.render_block(ix, cx))
        });
        blocks.size_full().into_any_element()
    }

    fn key_context() -> KeyContext {
        let mut context = KeyContext::default();
        context.add("Preview");
        context.add("markdown");
        context
    }

    fn menu(&self) -> Menu {
        Menu::new()
            .focus(self.focus.clone())
            .action("Open the text", Box::new(OpenText))
            .action("Read the images again", Box::new(Reload))
            .separator()
            .toggle(
                "Scroll in step",
                Box::new(ToggleScrollInStep),
                self.is_in_step,
            )
    }
}

impl Render for MarkdownPreview {
    fn render(&mut self, window: &mut Window, cx: &mut Context<Self>) -> impl IntoElement {
        self.pictures.begin_frame();
        if self.unsettled_row.is_some() {
            cx.on_next_frame(window, |this, _, cx| this.settle_row(cx));
        }
        let name = self.model.read(cx).document().title();
        let content = match render_absent(&self.content, &name, Icon::FileText) {
            Some(absent) => absent,
            None => self.render_list(cx),
        };
        let is_cut = self
            .content
            .ready()
            .is_some_and(|document| document.is_cut());
        let note = is_cut.then(|| {
            let text = "The text has more paragraphs than are shown.";
            Banner::new("preview-cut", Tone::Warning, text)
        });
        let colors = cx.theme().colors;
        let this = cx.weak_entity();
        let text = div()
            .id("markdown-text")
            .flex()
            .justify_center()
            .flex_1()
            .min_h_0()
            .w_full()
            .py(dp(8.0))
            .child(div().size_full().max_w(dp(WIDTH)).child(content))
            .menu_on_right_click(move |_, cx| match this.upgrade() {
                Some(view) => view.read(cx).menu(),
                None => Menu::new(),
            });
        div()
            .id("markdown-preview")
            .role(Role::Document)
            .test_support()
            .aria_label(format!("Preview of {name}"))
            .key_context(Self::key_context())
            .track_focus(&self.focus)
            .on_action(cx.listener(Self::up))
            .on_action(cx.listener(Self::down))
            .on_action(cx.listener(Self::page_up))
            .on_action(cx.listener(Self::page_down))
            .on_action(cx.listener(Self::start))
            .on_action(cx.listener(Self::end))
            .on_action(cx.listener(Self::toggle_step))
            .on_action(cx.listener(Self::reload))
            .on_action(cx.listener(Self::cancel))
            .flex()
            .flex_col()
            .size_full()
            .bg(colors.surface)
            .text_color(colors.text)
            .text_size(dp(14.0))
            .line_height(relative(1.5))
            .children(note)
            .child(text)
    }
}
