//! The page with the automations of the folder: state, next time, results, consent.
//!
//! Start at `ComposerPanel::show_automations`.

use gpui_kit::{
    AnyElement, Context, Div, InteractiveElement as _, IntoElement as _, ParentElement as _, Role,
    SharedString, Stateful, StatefulInteractiveElement as _, Styled as _, Task,
    TestSupportExt as _, Window, div,
};
use ui::foreign::one_line;
use ui::{Badge, Banner, Button, ButtonStyle, EmptyState, Icon, Label, ListRow, Tone, dp};

use super::session_rows::dollars;
use super::{ComposerPanel, PanelEvent, PanelPage};
use crate::actions::{
    Open, OpenFile, RunAutomation, ShowAutomations, TrustAutomation, TurnOffAutomation,
};
use crate::agents::{
    AutomationChange, AutomationEntry, AutomationState, Error, OccurrenceEntry, OccurrenceState,
    local_time,
};

/// Maximum number of occurrences that the page lists.
const MAX_OCCURRENCES: usize = 20;

/// The state of the page.
#[derive(Default)]
pub(super) struct AutomationsPage {
    entries: Vec<AutomationEntry>,
    /// Index of the selected entry.
    selected: usize,
    is_loaded: bool,
    problem: Option<String>,
    _load: Option<Task<()>>,
}

impl AutomationsPage {
    /// Removes the automations of the previous folder.
    pub(super) fn leave_folder(&mut self) {
        *self = Self::default();
    }

    fn selected(&self) -> Option<&AutomationEntry> {
        self.entries.get(self.selected)
    }

    fn loaded(&mut self, listed: Result<Vec<AutomationEntry>, Error>) {
        self.is_loaded = true;
        match listed {
            Ok(entries) => {
                let name = self.selected().map(|entry| entry.name.clone());
                let same = entries
                    .iter()
                    .position(|it| Some(&it.name) == name.as_ref());
                self.selected = same.unwrap_or(0);
                self.entries = entries;
                self.problem = None;
            }
            Err(error) => self.problem = Some(error.to_string()),
        }
    }
}

impl ComposerPanel {
    /// Shows the automations of the folder, or returns to the session.
    pub fn show_automations(
        &mut self,
        _: &ShowAutomations,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        if self.agents.is_none() || self.root.is_none() {
            return;
        }
        if self.toggle_page(PanelPage::Automations, window, cx) {
            self.load_automations(cx);
        }
        cx.notify();
    }

    /// Reads the list again, if the page is shown.
    pub(super) fn refresh_automations(&mut self, cx: &mut Context<Self>) {
        if self.page == PanelPage::Automations {
            self.load_automations(cx);
        }
    }

    fn load_automations(&mut self, cx: &mut Context<Self>) {
        if let (Some(agents), Some(root)) = (self.agents.clone(), self.root.clone()) {
            let reading = agents.automations(root);
            self.follow_automations(reading, cx);
        }
    }

    /// Applies a change to the selected automation.
    fn change_automation(
        &mut self,
        change: impl FnOnce(&AutomationEntry) -> AutomationChange,
        cx: &mut Context<Self>,
    ) {
        let (Some(agents), Some(root)) = (self.agents.clone(), self.root.clone()) else {
            return;
        };
        if let Some(entry) = self.automations.selected() {
            let changing = agents.change_automation(root, change(entry));
            self.follow_automations(changing, cx);
        }
    }

    fn follow_automations(
        &mut self,
        listing: impl Future<Output = Result<Vec<AutomationEntry>, Error>> + 'static,
        cx: &mut Context<Self>,
    ) {
        self.automations._load = Some(cx.spawn(async move |this, cx| {
            let listed = listing.await;
            // The window may be gone by then.
            this.update(cx, |this, cx| {
                this.automations.loaded(listed);
                cx.notify();
            })
            .ok();
        }));
    }

    /// Turns the selected automation on, as its text is shown.
    pub(super) fn trust_automation(
        &mut self,
        _: &TrustAutomation,
        _: &mut Window,
        cx: &mut Context<Self>,
    ) {
        let Some(entry) = self.trustable() else {
            return;
        };
        let text = entry.text.clone();
        if let Some(obstacle) = self.revealed(&text).approval_obstacle() {
            self.automations.problem = Some(obstacle);
            cx.notify();
            return;
        }
        self.change_automation(
            |entry| AutomationChange::Trust {
                name: entry.name.clone(),
                mark: entry.mark.clone(),
            },
            cx,
        );
    }

