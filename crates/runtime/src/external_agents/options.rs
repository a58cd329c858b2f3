//! The options of an external agent, in the form of our records.

use agent::record::{AgentCommandName, AgentOption, AgentOptionKind, AgentOptionValue};
use connect::acp::host::HostedAgentCommand;
use connect::acp::protocol::{
    AgentMode, AgentModes, ConfigOption, OptionAbout, OptionChoice, OptionValue, SlashCommand,
};

/// The id of the option that represents the modes of an agent without an option for them.
const MODES: &str = "burin-modes";
/// The values of an option that is on or off.
const ON: &str = "on";
const OFF: &str = "off";

/// The options and commands that an agent offers at present.
#[derive(Default)]
pub(super) struct Offer {
    options: Vec<AgentOption>,
    commands: Vec<AgentCommandName>,
}

impl Offer {
    /// Takes over the options of a session that began. Modes count only for an agent without an option
    /// for them.
    pub(super) fn begin(&mut self, modes: Option<AgentModes>, options: Vec<ConfigOption>) {
        self.set_options(options);
        if let Some(modes) = modes.filter(|_| !self.has_mode_option()) {
            self.options.insert(
                0,
                AgentOption {
                    id: MODES.to_owned(),
                    name: "Mode".to_owned(),
                    kind: AgentOptionKind::Mode,
                    now: modes.now,
                    values: modes.all.into_iter().map(value).collect(),
                },
            );
        }
    }

    /// Whether an option of the agent sets its mode.
    fn has_mode_option(&self) -> bool {
        let is_mode = |it: &AgentOption| it.kind == AgentOptionKind::Mode;
        self.options.iter().any(is_mode)
    }

    /// Replaces all options. A list of modes stays, because it is not among them.
    pub(super) fn set_options(&mut self, options: Vec<ConfigOption>) {
        let modes = self.options.iter().position(|it| it.id == MODES);
        let modes = modes.map(|at| self.options.remove(at));
        let options = options.into_iter().map(option);
        self.options = modes.into_iter().chain(options).collect();
    }

    /// Sets the present mode. Returns whether an option shows it.
    pub(super) fn set_mode(&mut self, mode: &str) -> bool {
        match self.options.iter_mut().find(|it| it.id == MODES) {
            Some(modes) => {
                mode.clone_into(&mut modes.now);
                true
            }
            None => false,
        }
    }

    pub(super) fn set_commands(&mut self, commands: Vec<SlashCommand>) {
        let command = |it: SlashCommand| AgentCommandName {
            name: it.name,
            about: it.description,
        };
        self.commands = commands.into_iter().map(command).collect();
    }

    /// Whether the agent has a command of this name.
    pub(super) fn has_command(&self, name: &str) -> bool {
        self.commands.iter().any(|it| it.name == name)
    }

    pub(super) fn options(&self) -> &[AgentOption] {
        &self.options
    }

    pub(super) fn commands(&self) -> &[AgentCommandName] {
        &self.commands
    }

    /// Returns the name of the model that answers; `None` if the agent does not offer models.
    pub(super) fn model(&self) -> Option<&str> {
        let is_model = |it: &&AgentOption| it.kind == AgentOptionKind::Model;
        let option = self.options.iter().find(is_model)?;
        let value = option.values.iter().find(|it| it.id == option.now)?;
        Some(&value.name)
    }

    /// Returns the command that sets an option to a value; `None` if the agent offers neither.
    pub(super) fn command_for(&self, option: &str, value: &str) -> Option<HostedAgentCommand> {
        let option = self.options.iter().find(|it| it.id == option)?;
        option.values.iter().find(|it| it.id == value)?;
        if option.id == MODES {
            return Some(HostedAgentCommand::SetMode(value.to_owned()));
        }
        let is_switch = option.values.iter().map(|it| it.id.as_str()).eq([ON, OFF]);
        let chosen = if is_switch {
            OptionChoice::Truth(value == ON)
        } else {
            OptionChoice::One(value.to_owned())
        };
        Some(HostedAgentCommand::SetOption {
            id: option.id.clone(),
            chosen,
        })
    }

    /// Returns the commands that restore the values of `earlier`, which an agent forgets when it goes
    /// on in a new process.
    pub(super) fn restoring(&self, earlier: &[AgentOption]) -> Vec<HostedAgentCommand> {
        let changed = earlier.iter().filter(|old| {
            let now = self.options.iter().find(|it| it.id == old.id);
            now.is_some_and(|now| now.now != old.now)
        });
        changed
            .filter_map(|old| self.command_for(&old.id, &old.now))
            .collect()
    }
}

fn value(mode: AgentMode) -> AgentOptionValue {
    AgentOptionValue {
        id: mode.id,
        name: mode.name,
        about: mode.description.unwrap_or_default(),
    }
}

fn option(option: ConfigOption) -> AgentOption {
    let kind = match option.about {
        OptionAbout::Model => AgentOptionKind::Model,
        OptionAbout::Mode => AgentOptionKind::Mode,
        OptionAbout::Thought => AgentOptionKind::Effort,
        OptionAbout::Other => AgentOptionKind::Other,
    };
    let (now, values) = match option.value {
        OptionValue::One { now, all } => (now, all.into_iter().map(value).collect()),
        OptionValue::Truth(is_on) => {
            let value = |id: &str, name: &str| AgentOptionValue {
                id: id.to_owned(),
                name: name.to_owned(),
                about: String::new(),
            };
            let now = if is_on { ON } else { OFF };
            (now.to_owned(), vec![value(ON, "On"), value(OFF, "Off")])
        }
    };
    AgentOption {
        id: option.id,
        name: option.name,
        kind,
        now,
        values,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode(id: &str) -> AgentMode {
        AgentMode {
            id: id.to_owned(),
            name: id.to_uppercase(),
            description: None,
        }
    }

    fn model(now: &str) -> ConfigOption {
        ConfigOption {
            id: "model".to_owned(),
            name: "Model".to_owned(),
            description: None,
            about: OptionAbout::Model,
            value: OptionValue::One {
                now: now.to_owned(),
                all: vec![mode("small"), mode("large")],
            },
        }
    }

    #[test]
    fn modes_are_an_option_and_survive_a_new_list() {
        let mut offer = Offer::default();
        let modes = AgentModes {
            all: vec![mode("build"), mode("plan")],
            now: "build".to_owned(),
        };
        offer.begin(Some(modes), vec![model("small")]);
        assert!(offer.set_mode("plan"));
        offer.set_options(vec![model("large")]);
        let now: Vec<&str> = offer.options().iter().map(|it| it.now.as_str()).collect();
        assert_eq!(now, ["plan", "large"]);
        assert_eq!(offer.model(), Some("LARGE"));
        let command = offer.command_for(MODES, "build");
        assert_eq!(
            command,
            Some(HostedAgentCommand::SetMode("build".to_owned()))
        );
        assert_eq!(offer.command_for("model", "huge"), None);
    }

    #[test]
    fn values_that_the_user_chose_are_set_again() {
        let mut offer = Offer::default();
        offer.begin(None, vec![model("small")]);
        let earlier = vec![option(model("large"))];
        let expected = HostedAgentCommand::SetOption {
            id: "model".to_owned(),
            chosen: OptionChoice::One("large".to_owned()),
        };
        assert_eq!(offer.restoring(&earlier), [expected]);
        offer.set_options(vec![model("large")]);
        assert_eq!(offer.restoring(&earlier), []);
    }
}
