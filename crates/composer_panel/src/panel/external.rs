//! External agents: the one that the next prompt starts, and the options of the one that runs the
//! open session.
//!
//! Start at `ComposerPanel::choose_external`.

use agent::record::{AgentCommandName, AgentOption, AgentOptionKind};
use agent::{SessionCommand, SessionRecord};
use futures::future::{BoxFuture, FutureExt as _};
use gpui_kit::{AnyElement, Context, IntoElement as _, Window};
use ui::Tone;

use super::{ComposerPanel, PanelPage};
use crate::agents::{Error, ExternalAgentEntry};

/// The external agent that the next prompt starts, if the user chose one.
#[derive(Default)]
pub(super) struct ExternalChoice(Option<ExternalAgentEntry>);

impl ExternalChoice {
    /// Whether the next prompt starts an external agent.
    pub(super) fn is_some(&self) -> bool {
        self.0.is_some()
    }

    /// Takes the id of the agent: the prompts after the next one start our own agents again.
    pub(super) fn take_id(&mut self) -> Option<String> {
        self.0.take().map(|agent| agent.id)
    }
}

/// The offer of the external agent that runs a session, as its records have it.
#[derive(Default)]
pub(super) struct SessionOffer {
    agent: Option<String>,
    options: Vec<AgentOption>,
    commands: Vec<AgentCommandName>,
}

impl SessionOffer {
    /// Applies a record of the session.
    pub(super) fn apply(&mut self, record: &SessionRecord) {
        match record {
            SessionRecord::Hosted { agent, .. } => self.agent = Some(agent.clone()),
            SessionRecord::Offered { options, commands } => {
                self.options.clone_from(options);
                self.commands.clone_from(commands);
            }
            _ => {}
        }
    }
}

impl ComposerPanel {
    /// Lists the external agents that can be started.
    pub fn external_agents(&self) -> BoxFuture<'static, Result<Vec<ExternalAgentEntry>, Error>> {
        match &self.agents {
            Some(agents) => agents.external_agents(),
            None => std::future::ready(Err(unavailable())).boxed(),
        }
    }

    /// Installs an external agent by its command, which the user confirmed.
    pub fn install_external(
        &self,
        id: String,
    ) -> BoxFuture<'static, Result<ExternalAgentEntry, Error>> {
        match &self.agents {
            Some(agents) => agents.install_agent(id),
            None => std::future::ready(Err(unavailable())).boxed(),
        }
    }

    /// Lets the next prompt start this external agent in its own worktree.
    pub fn choose_external(
        &mut self,
        agent: ExternalAgentEntry,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        if self.engines_and_root(cx).is_none() {
            return;
        }
        self.external = ExternalChoice(Some(agent));
        self.error = None;
        self.page = PanelPage::Board;
        self.connect_board(None, window, cx);
        self.focus_prompt(window, cx);
        cx.notify();
    }

    /// Cancels the choice of an external agent. Returns whether there was one.
    pub(super) fn cancel_external(&mut self, cx: &mut Context<Self>) -> bool {
        let was_chosen = self.external.take_id().is_some();
        if was_chosen {
            cx.notify();
        }
        was_chosen
    }

    /// Renders a banner while the next prompt starts an external agent.
    pub(super) fn render_external(&self) -> Option<AnyElement> {
        let agent = self.external.0.as_ref()?;
        let text = format!(
            "The next prompt starts {} in its own worktree. Esc cancels.",
            agent.name
        );
        Some(ui::Banner::new("agent-external", Tone::Info, text).into_any_element())
    }

    /// Returns the name of the external agent that runs the open session, and its options. Returns
    /// `None` for a session of our own agents.
    pub fn agent_options(&self) -> Option<(&str, &[AgentOption])> {
        let open = self
            .open
            .as_ref()
            .filter(|_| self.page == PanelPage::Session)?;
        let agent = open.offer.agent.as_deref()?;
        Some((agent, &open.offer.options))
    }

    /// Returns the option for the models of the external agent that runs the open session.
    pub fn agent_model_option(&self) -> Option<&AgentOption> {
        let (_, options) = self.agent_options()?;
        options.iter().find(|it| it.kind == AgentOptionKind::Model)
    }

    /// The commands of the external agent that runs the open session.
    pub(super) fn agent_commands(&self) -> &[AgentCommandName] {
        self.open.as_ref().map_or(&[], |open| &open.offer.commands)
    }

    /// Sets an option of the external agent that runs the open session. While the agent does not run,
    /// it is set when the session continues.
    pub fn set_agent_option(&mut self, option: &str, value: &str, cx: &mut Context<Self>) {
        let Some(open) = &mut self.open else {
            return;
        };
        (open.live.send)(SessionCommand::SetOption {
            option: option.to_owned(),
            value: value.to_owned(),
        });
        cx.notify();
    }
}

fn unavailable() -> Error {
    Error::Unavailable("This window was started without agent support.".to_owned())
}
