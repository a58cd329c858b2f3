//! The page with the cost of models, and notices of budgets.

use agent::spending::SpendLine;
use futures::StreamExt as _;
use gpui_kit::{
    AnyElement, Context, Div, InteractiveElement as _, IntoElement as _, ParentElement as _, Role,
    SharedString, StatefulInteractiveElement as _, Styled as _, Task, TestSupportExt as _, Window,
    div, px, relative,
};
use ui::foreign::one_line;
use ui::{
    ActiveSettings as _, ActiveTheme as _, Banner, Button, ButtonStyle, EmptyState, Icon, Label,
    Tone, dp,
};

use super::session_rows::dollars;
use super::{ComposerPanel, PanelEvent, PanelPage};
use crate::actions::ShowSpending;
use crate::agents::Spending;
use agent_service::token_text;

/// The periods that the page offers, in days.
const PERIODS: [(u64, &str); 3] = [(1, "Today"), (7, "7 days"), (30, "30 days")];
/// Maximum number of lines of a list.
const MAX_LINES: usize = 20;

/// The state of the page.
pub(super) struct SpendingPage {
    days: u64,
    spending: Spending,
    problem: Option<String>,
    _load: Option<Task<()>>,
    _notices: Option<Task<()>>,
}

impl Default for SpendingPage {
    fn default() -> Self {
        Self {
            days: 30,
            spending: Spending::default(),
            problem: None,
            _load: None,
            _notices: None,
        }
    }
}

impl ComposerPanel {
    /// Shows the cost of models, or returns to the session.
    pub fn show_spending(&mut self, _: &ShowSpending, window: &mut Window, cx: &mut Context<Self>) {
        if self.toggle_page(PanelPage::Spending, window, cx) {
            self.load_spending(cx);
        }
        cx.notify();
    }

    fn load_spending(&mut self, cx: &mut Context<Self>) {
        let Some(agents) = &self.agents else {
            return;
        };
        let reading = agents.spending(self.spending.days);
        self.spending._load = Some(cx.spawn(async move |this, cx| {
            let read = reading.await;
            // The window may be gone by then.
            this.update(cx, |this, cx| {
                match read {
                    Ok(read) => {
                        this.spending.spending = read;
                        this.spending.problem = None;
                    }
                    Err(error) => this.spending.problem = Some(error.to_string()),
                }
                cx.notify();
            })
            .ok();
        }));
    }

    /// Reports budgets that are nearly or fully used.
    pub(super) fn follow_budgets(&mut self, cx: &mut Context<Self>) {
        let Some(mut notices) = self.agents.as_ref().map(|it| it.budget_notices()) else {
            return;
        };
        self.spending._notices = Some(cx.spawn(async move |this, cx| {
            while let Some(notice) = notices.next().await {
                let taken =
                    this.update(cx, |_, cx| cx.emit(PanelEvent::Problem(notice.sentence())));
                if taken.is_err() {
                    return;
                }
            }
        }));
    }

    /// Renders the page.
    pub(super) fn render_spending(&self, cx: &mut Context<Self>) -> AnyElement {
        let page = &self.spending;
        let problem = page.problem.clone().map(|sentence| {
            Banner::new("agent-spending-problem", Tone::Error, sentence).into_any_element()
        });
        let spending = &page.spending;
        let predicted = spending.total.predicted_text().map(|text| {
            let text = format!("Predicted outputs: {text}.");
            named_text("agent-spending-predicted", text, cx)
        });
        let body = if spending.days.is_empty() {
            EmptyState::new("Nothing was spent")
                .icon(Icon::Info)
                .detail("The cost of each request to a model appears here.")
                .into_any_element()
        } else {
            self.render_spend_lists(cx)
        };
        div()
            .id("agent-spending")
            .role(Role::Group)
            .aria_label("Cost of models")
            .test_support()
            .track_focus(&self.list_focus)
            .key_context("Composer spending")
            .size_full()
            .flex()
            .flex_col()
            .gap(dp(12.0))
            .p(dp(12.0))
            .overflow_y_scroll()
            .child(self.render_periods(cx))
            .children(problem)
            .child(self.render_day_budget(cx))
            .children(predicted)
            .child(body)
            .into_any_element()
    }

    fn render_periods(&self, cx: &mut Context<Self>) -> Div {
        let total = &self.spending.spending.total;
        let chosen = self.spending.days;
        let buttons = PERIODS.iter().map(|(days, name)| {
            let style = if *days == chosen {
                ButtonStyle::Plain
            } else {
                ButtonStyle::Ghost
            };
            let days = *days;
            Button::new(("agent-spending-days", days as usize), *name)
                .style(style)
                .on_click(cx.listener(move |this, _, _, cx| {
                    this.spending.days = days;
                    this.load_spending(cx);
                    cx.notify();
                }))
        });
        let buttons: Vec<_> = buttons.collect();
        let sum = format!("{} \u{b7} {} tokens", cost(total), token_text(total.tokens));
        div()
            .flex()
            .flex_wrap()
            .items_center()
            .gap(dp(4.0))
            .child(div().flex_1().min_w_0().child(Label::new(sum).strong()))
            .children(buttons)
    }

