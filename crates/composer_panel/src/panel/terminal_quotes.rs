//! The quotes of terminals that the prompt mentions, shown above it before it is sent.
//!
//! Invariant: the user sees of a mentioned terminal exactly the text that the agent gets.
//! Start at `ComposerPanel::render_terminal_quotes`.

use agent::prompt_sources::PromptSource;
use base::{LineFeeds, printable};
use gpui_kit::{
    AnyElement, App, Context, InteractiveElement as _, IntoElement as _, ParentElement as _, Role,
    SharedString, StatefulInteractiveElement as _, Styled as _, TestSupportExt as _, div, px,
};
use ui::{ActiveTheme as _, Label, dp};

use super::ComposerPanel;
use super::card::card;

/// The quotes that the window keeps for prompts.
#[derive(Default)]
pub(super) struct TerminalQuotes {
    /// The quoted text of each mention, by the id of the mention. Invisible characters are shown as escapes.
    quotes: Vec<(String, SharedString)>,
}

impl ComposerPanel {
    /// Sets the quotes of the window's terminals by the ids of their mentions.
    pub fn set_terminal_quotes(&mut self, quotes: &[(String, String)], cx: &mut Context<Self>) {
        let shown = quotes.iter().map(|(id, text)| {
            let text = printable(text, LineFeeds::Keep).into_owned();
            (id.clone(), SharedString::from(text))
        });
        self.terminal_quotes.quotes = shown.collect();
        cx.notify();
    }

    /// Returns the quotes that the prompt mentions, in its order.
    fn mentioned_quotes(&self, cx: &App) -> Vec<SharedString> {
        let quotes = &self.terminal_quotes.quotes;
        let tokens = self.prompt.read(cx).tokens();
        let mentioned = tokens.iter().filter_map(|token| {
            let name = token.token().text().trim_start_matches('@');
            match PromptSource::named(name.trim_matches('"'))? {
                PromptSource::Terminal { id } => quotes.iter().find(|(known, _)| *known == id),
                _ => None,
            }
        });
        mentioned.map(|(_, text)| text.clone()).collect()
    }

    /// Renders a card with the quotes that go with the prompt. Returns `None` if it mentions no terminal.
    pub(super) fn render_terminal_quotes(&self, cx: &Context<Self>) -> Option<AnyElement> {
        let quotes = self.mentioned_quotes(cx);
        if quotes.is_empty() {
            return None;
        }
        let colors = cx.theme().colors;
        let font = cx.theme().code_font();
        let quotes = quotes.into_iter().enumerate().map(|(at, text)| {
            div()
                .id(("agent-terminal-quote", at))
                .role(Role::Document)
                .aria_label(text.clone())
                .test_support()
                .min_w_0()
                .max_h(dp(160.0))
                .overflow_y_scroll()
                .p(dp(8.0))
                .rounded(px(4.0))
                .bg(colors.sunken)
                .font(font.clone())
                .text_size(dp(12.0))
                .text_color(colors.text)
                .whitespace_normal()
                .child(text)
        });
        let title = "Sent with the prompt";
        let card = card(
            "agent-terminal-quotes",
            Role::Group,
            colors.border,
            colors.raised,
        );
        let card = card
            .aria_label(title)
            .child(Label::new(title).small().muted());
        Some(card.children(quotes).into_any_element())
    }
}
