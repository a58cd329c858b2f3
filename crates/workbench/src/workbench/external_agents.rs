//! External agents: the choice of one for a new session, its installation, and its options.

use composer_panel::actions::{ChooseAgentOption, NewExternalSession};
use composer_panel::agents::{AgentOption, ExternalAgentEntry};
use gpui_kit::{Context, Window};
use ui::{ButtonStyle, Tone};

use super::Workbench;
use crate::notices::Notice;
use crate::pickers::choices;
use crate::question::QuestionSpec;

/// Lists the external agents, and lets the user choose one.
pub(super) fn new_external_session(
    workbench: &mut Workbench,
    _: &NewExternalSession,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let agents = workbench.agents().read(cx).external_agents();
    cx.spawn_in(window, async move |this, cx| {
        let agents = agents.await;
        // The window may be gone by then.
        this.update_in(cx, |workbench, window, cx| match agents {
            Ok(agents) => {
                let choices = choices::external_agents(agents, cx.weak_entity());
                workbench.pick(choices, window, cx);
            }
            Err(error) => report(workbench, error.to_string(), window, cx),
        })
        .ok();
    })
    .detach();
}

/// Lists the options of the external agent that runs the open session.
pub(super) fn choose_agent_option(
    workbench: &mut Workbench,
    _: &ChooseAgentOption,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let panel = workbench.agents().read(cx);
    let choices = match panel.agent_options() {
        Some((agent, options)) if !options.is_empty() => Ok(choices::agent_options(
            agent,
            options.to_vec(),
            cx.weak_entity(),
        )),
        Some((agent, _)) => Err(format!("{agent} offers no options.")),
        None => Err("Open the session of an external agent first.".to_owned()),
    };
    match choices {
        Ok(choices) => workbench.pick(choices, window, cx),
        Err(sentence) => report(workbench, sentence, window, cx),
    }
}

impl Workbench {
    /// Lets the next prompt start an external agent. A missing one is installed first, if the user
    /// confirms its command.
    pub(crate) fn choose_external_agent(
        &mut self,
        agent: ExternalAgentEntry,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        if agent.is_installed {
            super::agents::start_external(self, agent, window, cx);
            return;
        }
        let Some(command) = agent.install_command.clone() else {
            let sentence = format!("{} is not installed. {}", agent.name, agent.advice);
            return report(self, sentence, window, cx);
        };
        let spec = QuestionSpec {
            title: format!("Install {}?", agent.name).into(),
            detail: format!(
                "This command runs with your rights: {command}. {}",
                agent.advice
            )
            .into(),
            answers: vec![
                ("Install".into(), ButtonStyle::Primary),
                ("Cancel".into(), ButtonStyle::Plain),
            ],
            safest: 1,
        };
        let answer = self.ask(spec, window, cx);
        cx.spawn_in(window, async move |this, cx| {
            if answer.await == Ok(0) {
                // The window may be gone by then.
                this.update_in(cx, |workbench, window, cx| {
                    workbench.install_external_agent(agent, window, cx);
                })
                .ok();
            }
        })
        .detach();
    }

    fn install_external_agent(
        &mut self,
        agent: ExternalAgentEntry,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        let begun = format!("{} is being installed\u{2026}", agent.name);
        let key = format!("install {}", agent.id);
        self.report(Notice::new(Tone::Info, begun).key(&key), window, cx);
        let installed = self.agents().read(cx).install_external(agent.id);
        cx.spawn_in(window, async move |this, cx| {
            let installed = installed.await;
            // The window may be gone by then.
            this.update_in(cx, |workbench, window, cx| match installed {
                Ok(agent) => {
                    let mut sentence = format!("{} is installed.", agent.name);
                    if !agent.sign_in.is_empty() {
                        sentence.push(' ');
                        sentence.push_str(&agent.sign_in);
                    }
                    let notice = Notice::new(Tone::Success, sentence).key(&key);
                    workbench.report(notice, window, cx);
                    super::agents::start_external(workbench, agent, window, cx);
                }
                Err(error) => {
                    let notice = Notice::new(Tone::Warning, error.to_string()).key(&key);
                    workbench.report(notice, window, cx);
                }
            })
            .ok();
        })
        .detach();
    }

    /// Lists the values of an external agent's option.
    pub(crate) fn choose_agent_value(
        &mut self,
        option: AgentOption,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        let choices = choices::agent_values(self.agents().clone(), option);
        self.pick(choices, window, cx);
    }
}

fn report(
    workbench: &mut Workbench,
    sentence: String,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let notice = Notice::new(Tone::Warning, sentence.clone()).key(&sentence);
    workbench.report(notice, window, cx);
}