    /// Renders the used share of the daily budget.
    fn render_day_budget(&self, cx: &mut Context<Self>) -> AnyElement {
        let today = &self.spending.spending.today;
        let most = f64::from(cx.settings().models.budget_day);
        if most <= 0.0 {
            let text = format!(
                "Today: {}. No daily budget is set; models.budget_day in the settings sets one.",
                cost(today)
            );
            return named_text("agent-spending-budget", text, cx).into_any_element();
        }
        let share = (today.cost_nano as f64 / 1e9 / most) as f32;
        let percent = (share * 100.0).floor();
        let text = format!(
            "Today: {} of ${most:.2}, {percent} % of the budget",
            cost(today)
        );
        let colors = cx.theme().colors;
        let color = match percent {
            it if it >= 100.0 => colors.error,
            it if it >= 80.0 => colors.warning,
            _ => colors.accent,
        };
        let bar = div()
            .h(dp(6.0))
            .rounded(px(3.0))
            .overflow_hidden()
            .bg(colors.border)
            .child(div().h_full().w(relative(share.clamp(0.0, 1.0))).bg(color));
        named_text("agent-spending-budget", text, cx)
            .flex()
            .flex_col()
            .gap(dp(4.0))
            .child(bar)
            .into_any_element()
    }

    fn render_spend_lists(&self, cx: &mut Context<Self>) -> AnyElement {
        let spending = &self.spending.spending;
        let lists = [
            ("By day (UTC)", &spending.days),
            ("By model", &spending.models),
            ("By agent, with its subagents", &spending.agents),
            ("By purpose", &spending.purposes),
        ];
        let mut sections: Vec<AnyElement> = Vec::new();
        for (at, (title, lines)) in lists.into_iter().enumerate() {
            if !lines.is_empty() {
                sections.push(section(at, title, lines, cx));
            }
        }
        let notices = spending.notices.iter().take(MAX_LINES).enumerate();
        let notices: Vec<AnyElement> = notices
            .map(|(at, notice)| {
                let day = agent::context::date(notice.at_ms);
                let text = format!("{day}: {}", notice.sentence());
                named_text(("agent-spending-notice", at), text, cx).into_any_element()
            })
            .collect();
        div()
            .flex()
            .flex_col()
            .gap(dp(12.0))
            .children(sections)
            .children(notices)
            .into_any_element()
    }
}

/// A list of sums with bars, each in proportion to the largest one.
fn section(
    at: usize,
    title: &'static str,
    lines: &[SpendLine],
    cx: &Context<ComposerPanel>,
) -> AnyElement {
    let colors = cx.theme().colors;
    let most = lines
        .iter()
        .map(|line| line.cost_nano)
        .max()
        .unwrap_or(0)
        .max(1);
    let row = |(index, line): (usize, &SpendLine)| {
        let share = line.cost_nano as f32 / most as f32;
        let tokens = match line.tokens {
            0 => String::new(),
            tokens => format!(", {} tokens", token_text(tokens)),
        };
        let name: SharedString = one_line(line.name.clone());
        div()
            .id(("agent-spend-line", at * 1_000 + index))
            .role(Role::ListItem)
            .aria_label(format!("{name}: {}{tokens}", cost(line)))
            .test_support()
            .flex()
            .items_center()
            .gap(dp(8.0))
            .child(div().flex_1().min_w_0().child(Label::new(name).small()))
            .child(
                div()
                    .flex_none()
                    .w(dp(72.0))
                    .h(dp(6.0))
                    .rounded(px(3.0))
                    .overflow_hidden()
                    .bg(colors.border)
                    .child(div().h_full().w(relative(share)).bg(colors.accent)),
            )
            .child(
                div()
                    .flex_none()
                    .w(dp(88.0))
                    .flex()
                    .justify_end()
                    .child(Label::new(cost(line)).tiny().muted()),
            )
    };
    let rows: Vec<_> = lines.iter().take(MAX_LINES).enumerate().map(row).collect();
    let more = lines.len().saturating_sub(MAX_LINES);
    div()
        .id(("agent-spend-list", at))
        .role(Role::List)
        .aria_label(title)
        .flex()
        .flex_col()
        .gap(dp(4.0))
        .child(Label::new(title).small().strong())
        .children(rows)
        .children((more > 0).then(|| Label::new(format!("and {more} more")).tiny().muted()))
        .into_any_element()
}

/// A muted text that wraps, with itself as its name.
pub(super) fn named_text(
    id: impl Into<gpui_kit::ElementId>,
    text: String,
    cx: &Context<ComposerPanel>,
) -> gpui_kit::base::ObservedElement<gpui_kit::Stateful<Div>> {
    div()
        .id(id)
        .role(Role::Status)
        .aria_label(text.clone())
        .test_support()
        .text_size(dp(12.0))
        .text_color(cx.theme().colors.muted)
        .child(text)
}

/// Formats a cost, and says if calls of unknown price are missing in it.
fn cost(line: &SpendLine) -> String {
    match (line.cost_nano, line.has_unknown_cost) {
        (0, true) => "price unknown".to_owned(),
        (0, false) => "$0".to_owned(),
        (nano, true) => format!("{} + unknown", dollars(nano)),
        (nano, false) => dollars(nano),
    }
}
