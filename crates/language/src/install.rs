//! Installation of servers into a folder of Burin's own.
//!
//! A server's folder holds one folder per version, and `installed.json`, which names the version in use. The
//! record is written last, so a killed installation leaves nothing that is used; the next one removes it.
//! Packages are not moved afterwards, because programs of Python contain their own path.
//!
//! Invariant: packages run no code while they are installed: scripts of npm are off, and PyPI's packages
//! must be wheels. Crates are built, which runs their build scripts.
//! Start at `InstalledServers::plan`.

mod steps;

use std::path::Path;

use base::AbsPath;
use host::Files;
use host::environment::Variable;
use serde_json::{Value, json};

pub(crate) use steps::InstallStep;

use crate::Error;
use crate::recipe::InstallRecipe;
use crate::table::ServerDefinition;

/// The name of the record in the folder of a server.
const RECORD: &str = "installed.json";
/// The largest record that is read, in bytes.
const MAX_RECORD_BYTES: u64 = 1 << 12;
/// The name of the version of a recipe without one.
const NEWEST: &str = "newest";

/// The servers that Burin installed.
#[derive(Clone, Debug)]
pub struct InstalledServers {
    folder: AbsPath,
}

/// The commands that install a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstallPlan {
    id: String,
    steps: Vec<InstallStep>,
    /// The folder that the server is installed into; `None` for components of a toolchain.
    target: Option<InstallTarget>,
    environment: Vec<Variable>,
}

/// A folder for one version of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
struct InstallTarget {
    folder: AbsPath,
    version: String,
    /// Path of the program below `folder`.
    program: String,
}

impl InstalledServers {
    /// Creates a view of the servers that are installed below `folder`.
    pub fn new(folder: AbsPath) -> Self {
        Self { folder }
    }

    /// Returns the installed program of a server, and its version unless the newest was installed;
    /// `None` if it is not installed.
    pub(crate) fn find(
        &self,
        files: &dyn Files,
        server: &ServerDefinition,
    ) -> Option<(AbsPath, Option<String>)> {
        let version = self.recorded(files, &server.id)?;
        let recipe = server.install.as_ref()?;
        let program = program_path(recipe, &server.program)?;
        let path = self.folder.join(&server.id).join(&version).join(program);
        let exists = crate::path_lookup::is_program(files, &path);
        exists.then(|| (path, Some(version).filter(|it| it != NEWEST)))
    }

    /// Returns the commands that install a server for the project in `root`.
    ///
    /// # Errors
    /// Burin has no recipe for it, or a tool of the recipe is missing.
    pub fn plan(
        &self,
        files: &dyn Files,
        server: &ServerDefinition,
        root: &AbsPath,
    ) -> Result<InstallPlan, Error> {
        let id = &server.id;
        let recipe = server.install.as_ref().ok_or_else(|| Error::NoRecipe {
            id: id.clone(),
            advice: server.system_advice(base::Platform::CURRENT),
        })?;
        let version = recipe.version().unwrap_or(NEWEST).to_owned();
        let folder = self.folder.join(id).join(&version);
        let target = program_path(recipe, &server.program).map(|program| InstallTarget {
            folder: folder.clone(),
            version,
            program,
        });
        let environment = crate::environment::base();
        let place = target.as_ref().map_or(root, |_| &folder);
        let steps = steps::steps(files, &environment, id, recipe, place)?;
        Ok(InstallPlan {
            id: id.clone(),
            steps,
            target,
            environment,
        })
    }

    /// Installs a server, and calls `progress` with each line of output. Blocks until it is done.
    ///
    /// # Errors
    /// A step failed, or the server is being installed already. The version in use stays.
    pub fn install(
        &self,
        files: &dyn Files,
        plan: &InstallPlan,
        progress: &mut dyn FnMut(&str),
    ) -> Result<(), Error> {
        let own = self.folder.join(&plan.id);
        files.create_folder(&own)?;
        let lock = files.lock(&own.join("lock"))?;
        let Some(_lock) = lock else {
            return Err(Error::InstallRunning(plan.id.clone()));
        };
        let Some(target) = &plan.target else {
            return plan.run_steps(progress);
        };
        // The record is removed first, so that nothing half is in use while the folder changes.
        if self.recorded(files, &plan.id).as_ref() == Some(&target.version) {
            files.remove(&own.join(RECORD))?;
        }
        remove_if_present(files, &target.folder)?;
        files.create_folder(&target.folder)?;
        let done = plan
            .run_steps(progress)
            .and_then(|()| plan.check_program(files, target));
        if let Err(error) = done {
            remove_if_present(files, &target.folder)?;
            return Err(error);
        }
        let record = json!({ "version": target.version }).to_string();
        files.write_private(&own.join(RECORD), record.as_bytes())?;
        remove_others(files, &own, &target.version)
    }

