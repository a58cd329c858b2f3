//! The engines of the windows' agents: in this program, or in the background process.

use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use background::{
    AgentMachine, BackgroundAgents, BackgroundShells, EngineServices, IDLE_TIME, ServerProgram,
};
use composer_panel::AgentService;
use host::{Dirs, Files, RealFiles};
use project::UnsavedTexts;
use settings::{MachineSetting, SettingsSource};
use workbench::services::OpenMachineAgents;

use crate::arguments::SERVE_AGENTS;

/// The largest settings file that is read, in bytes.
const MAX_SETTINGS_BYTES: u64 = 1 << 20;

/// Time after the start of the window in which automations do not take the cores from it.
const AUTOMATION_DELAY: Duration = Duration::from_secs(10);

/// The engines of the windows.
pub(crate) struct ChosenEngines {
    /// The engines of agents.
    pub(crate) agents: Arc<dyn AgentService>,
    /// The shells of the background process, if it is used.
    pub(crate) shells: Option<Arc<BackgroundShells>>,
}

/// Returns the engines as the settings choose them. `local` are the engines of this program. Blocks on
/// the disk.
pub(crate) fn choose_engines(
    dirs: &Dirs,
    local: &Arc<EngineServices>,
    unsaved: &Arc<UnsavedTexts>,
) -> ChosenEngines {
    let in_window = || {
        local.run_automations(AUTOMATION_DELAY);
        ChosenEngines {
            agents: local.clone(),
            shells: None,
        }
    };
    if !runs_in_background(&RealFiles, dirs) {
        return in_window();
    }
    let Some(program) = host::own_program() else {
        log::warn!("agents run in the window: the path of this program is unknown");
        return in_window();
    };
    let program = ServerProgram {
        path: program,
        arguments: vec![SERVE_AGENTS.into()],
    };
    let agents = BackgroundAgents::new(dirs.clone(), program, local.clone(), unsaved.clone());
    ChosenEngines {
        shells: Some(Arc::new(agents.shells())),
        agents: Arc::new(agents),
    }
}

/// Returns the function that opens the agents of other machines. All windows share the connection to a
/// machine.
pub(crate) fn machine_agents(local: Arc<EngineServices>) -> OpenMachineAgents {
    let opened: Mutex<Vec<(AgentMachine, Arc<dyn AgentService>)>> = Mutex::default();
    Arc::new(move |name: &str, setting: &MachineSetting| {
        let machine = AgentMachine::new(name, setting)?;
        let mut opened = opened.lock().unwrap_or_else(PoisonError::into_inner);
        let known = opened.iter().find(|(known, _)| *known == machine);
        if let Some((_, agents)) = known {
            return Some(agents.clone());
        }
        let agents = BackgroundAgents::on_machine(machine.clone(), local.clone());
        let agents: Arc<dyn AgentService> = Arc::new(agents);
        opened.push((machine, agents.clone()));
        Some(agents)
    })
}

/// Runs the background process until it is not needed any more.
pub(crate) fn serve() -> ExitCode {
    host::process::leave_terminal();
    env_logger::Builder::from_env(env_logger::Env::default().default_filter_or("warn")).init();
    let dirs = Dirs::from_environment();
    let dirs = dirs.and_then(|dirs| dirs.check_format().map(|()| dirs));
    let dirs = dirs.map_err(background::Error::from);
    let served = dirs.and_then(|dirs| {
        let crashes = crate::crashes::record(&dirs);
        let served = background::serve(&dirs, IDLE_TIME);
        crashes.conclude();
        served
    });
    match served {
        // Two windows started it at the same time.
        Ok(()) | Err(background::Error::RunsAlready) => ExitCode::SUCCESS,
        Err(error) => {
            log::error!("the background process: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Whether the user's settings choose the background process. The windows report settings that
/// cannot be read.
fn runs_in_background(files: &dyn Files, dirs: &Dirs) -> bool {
    let path = dirs.config.join("settings.json");
    let text = files.read(&path, MAX_SETTINGS_BYTES);
    let text = text.ok().and_then(|bytes| String::from_utf8(bytes).ok());
    text.is_some_and(|text| {
        let (settings, _) = settings::parse(&[(SettingsSource::User, "settings.json", &text)]);
        settings.agents.background
    })
}

#[cfg(test)]
mod tests {
    use host::TempFolder;

    use super::*;

    #[test]
    fn only_the_setting_turns_the_background_process_on() {
        let folder = TempFolder::new().expect("a folder");
        let dirs = Dirs::under(folder.path());
        dirs.create().expect("folders");
        assert!(!runs_in_background(&RealFiles, &dirs));
        for (text, expected) in [
            (r#"{ "agents": { "background": true } }"#, true),
            (r#"{ "agents": { "background": false } }"#, false),
            (r#"{ "agents": { "background": 1 } }"#, false),
            ("{", false),
        ] {
            let path = dirs.config.join("settings.json");
            RealFiles
                .write_private(&path, text.as_bytes())
                .expect("saved");
            assert_eq!(runs_in_background(&RealFiles, &dirs), expected, "{text}");
        }
    }
}
