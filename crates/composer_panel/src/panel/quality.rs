//! The page about quality: what is kept, alarms about tools, satisfaction, experiments. Alarms are reported when they are
//! raised.

use futures::StreamExt as _;
use gpui_kit::{
    AnyElement, Context, Div, InteractiveElement as _, IntoElement as _, ParentElement as _, Role,
    StatefulInteractiveElement as _, Styled as _, Task, TestSupportExt as _, Window, div,
};
use ui::{Banner, Button, ButtonStyle, Label, Tone, dp};

use super::spending::named_text;
use super::{ComposerPanel, PanelEvent, PanelPage};
use crate::actions::ShowQuality;
use crate::agents::{
    AlarmRecord, ExperimentLine, KeptLine, OutcomeLine, QualityReport, SatisfactionLine,
};

/// The periods that the page offers, in days.
const PERIODS: [(u64, &str); 3] = [(7, "7 days"), (30, "30 days"), (90, "90 days")];
/// Maximum number of lines of a list.
const MAX_LINES: usize = 20;

/// The state of the page.
pub(super) struct QualityPage {
    days: u64,
    report: QualityReport,
    problem: Option<String>,
    /// Number of alarms that were raised since the page was shown.
    news: usize,
    _load: Option<Task<()>>,
    _alarms: Option<Task<()>>,
}

impl Default for QualityPage {
    fn default() -> Self {
        Self {
            days: 30,
            report: QualityReport::default(),
            problem: None,
            news: 0,
            _load: None,
            _alarms: None,
        }
    }
}

impl ComposerPanel {
    /// Shows the quality of agents' work, or returns to the session.
    pub fn show_quality(&mut self, _: &ShowQuality, window: &mut Window, cx: &mut Context<Self>) {
        if self.toggle_page(PanelPage::Quality, window, cx) {
            self.quality.news = 0;
            self.load_quality(cx);
        }
        cx.notify();
    }

    fn load_quality(&mut self, cx: &mut Context<Self>) {
        let Some(agents) = &self.agents else {
            return;
        };
        let reading = agents.quality(self.quality.days);
        self.quality._load = Some(cx.spawn(async move |this, cx| {
            let read = reading.await;
            // The window may be gone by then.
            this.update(cx, |this, cx| {
                match read {
                    Ok(read) => {
                        this.quality.report = read;
                        this.quality.problem = None;
                    }
                    Err(error) => this.quality.problem = Some(error.to_string()),
                }
                cx.notify();
            })
            .ok();
        }));
    }

    /// Reports tools that fail more often than usual, or take another time.
    pub(super) fn follow_alarms(&mut self, cx: &mut Context<Self>) {
        let Some(mut alarms) = self.agents.as_ref().map(|it| it.tool_alarms()) else {
            return;
        };
        self.quality._alarms = Some(cx.spawn(async move |this, cx| {
            while let Some(alarm) = alarms.next().await {
                let taken = this.update(cx, |this, cx| {
                    if this.page == PanelPage::Quality {
                        this.load_quality(cx);
                    } else {
                        this.quality.news += 1;
                    }
                    cx.emit(PanelEvent::Problem(alarm.sentence));
                    cx.notify();
                });
                if taken.is_err() {
                    return;
                }
            }
        }));
    }

    /// Renders the chip with the number of new alarms; `None` without any.
    pub(super) fn render_alarm_chip(&self) -> Option<AnyElement> {
        let count = self.quality.news;
        let label = base::count_of(count, "alarm");
        let chip = Button::new("agent-alarms", label)
            .style(ButtonStyle::Ghost)
            .action(Box::new(ShowQuality));
        (count > 0).then(|| chip.into_any_element())
    }

