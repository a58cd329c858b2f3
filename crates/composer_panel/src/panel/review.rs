//! The review: every hunk of the agents in one list, with what the person thinks of it.

use gpui_kit::prelude::FluentBuilder as _;
use gpui_kit::{
    AnyElement, Context, InteractiveElement as _, IntoElement as _, ParentElement as _, Role,
    StatefulInteractiveElement as _, Styled as _, TestSupportExt as _, div, list, px,
};
use ui::{ActiveTheme as _, Elide, Icon, IconButton, Label, dp};

use super::ComposerPanel;
use super::board::BoardFace;
use super::board_view::mark;
use crate::board::{AgentState, Hunk, Verdict};

/// Lines of one hunk that are shown on either side.
const MOST_LINES: usize = 200;

impl ComposerPanel {
    pub(super) fn render_review(&self, face: &BoardFace, cx: &mut Context<Self>) -> AnyElement {
        let colors = cx.theme().colors;
        let hunks = face.hunks();
        let area = div()
            .flex()
            .flex_1()
            .flex_col()
            .min_h_0()
            .border_t_1()
            .border_color(colors.border);
        if hunks.is_empty() {
            let is_live = face.board.agents.iter().any(|agent| {
                agent.state.is_live() && face.agent.as_ref().is_none_or(|it| *it == agent.id)
            });
            let is_landed = face
                .chosen_agent()
                .is_some_and(|agent| agent.state == AgentState::Landed);
            let text = match (is_landed, is_live) {
                (true, _) => "All of it is on your branch.",
                (false, true) => "Changes are listed here as they are made.",
                (false, false) => "Nothing was changed.",
            };
            let text = Label::new(text).small().muted();
            return area.p(dp(12.0)).child(text).into_any_element();
        }
        let this = cx.entity();
        let rows = list(face.list.clone(), move |at, _, cx| {
            this.update(cx, |this, cx| this.render_hunk(at, cx))
        });
        let count = match hunks.len() {
            1 => "1 change".to_owned(),
            count => format!("{count} changes"),
        };
        let of = face.chosen_agent().map(|agent| agent.title.clone());
        let title = of.map_or(count.clone(), |of| format!("{count} by {of}"));
        area.child(
            div()
                .flex()
                .flex_none()
                .items_center()
                .h(dp(28.0))
                .px(dp(12.0))
                .child(Label::new(title).small().muted()),
        )
        .child(
            div()
                .id("board-review")
                .role(Role::ListBox)
                .aria_label("Changes")
                .test_support()
                .flex_1()
                .min_h_0()
                .child(rows.size_full()),
        )
        .into_any_element()
    }

    fn render_hunk(&self, at: usize, cx: &mut Context<Self>) -> AnyElement {
        let Some(face) = &self.board else {
            return div().into_any_element();
        };
        let hunks = face.hunks();
        let Some(hunk) = hunks.get(at) else {
            return div().into_any_element();
        };
        let colors = cx.theme().colors;
        let is_chosen = face.hunk.as_ref() == Some(&hunk.id) && face.in_review;
        let agent = face.board.agent(&hunk.agent);
        let number = agent.map_or(0, |agent| agent.mark);
        let id = hunk.id.clone();
        let border = match (is_chosen, hunk.verdict) {
            (true, _) => colors.focus,
            (false, Verdict::Accepted) => colors.added,
            (false, _) => colors.border,
        };
        div()
            .px(dp(8.0))
            .py(dp(4.0))
            .child(
                div()
                    .id(("board-hunk", at))
                    .role(Role::ListBoxOption)
                    .aria_label(spoken(hunk))
                    .aria_selected(is_chosen)
                    .test_support()
                    .rounded(px(6.0))
                    .border_1()
                    .border_color(border)
                    .bg(colors.surface)
                    .overflow_hidden()
                    .when(hunk.verdict == Verdict::Rejected, |this| this.opacity(0.55))
                    .on_click(cx.listener(move |this, _, _, cx| this.choose_hunk(id.clone(), cx)))
                    .child(self.render_hunk_head(at, number, hunk, cx))
                    .children(render_lines(hunk, cx)),
            )
            .into_any_element()
    }

