//! Renders a conflicting file of a landing: both sides, and the buttons to resolve it.

use gpui_kit::{
    AnyElement, Context, InteractiveElement as _, IntoElement as _, ParentElement as _,
    Styled as _, div,
};
use ui::{ActiveTheme as _, Button, ButtonStyle, Elide, Icon, Label, dp, foreign};

use super::ComposerPanel;
use super::board::ReviewRow;
use super::review::{LineSide, code_block, render_lines};
use crate::actions::{AcceptHunk, GiveUpLanding, RejectHunk, WriteDispute};
use crate::board::{Conflict, ConflictHunk, agent_letter};

impl ComposerPanel {
    /// Renders the conflict in row `at` of the review list.
    pub(super) fn render_conflict(
        &self,
        at: usize,
        conflict: &Conflict,
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
            .child(self.mark_of(&conflict.job, cx))
            .child(div().flex_none().child(Icon::Warning.color(colors.warning)))
            .child(
                Label::new(conflict.path.clone())
                    .small()
                    .mono()
                    .elide(Elide::Middle(36)),
            );
        let sentence = div()
            .px(dp(8.0))
            .pt(dp(4.0))
            .text_size(dp(12.0))
            .text_color(colors.text)
            .child(foreign::multi_line(conflict.text.clone()));
        let mut parts = vec![head.into_any_element(), sentence.into_any_element()];
        for hunk in &conflict.hunks {
            parts.extend(self.render_conflict_hunk(conflict, hunk, cx));
        }
        parts.push(self.render_conflict_buttons(at, conflict, cx));
        parts
    }

    /// Renders both sides of a hunk, each under its name.
    fn render_conflict_hunk(
        &self,
        conflict: &Conflict,
        hunk: &ConflictHunk,
        cx: &Context<Self>,
    ) -> Vec<AnyElement> {
        let (branch, agent) = self.side_names(conflict);
        let head = |name: String| {
            div()
                .px(dp(8.0))
                .pt(dp(4.0))
                .child(Label::new(name).tiny().muted())
                .into_any_element()
        };
        let side = |texts: &[String], side| {
            if texts.is_empty() {
                vec![
                    div()
                        .px(dp(8.0))
                        .child(Label::new("nothing").small().muted())
                        .into_any_element(),
                ]
            } else {
                render_lines(' ', texts, side, cx)
            }
        };
        let mut parts = vec![head(format!("{branch}, line {}", hunk.line))];
        parts.extend(code_block(side(&hunk.branch, LineSide::Unchanged), cx));
        parts.push(head(agent));
        parts.extend(code_block(side(&hunk.agent, LineSide::Added), cx));
        parts
    }

    fn render_conflict_buttons(
        &self,
        at: usize,
        conflict: &Conflict,
        cx: &Context<Self>,
    ) -> AnyElement {
        let (branch, agent) = self.side_names(conflict);
        let row = ReviewRow::Conflict(conflict).id();
        // A click first selects this row; the button's action follows.
        let button = |id: &'static str, label: String| {
            let row = row.clone();
            Button::new((id, at), label)
                .style(ButtonStyle::Plain)
                .on_click(cx.listener(move |this, _, _, cx| this.choose_row(row.clone(), cx)))
        };
        let mut buttons = vec![
            button("conflict-agent", format!("Take {agent}\u{2019}s")).action(Box::new(AcceptHunk)),
            button("conflict-branch", format!("Keep {branch}\u{2019}s"))
                .action(Box::new(RejectHunk)),
        ];
        if conflict.draft.is_some() {
            let write = button("conflict-write", "Edit\u{2026}".to_owned());
            buttons.push(write.action(Box::new(WriteDispute)));
        }
        buttons.push(
            button("conflict-give-up", "Abandon landing".to_owned())
                .style(ButtonStyle::Ghost)
                .action(Box::new(GiveUpLanding)),
        );
        div()
            .id(("conflict-buttons", at))
            .flex()
            .flex_wrap()
            .gap(dp(8.0))
            .p(dp(8.0))
            .children(buttons.into_iter().map(Button::with_keys))
            .into_any_element()
    }

    /// The names of the two sides.
    fn side_names(&self, conflict: &Conflict) -> (String, String) {
        let board = self.board.as_ref().map(|pane| &pane.board);
        let branch = board.map(|board| board.branch.clone());
        let job = board.and_then(|board| board.job(&conflict.job));
        let agent = job.map_or("the agent".to_owned(), |job| {
            agent_letter(job.mark).to_string()
        });
        let branch = branch.filter(|branch| !branch.is_empty());
        (branch.unwrap_or_else(|| "the branch".to_owned()), agent)
    }
}

/// Describes a conflict for screen readers.
pub(super) fn accessible_label(conflict: &Conflict) -> String {
    format!("Conflict in {}: {}", conflict.path, conflict.text)
}
