//! Programs that agents run: watching them, taking them over, giving them back.

use std::sync::Arc;

use gpui_kit::base::ObservedElement;
use gpui_kit::{
    Context, Div, InteractiveElement as _, IntoElement, ParentElement as _, Role, SharedString,
    Stateful, StatefulInteractiveElement as _, Styled as _, TestSupportExt as _, Window, div,
};
use ui::{ActiveTheme as _, Button, ButtonStyle, dp};

use super::{TerminalStatus, TerminalView, TerminalViewEvent};
use crate::actions::{GiveBack, TakeOver};
use crate::attached::AttachedProgram;
use crate::program::ProgramControl;

/// The state of a program that an agent runs.
pub(crate) struct AgentProgramState {
    /// The sandbox in a few words.
    pub(crate) sandbox: String,
    /// The control or the end of the program in a few words.
    pub(crate) state: String,
    /// Whether the user has taken it over in this view.
    pub(crate) is_users: bool,
}

impl TerminalView {
    /// Follows a program of an agent instead of starting one.
    pub(crate) fn attach(&mut self, program: Arc<AttachedProgram>) {
        self.attached = Some(program);
    }

    /// Returns whether an agent runs the program.
    pub(crate) fn is_agents(&self) -> bool {
        self.request.sandbox.is_some()
    }

    /// Returns whether the user only watches the program of an agent.
    pub(super) fn is_watching(&self) -> bool {
        self.is_agents() && !self.has_control()
    }

    /// Returns whether the user has taken the program over in this view.
    pub(super) fn has_control(&self) -> bool {
        self.running_program().is_some() && self.control == Some(ProgramControl::You)
    }
}

/// Returns whether the user can take the program over.
pub(super) fn can_take_over(view: &TerminalView) -> bool {
    let is_others = matches!(
        view.control,
        Some(ProgramControl::Agent | ProgramControl::OtherWindow)
    );
    view.running_program().is_some() && is_others
}

/// Returns whether typed text may go to the program. Says why not if it takes none.
pub(super) fn may_type(view: &mut TerminalView, cx: &mut Context<TerminalView>) -> bool {
    let is_refused = view.is_agents()
        && (view.running_program().is_none() || view.control == Some(ProgramControl::WatchOnly));
    if is_refused {
        view.show_notice("This command takes no input: it can only be watched", cx);
    }
    !is_refused
}

pub(super) fn note_control(
    view: &mut TerminalView,
    control: Option<ProgramControl>,
    cx: &mut Context<TerminalView>,
) {
    if view.control != control {
        view.control = control;
        cx.emit(TerminalViewEvent::Changed);
    }
}

/// Handler of an action.
pub(super) fn take_over(
    view: &mut TerminalView,
    _: &TakeOver,
    _: &mut Window,
    cx: &mut Context<TerminalView>,
) {
    set_control(view, true, cx);
}

/// Handler of an action.
pub(super) fn give_back(
    view: &mut TerminalView,
    _: &GiveBack,
    _: &mut Window,
    cx: &mut Context<TerminalView>,
) {
    set_control(view, false, cx);
}

fn set_control(view: &mut TerminalView, is_users: bool, cx: &mut Context<TerminalView>) {
    match view.running_program().filter(|_| view.is_agents()) {
        Some(program) => program.set_control(is_users),
        None => view.show_notice("No agent runs the program of this terminal", cx),
    }
}

/// Returns the state of an agent's program, for its tab; `None` for a program of the user.
pub(crate) fn agent_state(view: &TerminalView) -> Option<AgentProgramState> {
    let state = match (view.status(), view.control) {
        (TerminalStatus::Ended(Some(code)), _) => format!("ended with {code}"),
        (TerminalStatus::Ended(None) | TerminalStatus::Failed, _) => "ended".to_owned(),
        (_, Some(ProgramControl::You)) => "you have control".to_owned(),
        (_, Some(ProgramControl::OtherWindow)) => "another window has control".to_owned(),
        _ => "watching".to_owned(),
    };
    Some(AgentProgramState {
        sandbox: view.request.sandbox.clone()?,
        state,
        is_users: view.has_control(),
    })
}

/// Returns the title of a program that goes on when its terminal is closed, because an agent runs it.
pub(crate) fn detached(view: &TerminalView) -> Option<SharedString> {
    let goes_on = view.is_agents() && view.running_program().is_some();
    goes_on.then(|| view.title())
}

/// Returns the text about the end of an agent's command.
pub(super) fn end_of_command(view: &TerminalView) -> Option<SharedString> {
    match view.status() {
        TerminalStatus::Ended(Some(code)) => {
            Some(format!("The agent\u{2019}s command ended with code {code}").into())
        }
        TerminalStatus::Ended(None) => {
            Some("The agent\u{2019}s command was ended, or is not reached any more".into())
        }
        _ => None,
    }
}

/// Renders the bar above the text of an agent's program: its sandbox, and who controls it.
pub(super) fn render_control(
    view: &TerminalView,
    cx: &Context<TerminalView>,
) -> Option<impl IntoElement + use<>> {
    let sandbox = view.request.sandbox.as_ref()?;
    let control = view.control.filter(|_| view.running_program().is_some())?;
    let text = match control {
        ProgramControl::WatchOnly => "Watching; the command takes no input".to_owned(),
        ProgramControl::Agent => "Watching; typing takes the command over".to_owned(),
        ProgramControl::You => {
            "You have control; the agent waits until you give the command back".to_owned()
        }
        ProgramControl::OtherWindow => "You have control in another window".to_owned(),
    };
    let button = match control {
        ProgramControl::WatchOnly => None,
        ProgramControl::Agent | ProgramControl::OtherWindow => Some(
            Button::new("terminal-take-over", "Take over")
                .style(ButtonStyle::Plain)
                .action(Box::new(TakeOver))
                .with_keys(),
        ),
        ProgramControl::You => Some(
            Button::new("terminal-give-back", "Give back")
                .style(ButtonStyle::Primary)
                .action(Box::new(GiveBack))
                .with_keys(),
        ),
    };
    let text = format!("{text} \u{b7} {sandbox}").into();
    Some(control_strip("terminal-control", text, cx).children(button))
}

/// Builds a strip with a text about an agent's program.
pub(super) fn control_strip(
    id: &'static str,
    text: SharedString,
    cx: &Context<TerminalView>,
) -> ObservedElement<Stateful<Div>> {
    let colors = cx.theme().colors;
    div()
        .id(id)
        .role(Role::Status)
        .aria_label(text.clone())
        .test_support()
        .flex()
        .flex_none()
        .flex_wrap()
        .items_center()
        .gap(dp(8.0))
        .px(dp(12.0))
        .py(dp(4.0))
        .border_b_1()
        .border_color(colors.border)
        .bg(colors.raised)
        .text_size(dp(12.0))
        .child(div().flex_1().min_w(dp(120.0)).child(text))
}