    /// Turns the selected automation off.
    pub(super) fn turn_off_automation(
        &mut self,
        _: &TurnOffAutomation,
        _: &mut Window,
        cx: &mut Context<Self>,
    ) {
        self.change_automation(|entry| AutomationChange::TurnOff(entry.name.clone()), cx);
    }

    /// Runs the selected automation now.
    pub(super) fn run_automation(
        &mut self,
        _: &RunAutomation,
        _: &mut Window,
        cx: &mut Context<Self>,
    ) {
        self.change_automation(|entry| AutomationChange::Run(entry.name.clone()), cx);
    }

    /// Moves the selection of the page.
    pub(super) fn step_automation(&mut self, step: isize, cx: &mut Context<Self>) {
        let page = &mut self.automations;
        let last = page.entries.len().saturating_sub(1);
        page.selected = page.selected.saturating_add_signed(step).min(last);
        page.problem = None;
        cx.notify();
    }

    /// Opens the session of the latest run of the selected automation.
    pub(super) fn open_automation_result(&mut self, window: &mut Window, cx: &mut Context<Self>) {
        let entry = self.automations.selected();
        let started = entry.and_then(|entry| entry.history.iter().find(|it| has_session(it)));
        let Some(link) = started.map(|it| it.link.clone()) else {
            self.automations.problem = Some("It has not run yet.".to_owned());
            cx.notify();
            return;
        };
        if let Some(session) = link.session {
            if !self.turn_to_session(&session, window, cx) {
                self.open_session(session, window, cx);
            }
            return;
        }
        let mut jobs = self.jobs().iter();
        let job = jobs.find(|job| Some(&job.status.task.name) == link.job.as_ref());
        match job.map(|job| job.id().to_owned()) {
            Some(job) => self.watch_job(job, window, cx),
            None => self.show_board(&crate::actions::ShowBoard, window, cx),
        }
    }

    /// Opens the file of the selected automation.
    pub(super) fn open_automation_file(&mut self, cx: &mut Context<Self>) {
        if let Some(entry) = self.automations.selected() {
            cx.emit(PanelEvent::OpenFile(entry.path.clone(), None));
        }
    }

    /// The text of the selected automation that waits for consent.
    pub(super) fn automation_text(&self) -> Option<String> {
        let entry = self
            .trustable()
            .filter(|_| self.page == PanelPage::Automations);
        entry.map(|entry| entry.text.clone())
    }

    /// The selected automation, if it can be turned on.
    fn trustable(&self) -> Option<&AutomationEntry> {
        let entry = self.automations.selected();
        entry.filter(|entry| {
            matches!(
                entry.state,
                AutomationState::Off | AutomationState::Changed | AutomationState::Failing
            )
        })
    }

    /// Renders the page.
    pub(super) fn render_automations(&self, cx: &mut Context<Self>) -> AnyElement {
        let page = &self.automations;
        let problem = page.problem.clone().map(|sentence| {
            Banner::new("agent-automations-problem", Tone::Error, sentence).into_any_element()
        });
        let body = if page.entries.is_empty() {
            let title = if page.is_loaded {
                "No automations"
            } else {
                "Reading the automations\u{2026}"
            };
            EmptyState::new(title)
                .icon(Icon::Clock)
                .detail("Files in .burin/automations hold a prompt and say when it runs.")
                .into_any_element()
        } else {
            self.render_automation_list(cx).into_any_element()
        };
        div()
            .id("agent-automations")
            .role(Role::Group)
            .aria_label("Automations")
            .test_support()
            .track_focus(&self.list_focus)
            .key_context("Composer automations")
            .size_full()
            .flex()
            .flex_col()
            .gap(dp(12.0))
            .p(dp(8.0))
            .overflow_y_scroll()
            .children(problem)
            .child(body)
            .children(
                page.selected()
                    .map(|entry| self.render_automation(entry, cx)),
            )
            .into_any_element()
    }

    fn render_automation_list(&self, cx: &mut Context<Self>) -> Stateful<Div> {
        let rows = self.automations.entries.iter().enumerate();
        let rows: Vec<_> = rows
            .map(|(at, entry)| {
                ListRow::new(("agent-automation", at), summary(entry))
                    .selected(at == self.automations.selected)
                    .on_click(cx.listener(move |this, _, window, cx| {
                        this.automations.selected = at;
                        this.list_focus.focus(window, cx);
                        cx.notify();
                    }))
                    .child(
                        div()
                            .flex_1()
                            .min_w_0()
                            .child(Label::new(one_line(entry.name.clone()))),
                    )
                    .child(Badge::new(entry.state.label()).tone(tone(entry.state)))
            })
            .collect();
        div()
            .id("agent-automation-list")
            .role(Role::ListBox)
            .aria_label("Automations of this folder")
            .flex()
            .flex_col()
            .children(rows)
    }

