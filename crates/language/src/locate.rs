//! Programs of language servers: in the project, in Burin's own folder, in `PATH`, in a Rust toolchain.
//!
//! Invariant: without trust, no program inside the project is found.
//! Start at `ProgramSearch::find`.

use std::time::Duration;

use base::AbsPath;
use host::Files;
use host::environment::Variable;
use host::process::{self, ProcessEnvironment, ProcessRequest};

use crate::expand::expand;
use crate::install::InstalledServers;
use crate::path_lookup::{in_path, is_program, value};
use crate::recipe::InstallRecipe;
use crate::table::{ProgramFolder, ServerDefinition};

/// Time for a program to print a path or its version.
const DEADLINE: Duration = Duration::from_secs(10);

/// The program of a language server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerProgram {
    /// Its path.
    pub path: AbsPath,
    /// The place where it was found.
    pub origin: ProgramOrigin,
}

/// The place where a program was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProgramOrigin {
    /// The settings name it.
    Settings,
    /// A folder of the project, such as `node_modules`.
    Project,
    /// Burin's own folder, in this version; `None` if the newest was installed.
    Installed(Option<String>),
    /// A folder of `PATH`.
    Path,
    /// The project's Rust toolchain.
    Toolchain,
}

/// A search for programs of one folder.
pub(crate) struct ProgramSearch<'a> {
    pub(crate) files: &'a dyn Files,
    /// The environment of the folder's servers.
    pub(crate) variables: &'a [Variable],
    pub(crate) root: &'a AbsPath,
    pub(crate) is_trusted: bool,
    pub(crate) installed: &'a InstalledServers,
}

impl ProgramSearch<'_> {
    /// Returns the program of a server; `None` if there is none.
    pub(crate) fn find(&self, server: &ServerDefinition) -> Option<ServerProgram> {
        let program = |path, origin| ServerProgram { path, origin };
        if server.is_configured {
            return Some(program(self.configured(server)?, ProgramOrigin::Settings));
        }
        if let Some(path) = self.beside(server) {
            return Some(program(path, ProgramOrigin::Project));
        }
        if let Some((path, version)) = self.installed.find(self.files, server) {
            return Some(program(path, ProgramOrigin::Installed(version)));
        }
        if server.only_installed {
            return None;
        }
        if let Some(path) = self.in_path(&server.program) {
            return Some(program(path, ProgramOrigin::Path));
        }
        Some(program(
            self.in_toolchain(server)?,
            ProgramOrigin::Toolchain,
        ))
    }

    /// Returns the program that the settings name: a path, relative to the project, or a name.
    fn configured(&self, server: &ServerDefinition) -> Option<AbsPath> {
        let variable = |name: &str| {
            let value = value(self.variables, name)?;
            value.to_str().map(str::to_owned)
        };
        let command = expand(&server.program, &variable);
        if !command.contains('/') {
            return self.in_path(&command);
        }
        let path = self.root.join(&command);
        (is_program(self.files, &path) && self.may_use(&path)).then_some(path)
    }

    /// Returns the program in one of the project's folders for programs.
    fn beside(&self, server: &ServerDefinition) -> Option<AbsPath> {
        let folders = server.beside.iter().flat_map(|folder| match folder {
            ProgramFolder::NodeModules => &["node_modules/.bin"][..],
            ProgramFolder::Venv => &[".venv/bin", "venv/bin"],
        });
        let mut paths = folders.map(|folder| self.root.join(folder).join(&server.program));
        paths.find(|path| self.is_trusted && is_program(self.files, path))
    }

    fn in_path(&self, program: &str) -> Option<AbsPath> {
        let may_use = |path: &AbsPath| self.may_use(path) && !is_rustup_proxy(self.files, path);
        in_path(self.files, self.variables, program, &may_use)
    }

    /// Returns the program in the toolchain that rustup chooses for the folder.
    fn in_toolchain(&self, server: &ServerDefinition) -> Option<AbsPath> {
        let Some(InstallRecipe::Rustup(_)) = &server.install else {
            return None;
        };
        // The folder may name a toolchain, even one by path.
        if !self.is_trusted {
            return None;
        }
        let rustup = in_path(self.files, self.variables, "rustup", &|_| true)?;
        let mut request = ProcessRequest::new(rustup.as_path(), self.root);
        request = request.with_arguments(["which", &server.program]);
        request.deadline = DEADLINE;
        request.environment = ProcessEnvironment::Only(self.variables.to_vec());
        let output = process::run(&request).ok()?;
        let path = AbsPath::new(output.text().trim())?;
        (output.is_success() && is_program(self.files, &path)).then_some(path)
    }

    /// Returns whether a program at this path may run: those of the project only with trust.
    fn may_use(&self, path: &AbsPath) -> bool {
        self.is_trusted || !path.is_within(self.root)
    }
}

impl ServerProgram {
    /// Returns the first line that the program prints when it is asked for its version; `None` if it
    /// cannot be asked or fails. Runs the program, so call it in a trusted folder only.
    pub(crate) fn version(
        &self,
        server: &ServerDefinition,
        root: &AbsPath,
        variables: &[Variable],
    ) -> Option<String> {
        let mut request = ProcessRequest::new(self.path.as_path(), root);
        request = request.with_arguments(server.version.as_ref()?);
        request.deadline = DEADLINE;
        request.environment = ProcessEnvironment::Only(variables.to_vec());
        let output = process::run(&request).ok()?;
        let text = output.text();
        let line = text.lines().map(str::trim).find(|line| !line.is_empty())?;
        output.is_success().then(|| line.to_owned())
    }
}

/// Returns whether a program only passes its arguments on to a component of a toolchain, which may be
/// missing: a link to rustup.
fn is_rustup_proxy(files: &dyn Files, path: &AbsPath) -> bool {
    let Ok(real) = files.canonicalize(path) else {
        return false;
    };
    if real.file_name() == "rustup" {
        return path.file_name() != "rustup";
    }
    let Some(rustup) = real.parent().map(|folder| folder.join("rustup")) else {
        return false;
    };
    // Older installations have hard links.
    match (files.stat(&real), files.stat(&rustup)) {
        (Ok(ours), Ok(rustup)) => ours.stamp == rustup.stamp,
        _ => false,
    }
}

#[cfg(test)]
mod tests;