    /// Renders the page.
    pub(super) fn render_quality(&self, cx: &mut Context<Self>) -> AnyElement {
        let page = &self.quality;
        let problem = page.problem.clone().map(|sentence| {
            Banner::new("agent-quality-problem", Tone::Error, sentence).into_any_element()
        });
        let report = &page.report;
        let sections = [
            ("Kept text", kept_texts(&report.kept)),
            ("Outcomes of calls", outcome_texts(&report.outcomes)),
            (
                "Satisfaction",
                vec![satisfaction_text(&report.satisfaction)],
            ),
            ("Experiments", experiment_texts(&report.experiments)),
        ];
        let sections = sections.into_iter().enumerate();
        let sections: Vec<AnyElement> = sections
            .map(|(at, (title, lines))| section(at, title, &lines, cx))
            .collect();
        div()
            .id("agent-quality")
            .role(Role::Group)
            .aria_label("Quality")
            .test_support()
            .track_focus(&self.list_focus)
            .key_context("Composer quality")
            .size_full()
            .flex()
            .flex_col()
            .gap(dp(12.0))
            .p(dp(12.0))
            .overflow_y_scroll()
            .child(self.render_quality_periods(cx))
            .children(problem)
            .child(self.render_alarms(cx))
            .children(sections)
            .into_any_element()
    }

    fn render_quality_periods(&self, cx: &mut Context<Self>) -> Div {
        let chosen = self.quality.days;
        let buttons = PERIODS.iter().map(|(days, name)| {
            let style = if *days == chosen {
                ButtonStyle::Plain
            } else {
                ButtonStyle::Ghost
            };
            let days = *days;
            Button::new(("agent-quality-days", days as usize), *name)
                .style(style)
                .on_click(cx.listener(move |this, _, _, cx| {
                    this.quality.days = days;
                    this.load_quality(cx);
                    cx.notify();
                }))
        });
        let buttons: Vec<_> = buttons.collect();
        div()
            .flex()
            .flex_wrap()
            .items_center()
            .gap(dp(4.0))
            .children(buttons)
    }

    /// Renders the alarms, each with its latest call and a task about it.
    fn render_alarms(&self, cx: &mut Context<Self>) -> AnyElement {
        let alarms = self.quality.report.alarms.iter().take(MAX_LINES);
        let rows: Vec<AnyElement> = alarms
            .enumerate()
            .map(|(at, alarm)| {
                let text = named_text(("agent-quality-alarm", at), alarm_text(alarm), cx);
                let session = alarm.examples.last().map(|it| it.session.clone());
                let session = session.filter(|id| !id.is_empty()).map(|id| {
                    Button::new(("agent-quality-session", at), "Open session")
                        .style(ButtonStyle::Ghost)
                        .on_click(cx.listener(move |this, _, window, cx| {
                            this.open_session(id.clone(), window, cx);
                        }))
                });
                let task = diagnosis(alarm);
                let diagnose = Button::new(("agent-quality-diagnose", at), "Diagnose")
                    .style(ButtonStyle::Ghost)
                    .on_click(cx.listener(move |this, _, window, cx| {
                        this.page = PanelPage::Session;
                        this.add_to_prompt(&task, window, cx);
                    }));
                let buttons = div().flex().gap(dp(4.0)).children(session).child(diagnose);
                div()
                    .flex()
                    .flex_col()
                    .child(text)
                    .child(buttons)
                    .into_any_element()
            })
            .collect();
        let none = self.quality.report.alarms.is_empty();
        let nothing = none.then(|| Label::new("No alarms").small().muted());
        list("Alarms about tools", "agent-quality-alarms")
            .children(nothing)
            .children(rows)
            .into_any_element()
    }
}

/// A list with a title.
fn list(
    title: &'static str,
    id: &'static str,
) -> gpui_kit::base::ObservedElement<gpui_kit::Stateful<Div>> {
    div()
        .id(id)
        .role(Role::List)
        .aria_label(title)
        .test_support()
        .flex()
        .flex_col()
        .gap(dp(4.0))
        .child(Label::new(title).small().strong())
}

