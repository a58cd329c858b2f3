//! The agents of another machine, which `--machine NAME` chooses from the settings.

use std::sync::Arc;

use background::{AgentMachine, BackgroundAgents, EngineServices};
use base::AbsPath;
use host::{Dirs, RealFiles};
use runtime::indexes::IndexRegistry;

/// The agents of a machine.
pub(crate) struct MachineAgents {
    pub(crate) agents: BackgroundAgents,
    /// The folder on the machine in which they work.
    pub(crate) folder: AbsPath,
}

impl MachineAgents {
    /// Finds the machine of this name in the user's settings. Fails if there is none; the error lists the
    /// names.
    pub(crate) fn find(dirs: &Dirs, name: &str) -> Result<Self, String> {
        let (machines, problems) = AgentMachine::list(&RealFiles, dirs);
        let Some(machine) = machines.iter().find(|it| it.is_named(name)) else {
            let names: Vec<String> = machines.iter().map(AgentMachine::name).collect();
            let names = match names.as_slice() {
                [] => "the settings name no machine in `agents.machines`".to_owned(),
                names => format!("the machines in `agents.machines` are {}", names.join(", ")),
            };
            let problems = problems.iter().map(|problem| format!("; {problem}"));
            let problems: String = problems.collect();
            return Err(format!("there is no machine \"{name}\": {names}{problems}"));
        };
        let indexes = IndexRegistry::new(dirs);
        let local = EngineServices::new(dirs.clone(), Arc::default(), indexes);
        Ok(Self {
            agents: BackgroundAgents::on_machine(machine.clone(), Arc::new(local)),
            folder: machine.folder().clone(),
        })
    }
}

#[cfg(test)]
mod tests {
    use host::{Files as _, TempFolder};

    use super::*;

    #[test]
    fn a_machine_that_is_not_in_the_settings_is_refused_with_the_names() {
        let folder = TempFolder::new().expect("a folder");
        let dirs = Dirs::under(folder.path());
        dirs.create().expect("folders");
        let error = |name: &str| MachineAgents::find(&dirs, name).err().unwrap_or_default();
        assert!(error("far").contains("name no machine"), "{}", error("far"));
        let settings =
            r#"{ "agents": { "machines": { "box": { "host": "b", "folder": "/p" } } } }"#;
        let path = dirs.config.join("settings.json");
        RealFiles
            .write_private(&path, settings.as_bytes())
            .expect("saved");
        assert!(error("far").contains("are box"), "{}", error("far"));
        let found = MachineAgents::find(&dirs, "box").expect("it is there");
        assert_eq!(found.folder, AbsPath::new("/p").expect("absolute"));
    }
}