    /// Renders the selected automation: when it runs, its buttons, its text and its occurrences.
    fn render_automation(&self, entry: &AutomationEntry, cx: &Context<Self>) -> AnyElement {
        let problems = entry.problems.iter().enumerate().map(|(at, problem)| {
            let id = ("agent-automation-error", at);
            Banner::new(id, Tone::Error, problem.clone()).into_any_element()
        });
        let occurrences = entry.history.iter().take(MAX_OCCURRENCES).enumerate();
        let occurrences: Vec<_> = occurrences
            .map(|(at, occurrence)| {
                let text = one_line(occurrence_text(occurrence));
                div()
                    .id(("agent-occurrence", at))
                    .role(Role::ListItem)
                    .aria_label(text.clone())
                    .test_support()
                    .child(Label::new(text).small())
            })
            .collect();
        div()
            .flex()
            .flex_col()
            .gap(dp(8.0))
            .child(Label::new(one_line(when(entry))).small().muted())
            .children(problems)
            .child(self.render_automation_buttons(entry))
            .child(self.render_revealed("agent-automation-text", &entry.text, cx))
            .child(
                div()
                    .id("agent-occurrences")
                    .role(Role::List)
                    .aria_label("Latest runs")
                    .flex()
                    .flex_col()
                    .gap(dp(4.0))
                    .children(occurrences),
            )
            .into_any_element()
    }

    fn render_automation_buttons(&self, entry: &AutomationEntry) -> Div {
        let trust = self.trustable().map(|entry| {
            let obstacle = self.revealed(&entry.text).approval_obstacle();
            Button::new("agent-automation-trust", "Trust and turn on")
                .style(ButtonStyle::Plain)
                .disabled(obstacle.map(SharedString::from))
                .action(Box::new(TrustAutomation))
        });
        let is_on = entry.state.is_on();
        let run = is_on.then(|| {
            Button::new("agent-automation-run", "Run now")
                .style(ButtonStyle::Plain)
                .action(Box::new(RunAutomation))
        });
        let has_consent = is_on || entry.state == AutomationState::Over;
        let off = has_consent.then(|| {
            Button::new("agent-automation-off", "Turn off")
                .style(ButtonStyle::Ghost)
                .action(Box::new(TurnOffAutomation))
        });
        let result = entry.history.iter().any(has_session).then(|| {
            Button::new("agent-automation-result", "Open latest result")
                .style(ButtonStyle::Ghost)
                .action(Box::new(Open))
        });
        let file = Button::new("agent-automation-file", "Open file")
            .style(ButtonStyle::Ghost)
            .action(Box::new(OpenFile));
        let buttons = [trust, run, off, result, Some(file)];
        div()
            .flex()
            .flex_wrap()
            .gap(dp(8.0))
            .children(buttons.into_iter().flatten())
    }
}

/// The name, the state and the latest result of an automation, as one line.
fn summary(entry: &AutomationEntry) -> String {
    let mut text = format!("{}, {}", entry.name, entry.state.label());
    if let Some(next_ms) = entry.next_ms {
        text.push_str(&format!(", next {}", local_time(next_ms)));
    }
    if let Some(last) = entry.history.first() {
        text.push_str(&format!(", last: {}", last.state.label()));
    }
    text
}

/// The condition of an automation, and its next time.
fn when(entry: &AutomationEntry) -> String {
    match entry.next_ms {
        Some(next_ms) => format!("{}, next {}", entry.trigger, local_time(next_ms)),
        None => entry.trigger.clone(),
    }
}

fn occurrence_text(occurrence: &OccurrenceEntry) -> String {
    let planned = local_time(occurrence.planned_ms);
    let state = occurrence.state.label();
    let cost = match (&occurrence.state, occurrence.cost_nano) {
        (OccurrenceState::Done | OccurrenceState::Failed(_), Some(nano)) => {
            format!(", {}", dollars(nano))
        }
        _ => String::new(),
    };
    format!(
        "{planned} \u{b7} {} \u{b7} {state}{cost}",
        occurrence.trigger
    )
}

fn has_session(occurrence: &OccurrenceEntry) -> bool {
    occurrence.link.session.is_some() || occurrence.link.job.is_some()
}

fn tone(state: AutomationState) -> Tone {
    match state {
        AutomationState::On => Tone::Success,
        AutomationState::Off | AutomationState::Over => Tone::Neutral,
        AutomationState::Changed => Tone::Warning,
        AutomationState::Failing | AutomationState::Invalid => Tone::Error,
    }
}
