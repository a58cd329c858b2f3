//! The model and the mode: those of the session that the prompt addresses, or those for a new one.
//!
//! Invariant: the labels name the settings of the session's records. A choice of the user appears
//! beside them until a record confirms it.
//! Start at `ComposerPanel::mode` and `ComposerPanel::model`.

use agent::record::{Handover, SessionMode};
use agent::{SessionCommand, SessionRecord};
use gpui_kit::{Context, Window};
use model::Effort;
use ui::{Button, ButtonStyle, Icon};

use super::session_rows::dollars;
use super::{ComposerPanel, OpenSession, PanelEvent, PanelPage};
use crate::actions::{ChooseEffort, ChooseModel, NextMode};
use crate::agents::{ModelEntry, NewSession};
use agent_service::effort_name;
use agent_service::token_text;

/// The settings that the user chose for a session's next message and that no record confirms yet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct SettingsChoice {
    mode: Option<SessionMode>,
    model: Option<String>,
    /// The history that the model gets; `None` is all of it.
    handover: Option<Handover>,
    effort: Option<Effort>,
}

impl SettingsChoice {
    /// The settings with which a session is requested.
    pub(super) fn of(wanted: &NewSession) -> Self {
        Self {
            mode: Some(wanted.mode),
            model: Some(wanted.model.clone()).filter(|model| !model.is_empty()),
            ..Self::default()
        }
    }

    /// Only a mode.
    pub(super) fn of_mode(mode: SessionMode) -> Self {
        Self {
            mode: Some(mode),
            ..Self::default()
        }
    }

    /// The same settings with this effort, if there is one.
    pub(super) fn with_effort(self, effort: Option<Effort>) -> Self {
        Self { effort, ..self }
    }

    /// Drops the choices that a record of the session confirms or overrides.
    pub(super) fn apply(&mut self, record: &SessionRecord) {
        match record {
            SessionRecord::Began { mode, model, .. } => {
                self.mode.take_if(|chosen| chosen == mode);
                self.model.take_if(|chosen| chosen == model);
            }
            SessionRecord::ModeSet { .. } => self.mode = None,
            SessionRecord::EffortSet { .. } => self.effort = None,
            SessionRecord::Switched { .. } => (self.model, self.handover) = (None, None),
            _ => {}
        }
    }

    /// The commands that set this choice in a session with the settings `before`.
    pub(super) fn commands_since(&self, before: &Self) -> Vec<SessionCommand> {
        let mode = self.mode.filter(|_| self.mode != before.mode);
        let model = self.model.clone().filter(|_| self.model != before.model);
        let switch = model.map(|model| SessionCommand::Switch {
            model,
            how: self.handover.unwrap_or(Handover::Full),
        });
        let effort = self.effort.filter(|_| self.effort != before.effort);
        mode.map(SessionCommand::SetMode)
            .into_iter()
            .chain(switch)
            .chain(effort.map(SessionCommand::SetEffort))
            .collect()
    }
}

impl ComposerPanel {
    /// The open session, if the next prompt goes to it.
    pub(super) fn addressed_session(&self) -> Option<&OpenSession> {
        self.open.as_ref().filter(|_| self.page != PanelPage::Board)
    }

    /// The user's choice for the session to which the next prompt goes.
    fn session_choice(&self) -> Option<&SettingsChoice> {
        match (&self.open, self.page) {
            (_, PanelPage::Board) => None,
            (Some(open), _) => Some(&open.choice),
            (None, _) => self.starts.shown_choice(),
        }
    }

    /// Returns the model for the next prompt. For a session it is the choice that is not yet
    /// confirmed, or else the session's own model; for a new one the user's latest choice, or else
    /// the default.
    pub fn model(&self) -> &str {
        let of_session = self.addressed_session().map(|open| open.transcript.model());
        let of_session = of_session.filter(|model| !model.is_empty());
        self.session_choice()
            .and_then(|choice| choice.model.as_deref())
            .or(of_session)
            .or(self.model.as_deref())
            .unwrap_or(&self.models.default)
    }

