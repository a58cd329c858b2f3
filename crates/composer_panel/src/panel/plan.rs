//! The plan of the session: its steps, and the start of the build.
//!
//! The settings may name a model that plans and one that builds. A change of the mode chooses between
//! them; the label below the prompt shows the model, and the user may choose another one.

use agent::SessionCommand;
use agent::record::{SessionMode, TodoItem, TodoState};
use agent::session::UserPrompt;
use gpui_kit::{
    AnyElement, Context, InteractiveElement as _, IntoElement as _, ParentElement as _, Role,
    StatefulInteractiveElement as _, Styled as _, TestSupportExt as _, Window, div,
};
use ui::{ActiveSettings as _, ActiveTheme as _, Button, ButtonStyle, Icon, Label, dp};

use super::ComposerPanel;
use super::session_settings::SettingsChoice;
use crate::actions::BuildPlan;

/// The message that starts the build.
const BUILD: &str = "Build this plan. Work through its steps in order, and keep the plan up to date: set a step to doing \
                     when you begin it, and to done once it works.";
/// The value of a setting that names no model of its own.
const PANEL_MODEL: &str = "panel";

impl ComposerPanel {
    /// Returns the model that the settings name for a mode; `None` if the panel's model works in it.
    fn model_of_mode(mode: SessionMode, cx: &Context<Self>) -> Option<String> {
        let agents = &cx.settings().agents;
        let model = match mode {
            SessionMode::Plan => &agents.planner_model,
            SessionMode::Build => &agents.builder_model,
            SessionMode::Ask => return None,
        };
        Some(model.clone()).filter(|model| model != PANEL_MODEL && !model.is_empty())
    }

    /// Chooses the model that the settings name for a mode, if they name one.
    pub(super) fn choose_model_of_mode(&mut self, mode: SessionMode, cx: &mut Context<Self>) {
        if let Some(model) = Self::model_of_mode(mode, cx) {
            self.set_model(model, cx);
        }
    }

    /// Whether the open session has made a plan that waits for the build.
    fn has_plan_to_build(&self) -> bool {
        self.addressed_session().is_some_and(|open| {
            let transcript = &open.transcript;
            transcript.mode() == Some(SessionMode::Plan)
                && !transcript.is_running()
                && transcript.has_answer()
        })
    }

    /// Starts the build of the plan: switches to the build mode and its model, and sends the plan on.
    pub fn build_plan(&mut self, _: &BuildPlan, _: &mut Window, cx: &mut Context<Self>) {
        if !self.has_plan_to_build() {
            self.error = Some(
                "There is no plan to build: switch to the mode Plan, describe the task, and wait for the answer."
                    .to_owned(),
            );
            cx.notify();
            return;
        }
        self.set_mode(SessionMode::Build, cx);
        if let Some(open) = &self.open {
            (open.live.send)(SessionCommand::Prompt(UserPrompt {
                text: BUILD.to_owned(),
                images: Vec::new(),
            }));
            open.list.scroll_to_end();
        }
        self.error = None;
        cx.notify();
    }

    /// Switches the session that the prompt addresses to a mode, and to the mode's model.
    pub(super) fn set_mode(&mut self, mode: SessionMode, cx: &mut Context<Self>) {
        self.mode = mode;
        self.starts.draft_mode = None;
        self.set_session_choice(SettingsChoice::of_mode(mode));
        self.choose_model_of_mode(mode, cx);
        cx.notify();
    }

    /// Renders the session's list of tasks, and the start of the build. Returns `None` without a
    /// session, without tasks, or once all tasks are done, unless the plan waits for the build.
    pub(super) fn render_plan(&self, cx: &Context<Self>) -> Option<AnyElement> {
        let todos = self.transcript()?.todos();
        let is_over = todos.is_empty() || todos.iter().all(|it| it.state == TodoState::Done);
        let build = self.has_plan_to_build().then(|| self.render_build(cx));
        if is_over && build.is_none() {
            return None;
        }
        let rows: Vec<AnyElement> = todos
            .iter()
            .enumerate()
            .map(|(at, todo)| step_row(at, todo, cx))
            .collect();
        let steps = (!rows.is_empty()).then(|| {
            div()
                .id("agent-plan")
                .role(Role::List)
                .aria_label("Plan")
                .test_support()
                .flex()
                .flex_col()
                .gap(dp(4.0))
                .max_h(dp(160.0))
                .overflow_y_scroll()
                .children(rows)
        });
        Some(
            div()
                .flex()
                .flex_col()
                .gap(dp(8.0))
                .children(steps)
                .children(build)
                .into_any_element(),
        )
    }

    fn render_build(&self, cx: &Context<Self>) -> AnyElement {
        let builder = Self::model_of_mode(SessionMode::Build, cx);
        let builder = builder.as_deref().unwrap_or_else(|| self.model());
        let resend = self
            .model_entry(builder)
            .and_then(|it| self.resend_text(it));
        let with = format!("with {}", self.model_name(builder));
        let about = [Some(with), resend].into_iter().flatten();
        let about = about.collect::<Vec<_>>().join(" \u{b7} ");
        div()
            .flex()
            .flex_wrap()
            .items_center()
            .gap(dp(8.0))
            .child(
                Button::new("agent-build-plan", "Build this plan")
                    .style(ButtonStyle::Primary)
                    .action(Box::new(BuildPlan))
                    .with_keys(),
            )
            .child(div().min_w_0().child(Label::new(about).tiny().muted()))
            .into_any_element()
    }
}

fn step_row(at: usize, todo: &TodoItem, cx: &Context<ComposerPanel>) -> AnyElement {
    let colors = cx.theme().colors;
    let (icon, color, state) = match todo.state {
        TodoState::Open => (Icon::Circle, colors.muted, "open"),
        TodoState::Doing => (Icon::CircleDot, colors.accent, "in progress"),
        TodoState::Done => (Icon::CircleCheck, colors.success, "done"),
        TodoState::Dropped => (Icon::CircleX, colors.disabled, "dropped"),
    };
    let label = Label::new(todo.text.clone()).small();
    div()
        .id(("todo", at))
        .role(Role::ListItem)
        .aria_label(ui::foreign::one_line(format!("{}, {state}", todo.text)))
        .test_support()
        .flex()
        .items_center()
        .gap(dp(8.0))
        .child(icon.color(color))
        .child(match todo.state {
            TodoState::Done | TodoState::Dropped => label.muted(),
            TodoState::Open | TodoState::Doing => label,
        })
        .into_any_element()
}