    fn render_hunk_head(
        &self,
        at: usize,
        number: usize,
        hunk: &Hunk,
        cx: &Context<Self>,
    ) -> AnyElement {
        let colors = cx.theme().colors;
        let place = format!("{}:{}", hunk.path, hunk.line);
        let button = |id: &'static str, icon, name: &'static str, verdict: Verdict| {
            let hunk_id = hunk.id.clone();
            IconButton::new((id, at), icon, name)
                .small()
                .pressed(hunk.verdict == verdict)
                .on_click(cx.listener(move |this, _, _, cx| {
                    this.judge(Some(hunk_id.clone()), verdict, cx);
                }))
        };
        let about = [hunk.symbol.clone(), hunk.author.clone(), hunk.note.clone()];
        let about: Vec<String> = about.into_iter().flatten().collect();
        div()
            .flex()
            .items_center()
            .gap(dp(8.0))
            .h(dp(28.0))
            .pl(dp(8.0))
            .pr(dp(4.0))
            .border_b_1()
            .border_color(colors.border)
            .child(mark(number, cx))
            .child(
                div()
                    .min_w_0()
                    .flex_1()
                    .flex()
                    .gap(dp(8.0))
                    .child(
                        div()
                            .flex_none()
                            .child(Label::new(place).small().mono().elide(Elide::Middle(36))),
                    )
                    .child(
                        div()
                            .min_w_0()
                            .child(Label::new(about.join(" \u{b7} ")).small().muted()),
                    ),
            )
            .when_some(hunk.risk.clone(), |this, risk| {
                this.child(Label::new(risk).tiny().color(colors.warning))
            })
            .child(button(
                "hunk-accept",
                Icon::Check,
                "Accept",
                Verdict::Accepted,
            ))
            .child(button(
                "hunk-reject",
                Icon::Close,
                "Reject",
                Verdict::Rejected,
            ))
            .into_any_element()
    }
}

/// The lines that go and those that come.
fn render_lines(hunk: &Hunk, cx: &Context<ComposerPanel>) -> Option<AnyElement> {
    let colors = cx.theme().colors;
    if hunk.before.is_empty() && hunk.after.is_empty() {
        return None;
    }
    let line = |sign: &'static str, text: &String, color, ground| {
        div()
            .flex()
            .px(dp(8.0))
            .bg(ground)
            .child(div().flex_none().w(dp(16.0)).text_color(color).child(sign))
            .child(div().min_w_0().flex_1().child(text.clone()))
    };
    let gone = hunk.before.iter().take(MOST_LINES);
    let come = hunk.after.iter().take(MOST_LINES);
    let gone = gone.map(|text| line("\u{2212}", text, colors.removed, colors.removed_ground));
    let come = come.map(|text| line("+", text, colors.added, colors.added_ground));
    let rows: Vec<_> = gone.chain(come).collect();
    let all = hunk.before.len() + hunk.after.len();
    let more = all.saturating_sub(rows.len());
    Some(
        div()
            .flex()
            .flex_col()
            .py(dp(4.0))
            .font(cx.theme().code_font())
            .text_size(dp(12.0))
            .children(rows)
            .when(more > 0, |this| {
                this.child(
                    div()
                        .px(dp(8.0))
                        .child(Label::new(format!("and {more} more lines")).tiny().muted()),
                )
            })
            .into_any_element(),
    )
}

fn spoken(hunk: &Hunk) -> String {
    let verdict = match hunk.verdict {
        Verdict::Open => "not decided",
        Verdict::Accepted => "accepted",
        Verdict::Rejected => "rejected",
    };
    format!(
        "{} line {}, {} lines go, {} come, {verdict}",
        hunk.path,
        hunk.line,
        hunk.before.len(),
        hunk.after.len()
    )
}
