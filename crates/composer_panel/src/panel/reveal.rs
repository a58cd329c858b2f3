//! Untrusted text on a card, which must be shown completely before it can be approved.

use gpui_kit::{
    AnyElement, Context, InteractiveElement as _, IntoElement as _, ParentElement as _, Role,
    StatefulInteractiveElement as _, Styled as _, TestSupportExt as _, Window, div, px,
};
use ui::{ActiveTheme as _, Button, ButtonStyle, Label, dp};

use super::{ComposerPanel, PanelPage};
use crate::actions::ShowRest;
use crate::revealed_text::RevealedText;

impl ComposerPanel {
    /// The part of a text that the user has asked to see.
    pub(super) fn revealed(&self, text: &str) -> RevealedText {
        let asked = self.reveals.get(text).copied();
        RevealedText::new(text, asked.unwrap_or_default())
    }

    /// Shows more of the text that waits for approval.
    pub(super) fn show_rest(&mut self, _: &ShowRest, _: &mut Window, cx: &mut Context<Self>) {
        let waiting = self.waiting_texts();
        if let Some(text) = waiting
            .into_iter()
            .find(|it| self.revealed(it).hidden() > 0)
        {
            self.reveal_more(text, cx);
        }
    }

    /// The texts of the cards, the one nearest to the prompt first.
    fn waiting_texts(&self) -> Vec<String> {
        let asking = self.transcript().and_then(|it| it.pending_approval());
        let asking = asking.map(|asking| asking.call.details.clone());
        let question = self.open_question().map(|it| it.question.text.clone());
        let open = asking.into_iter().chain(question);
        let automation = self.automation_text().into_iter();
        automation.chain(open).chain(self.trust_texts()).collect()
    }

    fn reveal_more(&mut self, text: String, cx: &mut Context<Self>) {
        *self.reveals.entry(text).or_default() += 1;
        cx.notify();
    }

    /// Renders the text with a button that shows the rest.
    pub(super) fn render_revealed(
        &self,
        id: &'static str,
        text: &str,
        cx: &Context<Self>,
    ) -> AnyElement {
        let colors = cx.theme().colors;
        let whole = self.revealed(text);
        let rest = (whole.hidden() > 0).then(|| {
            let label = match whole.hidden() {
                1 => "Show 1 more line".to_owned(),
                hidden => format!("Show {hidden} more lines"),
            };
            let text = text.to_owned();
            div()
                .flex()
                .flex_wrap()
                .items_center()
                .gap(dp(8.0))
                .child(
                    Button::new((id, 1_usize), label)
                        .style(ButtonStyle::Plain)
                        .on_click(cx.listener(move |this, _, window, cx| {
                            this.reveal_more(text.clone(), cx);
                            // The button may disappear and would take the focus with it.
                            if this.page == PanelPage::Automations {
                                this.list_focus.focus(window, cx);
                            } else {
                                this.focus_prompt(window, cx);
                            }
                        })),
                )
                .child(
                    Label::new("Show all of it before you allow it.")
                        .small()
                        .muted(),
                )
        });
        div()
            .flex()
            .flex_col()
            .gap(dp(8.0))
            .child(
                div()
                    .id(id)
                    .role(Role::Label)
                    .aria_label(whole.visible().to_owned())
                    .test_support()
                    .min_w_0()
                    .p(dp(8.0))
                    .rounded(px(4.0))
                    .bg(colors.sunken)
                    .font(cx.theme().code_font())
                    .text_size(dp(12.0))
                    .text_color(colors.text)
                    // Long lines wrap, so that no text is out of view.
                    .whitespace_normal()
                    .child(whole.visible().to_owned()),
            )
            .children(rest)
            .into_any_element()
    }
}
