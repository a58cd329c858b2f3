//! Renders a best-of-N comparison: checks, size, time and cost of each candidate.

use gpui_kit::{
    AnyElement, Context, InteractiveElement as _, IntoElement as _, ParentElement as _, Role,
    StatefulInteractiveElement as _, Styled as _, TestSupportExt as _, div, px,
};
use ui::{ActiveTheme as _, Button, ButtonStyle, Label, dp};

use super::ComposerPanel;
use super::board::BoardPane;
use super::board_view::format_seconds;
use super::session_rows::dollars;
use crate::actions::CompareAgents;
use crate::board::{BestOfEntry, agent_letter};

impl ComposerPanel {
    /// Renders the candidates, best first; nothing without a best-of-N group.
    pub(super) fn render_best_of(
        &self,
        pane: &BoardPane,
        cx: &mut Context<Self>,
    ) -> Option<AnyElement> {
        let candidates = &pane.board.best_of;
        if candidates.is_empty() {
            return None;
        }
        let colors = cx.theme().colors;
        let rows = candidates.iter().enumerate().map(|(at, candidate)| {
            let id = candidate.job.clone();
            let mark = self.mark_of(&candidate.job, cx);
            let is_chosen = pane.job.as_ref() == Some(&candidate.job);
            // A candidate without checks or changes is never marked as the best.
            let is_best = at == 0 && candidate.files > 0 && !candidate.checks.is_empty();
            let label = Label::new(candidate_summary(candidate)).small();
            div()
                .id(("contest", at))
                .role(Role::ListBoxOption)
                .aria_label(self.candidate_label(at, candidate))
                .aria_selected(is_chosen)
                .test_support()
                .flex()
                .items_center()
                .gap(dp(8.0))
                .h(dp(24.0))
                .px(dp(8.0))
                .rounded(px(4.0))
                .hover(|style| style.bg(colors.hover))
                .on_click(cx.listener(move |this, _, _, cx| {
                    this.choose_job(Some(id.clone()), cx);
                }))
                .child(mark)
                .child(div().min_w_0().flex_1().child(label))
                .children(is_best.then(|| Label::new("best").tiny().color(colors.success)))
        });
        let rows: Vec<_> = rows.collect();
        let is_checking = candidates.iter().any(|it| it.is_checking);
        let why = is_checking.then(|| "Checks are running".into());
        let label = if is_checking {
            "Checking\u{2026}"
        } else {
            "Run checks"
        };
        let head = div()
            .flex()
            .items_center()
            .gap(dp(8.0))
            .px(dp(8.0))
            .child(
                div()
                    .flex_1()
                    .child(Label::new("Best of N").small().muted()),
            )
            .child(
                Button::new("contest-checks", label)
                    .style(ButtonStyle::Ghost)
                    .disabled(why)
                    .action(Box::new(CompareAgents))
                    .with_keys(),
            );
        Some(
            div()
                .id("board-contest")
                .role(Role::ListBox)
                .aria_label("Best-of-N candidates, best first")
                .test_support()
                .flex()
                .flex_none()
                .flex_col()
                .p(dp(4.0))
                .border_t_1()
                .border_color(colors.border)
                .child(head)
                .children(rows)
                .into_any_element(),
        )
    }

    fn candidate_label(&self, at: usize, candidate: &BestOfEntry) -> String {
        let board = self.board.as_ref().map(|pane| &pane.board);
        let job = board.and_then(|board| board.job(&candidate.job));
        let letter = job.map_or('?', |job| agent_letter(job.mark));
        format!(
            "{letter}, place {}, {}",
            at + 1,
            candidate_summary(candidate)
        )
    }
}

/// Formats a summary: `3 of 4 checks · 2 files +12 −4 · 41 s · $0.02`.
fn candidate_summary(candidate: &BestOfEntry) -> String {
    let good = candidate.checks.iter().filter(|(_, is_good)| *is_good);
    let checks = match (candidate.is_checking, candidate.checks.len()) {
        (true, _) => "checking".to_owned(),
        (false, 0) => "not checked".to_owned(),
        (false, all) => {
            let failed = candidate.checks.iter().find(|(_, is_good)| !is_good);
            let failed = failed.map_or(String::new(), |(name, _)| format!(" (not {name})"));
            format!("{} of {all} checks{failed}", good.count())
        }
    };
    let files = match candidate.files {
        0 => "no change".to_owned(),
        1 => format!(
            "1 file +{} \u{2212}{}",
            candidate.lines.0, candidate.lines.1
        ),
        files => format!(
            "{files} files +{} \u{2212}{}",
            candidate.lines.0, candidate.lines.1
        ),
    };
    let seconds = (candidate.seconds > 0).then(|| format_seconds(candidate.seconds));
    let cost = (candidate.cost_nano > 0).then(|| dollars(candidate.cost_nano));
    let parts = [Some(checks), Some(files), seconds, cost];
    parts
        .into_iter()
        .flatten()
        .collect::<Vec<_>>()
        .join(" \u{b7} ")
}