    /// Returns the mode for the next prompt, as `model` does for the model.
    pub(super) fn mode(&self) -> SessionMode {
        let of_session = self.addressed_session();
        self.session_choice()
            .and_then(|choice| choice.mode)
            .or_else(|| of_session?.transcript.mode())
            .or(self.starts.draft_mode)
            .unwrap_or(self.mode)
    }

    /// Returns the reasoning effort that the user chose for the next prompt, as `model` does for the
    /// model. `None` leaves it to the settings or the provider.
    pub fn effort(&self) -> Option<Effort> {
        let chosen = self.session_choice().and_then(|choice| choice.effort);
        match self.addressed_session() {
            Some(open) => chosen.or(open.transcript.effort()),
            None => chosen.or(self.effort),
        }
    }

    /// Returns the efforts that the model of the next prompt takes, weakest first.
    pub fn efforts(&self) -> &[Effort] {
        let entry = self.model_entry(self.model());
        let traits = entry.and_then(|entry| entry.traits.as_ref());
        traits.map_or(&[], |traits| &traits.efforts)
    }

    /// Sets the effort of new sessions, and that of the addressed session from its next request on.
    pub fn set_effort(&mut self, effort: Effort, cx: &mut Context<Self>) {
        if self.effort() != Some(effort) {
            self.set_session_choice(SettingsChoice::default().with_effort(Some(effort)));
        }
        self.effort = Some(effort);
        cx.notify();
    }

    pub(super) fn choose_effort(
        &mut self,
        _: &ChooseEffort,
        _: &mut Window,
        cx: &mut Context<Self>,
    ) {
        if self.efforts().is_empty() {
            let model = self.model_name(self.model());
            self.error = Some(format!("{model} has no levels of effort."));
            cx.notify();
        } else {
            cx.emit(PanelEvent::ChooseEffort);
        }
    }

    /// Describes the price of a switch to another model in the middle of a conversation: its cache is
    /// empty, so that the whole history is sent anew. `None` without a history, and for the model in
    /// use.
    pub fn resend_text(&self, model: &ModelEntry) -> Option<String> {
        let transcript = &self.addressed_session()?.transcript;
        let tokens = transcript.fill()?.tokens;
        if tokens == 0 || transcript.model() == model.id {
            return None;
        }
        let nano = model.traits.as_ref()?.resend_nano(tokens);
        let cost = match nano {
            Some(0) => "free".to_owned(),
            Some(nano) => format!("about {}", dollars(nano)),
            None => "price unknown".to_owned(),
        };
        Some(format!("sends {} tokens again: {cost}", token_text(tokens)))
    }

    /// Returns the entry of a model in the list; `None` if the list lacks it.
    pub(super) fn model_entry(&self, model: &str) -> Option<&ModelEntry> {
        self.models.models.iter().find(|it| it.id == model)
    }

    /// The size of the context of the model that the user chose for the next message. `None` if the
    /// session uses that model already, or if the size is unknown.
    pub(super) fn next_window(&self) -> Option<u64> {
        let chosen = self.session_choice()?.model.as_deref()?;
        let traits = self.model_entry(chosen)?.traits.as_ref()?;
        Some(traits.context)
    }

    pub(super) fn choose_model(&mut self, _: &ChooseModel, _: &mut Window, cx: &mut Context<Self>) {
        cx.emit(PanelEvent::ChooseModel);
    }

    /// Sets the model of new sessions, and switches the addressed session to it from the next
    /// request on.
    pub fn set_model(&mut self, model: String, cx: &mut Context<Self>) {
        self.set_model_with(model, Handover::Full, cx);
    }

