//! Installs an external agent by the command that the user confirmed.

use std::time::Duration;

use host::process::{ProcessEnvironment, ProcessRequest, run};
use host::{Dirs, Files as _, RealFiles};

use super::directory::{self, ExternalAgent, install_folder};
use crate::Error;

/// The time after which an installation has failed.
const DEADLINE: Duration = Duration::from_secs(900);
/// Lines of the installer's output that an error shows.
const ERROR_LINES: usize = 6;

/// Installs an agent with its own command, with the user's rights, into a folder of Burin. Returns
/// the agent with the program that was installed. Blocks for up to some minutes.
///
/// # Errors
/// There is no such agent or no package of it, npm is missing, or the installation failed.
pub fn install(dirs: &Dirs, id: &str) -> Result<ExternalAgent, Error> {
    let (agents, _) = directory::list(&RealFiles, dirs);
    let agent = agents.into_iter().find(|agent| agent.id == id);
    let agent = agent.ok_or_else(|| Error::Unknown(format!("there is no agent \"{id}\"")))?;
    let Some(command) = agent.install_command(dirs) else {
        return Err(Error::NotInstalled {
            advice: agent.advice(dirs),
            agent: agent.name,
        });
    };
    let folder = install_folder(dirs, id);
    RealFiles.create_folder(&folder)?;
    let mut words = command.into_iter();
    let program = words.next().unwrap_or_default();
    let variables = agent.environment.iter();
    let variables = variables.map(|(name, value)| (name.into(), value.into()));
    let request = ProcessRequest {
        deadline: DEADLINE,
        environment: ProcessEnvironment::Only(variables.collect()),
        ..ProcessRequest::new(program, &folder).with_arguments(words)
    };
    let output = run(&request)?;
    if !output.is_success() {
        let errors = String::from_utf8_lossy(&output.errors).into_owned();
        let lines: Vec<&str> = errors.lines().collect();
        let last = lines[lines.len().saturating_sub(ERROR_LINES)..].join("\n");
        return Err(Error::Interrupted(format!(
            "{} was not installed: {last}",
            agent.name
        )));
    }
    directory::find(&RealFiles, dirs, id)
}