    /// Returns the version in use.
    fn recorded(&self, files: &dyn Files, id: &str) -> Option<String> {
        let path = self.folder.join(id).join(RECORD);
        let bytes = files.read(&path, MAX_RECORD_BYTES).ok()?;
        let record: Value = serde_json::from_slice(&bytes).ok()?;
        let version = record.get("version")?.as_str()?;
        // A version is one component of a path.
        let is_name = Path::new(version).file_name() == Some(version.as_ref());
        is_name.then(|| version.to_owned())
    }
}

impl InstallPlan {
    /// Returns the commands as they would be typed in a shell.
    pub fn commands(&self) -> Vec<String> {
        self.steps.iter().map(InstallStep::shell_text).collect()
    }

    fn run_steps(&self, progress: &mut dyn FnMut(&str)) -> Result<(), Error> {
        let mut steps = self.steps.iter();
        steps.try_for_each(|step| step.run(&self.id, &self.environment, progress))
    }

    /// Fails if the packages do not contain the program.
    fn check_program(&self, files: &dyn Files, target: &InstallTarget) -> Result<(), Error> {
        if crate::path_lookup::is_program(files, &target.folder.join(&target.program)) {
            return Ok(());
        }
        Err(Error::InstallFailed {
            id: self.id.clone(),
            step: self.commands().pop().unwrap_or_default(),
            end: format!("installed no {}", target.program),
            output: String::new(),
        })
    }
}

impl ServerDefinition {
    /// Returns a sentence about the way to install the server on a system.
    pub fn install_advice(&self, platform: base::Platform) -> String {
        match self.install {
            Some(_) => format!("burin-agent lsp install {}", self.id),
            None => self.system_advice(platform),
        }
    }

    /// Returns a sentence about the packages of a system.
    fn system_advice(&self, platform: base::Platform) -> String {
        let system = &self.system;
        let names: Vec<String> = match platform {
            base::Platform::MacOs => {
                let homebrew = system.homebrew.iter();
                homebrew.map(|it| format!("brew install {it}")).collect()
            }
            base::Platform::Linux => [
                ("Debian", &system.debian),
                ("Fedora", &system.fedora),
                ("Arch Linux", &system.arch),
            ]
            .into_iter()
            .filter_map(|(name, package)| Some(format!("{name}: {}", package.as_ref()?)))
            .collect(),
        };
        if names.is_empty() {
            return format!("put {} into PATH", self.program);
        }
        match platform {
            base::Platform::MacOs => names.join(", "),
            base::Platform::Linux => format!("install its package ({})", names.join(", ")),
        }
    }
}

/// Returns the path of a program below the folder of its packages; `None` for a toolchain's component.
fn program_path(recipe: &InstallRecipe, program: &str) -> Option<String> {
    match recipe {
        InstallRecipe::Npm(_) => Some(format!("node_modules/.bin/{program}")),
        InstallRecipe::Pypi(_) | InstallRecipe::Crate { .. } => Some(format!("bin/{program}")),
        InstallRecipe::Rustup(_) => None,
    }
}

fn remove_if_present(files: &dyn Files, path: &AbsPath) -> Result<(), Error> {
    match files.remove(path) {
        Err(error) if !error.is_not_found() => Err(error.into()),
        _ => Ok(()),
    }
}

/// Removes all other versions, including those left behind by a killed installation.
fn remove_others(files: &dyn Files, own: &AbsPath, version: &str) -> Result<(), Error> {
    for entry in files.list(own)?.entries {
        let is_other = entry.kind == host::FileKind::Folder && entry.path.file_name() != version;
        if is_other {
            files.remove(&entry.path)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