    /// Sets the model as `set_model` does, with the history that it gets.
    pub(super) fn set_model_with(&mut self, model: String, how: Handover, cx: &mut Context<Self>) {
        if self.model() != model || how != Handover::Full {
            self.set_session_choice(SettingsChoice {
                model: Some(model.clone()),
                handover: Some(how),
                ..SettingsChoice::default()
            });
        }
        self.model = Some(model);
        self.check_image_model(cx);
        cx.notify();
    }

    pub(super) fn next_mode(&mut self, _: &NextMode, _: &mut Window, cx: &mut Context<Self>) {
        let mode = match self.mode() {
            SessionMode::Build => SessionMode::Plan,
            SessionMode::Plan => SessionMode::Ask,
            SessionMode::Ask => SessionMode::Build,
        };
        self.set_mode(mode, cx);
    }

    /// Sets the settings in `choice` for the session to which the next prompt goes, if there is
    /// one. A session that is being started gets them before its first prompt.
    pub(super) fn set_session_choice(&mut self, choice: SettingsChoice) {
        if self.page == PanelPage::Board {
            return;
        }
        let chosen = match &mut self.open {
            Some(open) => {
                for command in choice.commands_since(&SettingsChoice::default()) {
                    (open.live.send)(command);
                }
                Some(&mut open.choice)
            }
            None => self.starts.shown_choice_mut(),
        };
        if let Some(chosen) = chosen {
            chosen.mode = choice.mode.or(chosen.mode);
            chosen.handover = choice.handover.or(chosen.handover);
            chosen.model = choice.model.or(chosen.model.take());
            chosen.effort = choice.effort.or(chosen.effort);
        }
    }

    /// Renders the mode; a choice that no record confirms yet follows after an arrow.
    pub(super) fn render_mode(&self) -> Button {
        let (mode, now) = (self.mode(), self.addressed_session());
        let now = now.and_then(|open| open.transcript.mode());
        let icon = match now.unwrap_or(mode) {
            SessionMode::Build => Icon::Wrench,
            SessionMode::Plan => Icon::ListTree,
            SessionMode::Ask => Icon::Message,
        };
        let label = label(now.map(mode_name), mode_name(mode));
        Button::new("agent-mode", label)
            .icon(icon)
            .style(ButtonStyle::Ghost)
            .action(Box::new(NextMode))
    }

    /// Renders the model, as `render_mode` does the mode.
    pub(super) fn render_model(&self) -> Button {
        let now = self.addressed_session().map(|open| open.transcript.model());
        let now = now.filter(|model| !model.is_empty());
        let label = label(
            now.map(|it| self.model_name(it)),
            self.model_name(self.model()),
        );
        Button::new("agent-model", label)
            .icon(Icon::Bot)
            .style(ButtonStyle::Ghost)
            .action(Box::new(ChooseModel))
    }

    /// Renders the effort, as `render_mode` does the mode. `None` if the model takes none.
    pub(super) fn render_effort(&self) -> Option<Button> {
        if self.efforts().len() < 2 {
            return None;
        }
        let name = |effort: Option<Effort>| effort.map_or("auto", effort_name);
        let now = self.addressed_session();
        let now = now.map(|open| name(open.transcript.effort()));
        let text = format!("Effort: {}", label(now, name(self.effort())));
        let button = Button::new("agent-effort", text)
            .style(ButtonStyle::Ghost)
            .action(Box::new(ChooseEffort));
        Some(button)
    }

    pub(super) fn model_name<'a>(&'a self, model: &'a str) -> &'a str {
        match self.model_entry(model) {
            Some(known) => &known.name,
            None if model.is_empty() => "Choose a model",
            None => model,
        }
    }
}

fn mode_name(mode: SessionMode) -> &'static str {
    match mode {
        SessionMode::Build => "Build",
        SessionMode::Plan => "Plan",
        SessionMode::Ask => "Ask",
    }
}

/// The label of a setting: the present value, and after an arrow the next one if it differs.
fn label(now: Option<&str>, next: &str) -> String {
    match now {
        Some(now) if now != next => format!("{now} \u{2192} {next}"),
        _ => next.to_owned(),
    }
}