/// A list of lines with a title.
fn section(
    at: usize,
    title: &'static str,
    lines: &[String],
    cx: &Context<ComposerPanel>,
) -> AnyElement {
    let ids = [
        "agent-quality-kept",
        "agent-quality-outcomes",
        "agent-quality-satisfaction",
        "agent-quality-experiments",
    ];
    let id = ids.get(at).copied().unwrap_or("agent-quality-section");
    let more = lines.len().saturating_sub(MAX_LINES);
    let rows = lines.iter().take(MAX_LINES).enumerate();
    let rows: Vec<_> = rows
        .map(|(line, text)| named_text(("agent-quality-line", at * 1_000 + line), text.clone(), cx))
        .collect();
    let nothing = lines
        .is_empty()
        .then(|| Label::new("Nothing yet").small().muted());
    list(title, id)
        .children(nothing)
        .children(rows)
        .children((more > 0).then(|| Label::new(format!("and {more} more")).tiny().muted()))
        .into_any_element()
}

/// The kept shares, each group with the figures beside it.
fn kept_texts(lines: &[KeptLine]) -> Vec<String> {
    let texts = lines.iter().map(|line| {
        let kept = line.kept.iter();
        let kept: Vec<String> = kept
            .map(|(moment, share)| format!("{moment} {}", percent(*share)))
            .collect();
        let beside = if line.calls == 0 {
            String::new()
        } else {
            format!(
                "; {} edits and {} questions a turn, {} of {} calls failed",
                number(line.edits_per_turn),
                number(line.questions_per_turn),
                percent(line.error_share),
                line.calls
            )
        };
        format!(
            "{}: {} of {} tokens kept: {}{beside}; {}",
            line.name,
            base::count_of(usize::try_from(line.units).unwrap_or(usize::MAX), "change"),
            line.tokens,
            kept.join(", "),
            line.change
        )
    });
    texts.collect()
}

fn outcome_texts(lines: &[OutcomeLine]) -> Vec<String> {
    let texts = lines.iter().map(|line| {
        let outcomes = line.outcomes.iter();
        let outcomes: Vec<String> = outcomes
            .map(|(outcome, count)| format!("{} {count}", outcome.replace('_', " ")))
            .collect();
        format!("{} by {}: {}", line.tool, line.model, outcomes.join(", "))
    });
    texts.collect()
}

fn alarm_text(alarm: &AlarmRecord) -> String {
    let day = agent::context::date(alarm.at_ms);
    format!(
        "{day}: {} by {}: {}",
        alarm.tool,
        alarm.model,
        alarm.sentence()
    )
}

fn satisfaction_text(line: &SatisfactionLine) -> String {
    format!(
        "{} of the known turns satisfied: {} satisfied, {} dissatisfied, {} unknown",
        percent(line.share),
        line.satisfied,
        line.dissatisfied,
        line.unknown
    )
}

fn experiment_texts(lines: &[ExperimentLine]) -> Vec<String> {
    let texts = lines.iter();
    texts
        .map(|line| format!("{}: {}", line.id, line.sentence))
        .collect()
}

/// Returns the task for an agent that finds out why a tool fails.
fn diagnosis(alarm: &AlarmRecord) -> String {
    let calls = alarm.examples.iter();
    let calls: Vec<String> = calls
        .map(|it| format!("call {} of session {}", it.call, it.session))
        .collect();
    let change = match alarm.class.as_str() {
        "slower" | "faster" => "takes another time than usual",
        _ => "fails more often than usual",
    };
    format!(
        "The tool {} {change} when {} calls it: {}. Find out why from these calls ({}; `burin-agent sessions export ID` \
         prints a session). Write a test that fails for this reason, then the change that mends it.",
        alarm.tool,
        alarm.model,
        alarm.sentence(),
        calls.join(", ")
    )
}

fn percent(share: Option<f64>) -> String {
    share.map_or("?".to_owned(), |share| format!("{:.0} %", share * 100.0))
}

fn number(value: Option<f64>) -> String {
    value.map_or("?".to_owned(), |value| format!("{value:.1}"))
}
