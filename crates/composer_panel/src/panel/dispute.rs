//! A file on which a landing and the branch differ: both sides, and the ways to settle it.

use gpui_kit::{
    AnyElement, Context, InteractiveElement as _, IntoElement as _, ParentElement as _,
    Styled as _, div,
};
use ui::{ActiveTheme as _, Button, ButtonStyle, Elide, Icon, Label, dp, foreign};

use super::ComposerPanel;
use super::board::Chosen;
use super::review::{Side, code, lines};
use crate::actions::{AcceptHunk, GiveUpLanding, RejectHunk, WriteDispute};
use crate::board::{Dispute, Fight, letter};

impl ComposerPanel {
    pub(super) fn render_dispute(
        &self,
        at: usize,
        dispute: &Dispute,
        cx: &Context<Self>,
    ) -> Vec<AnyElement> {
        let colors = cx.theme().colors;
        let head = div()
            .flex()
            .items_center()
            .gap(dp(8.0))
            .min_h(dp(28.0))
            .px(dp(8.0))
            .border_b_1()
            .border_color(colors.border)
            .child(self.mark_of(&dispute.agent, cx))
            .child(div().flex_none().child(Icon::Warning.color(colors.warning)))
            .child(
                Label::new(dispute.path.clone())
                    .small()
                    .mono()
                    .elide(Elide::Middle(36)),
            );
        let sentence = div()
            .px(dp(8.0))
            .pt(dp(4.0))
            .text_size(dp(12.0))
            .text_color(colors.text)
            .child(foreign::lines(dispute.text.clone()));
        let mut parts = vec![head.into_any_element(), sentence.into_any_element()];
        for fight in &dispute.places {
            parts.extend(self.render_fight(dispute, fight, cx));
        }
        parts.push(self.render_settling(at, dispute, cx));
        parts
    }

    /// Both sides of a place, each under the name of whose it is.
    fn render_fight(
        &self,
        dispute: &Dispute,
        fight: &Fight,
        cx: &Context<Self>,
    ) -> Vec<AnyElement> {
        let (branch, agent) = self.names(dispute);
        let head = |name: String| {
            div()
                .px(dp(8.0))
                .pt(dp(4.0))
                .child(Label::new(name).tiny().muted())
                .into_any_element()
        };
        let side = |texts: &[String], side| match texts.is_empty() {
            true => vec![
                div()
                    .px(dp(8.0))
                    .child(Label::new("nothing").small().muted())
                    .into_any_element(),
            ],
            false => lines(' ', texts, side, cx),
        };
        let mut parts = vec![head(format!("{branch}, line {}", fight.line))];
        parts.extend(code(side(&fight.branch, Side::Stay), cx));
        parts.push(head(agent));
        parts.extend(code(side(&fight.agent, Side::Come), cx));
        parts
    }

    fn render_settling(&self, at: usize, dispute: &Dispute, cx: &Context<Self>) -> AnyElement {
        let (branch, agent) = self.names(dispute);
        let row = Chosen::Dispute(dispute).id();
        // A click means this row, whichever was chosen; its action comes after it.
        let button = |id: &'static str, label: String| {
            let row = row.clone();
            Button::new((id, at), label)
                .style(ButtonStyle::Plain)
                .on_click(cx.listener(move |this, _, _, cx| this.choose_row(row.clone(), cx)))
        };
        let mut buttons = vec![
            button("dispute-agent", format!("Take {agent}\u{2019}s")).action(Box::new(AcceptHunk)),
            button("dispute-branch", format!("Keep {branch}\u{2019}s"))
                .action(Box::new(RejectHunk)),
        ];
        if dispute.draft.is_some() {
            let write = button("dispute-write", "Write it\u{2026}".to_owned());
            buttons.push(write.action(Box::new(WriteDispute)));
        }
        buttons.push(
            button("dispute-give-up", "Give up the landing".to_owned())
                .style(ButtonStyle::Ghost)
                .action(Box::new(GiveUpLanding)),
        );
        div()
            .id(("dispute-buttons", at))
            .flex()
            .flex_wrap()
            .gap(dp(8.0))
            .p(dp(8.0))
            .children(buttons.into_iter().map(Button::with_keys))
            .into_any_element()
    }

    /// What the two sides are called.
    fn names(&self, dispute: &Dispute) -> (String, String) {
        let board = self.board.as_ref().map(|face| &face.board);
        let branch = board.map(|board| board.branch.clone());
        let agent = board.and_then(|board| board.agent(&dispute.agent));
        let agent = agent.map_or("the agent".to_owned(), |it| letter(it.mark).to_string());
        let branch = branch.filter(|branch| !branch.is_empty());
        (branch.unwrap_or_else(|| "the branch".to_owned()), agent)
    }
}

pub(super) fn spoken(dispute: &Dispute) -> String {
    format!("Conflict in {}: {}", dispute.path, dispute.text)
}
