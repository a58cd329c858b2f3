//! Language servers of a folder, with the user's settings, trust and folders.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use base::AbsPath;
use host::environment::Variable;
use host::{Dirs, FileKind, Files, RealFiles};
use language::{FolderServers, InstalledServers, ServerConfinement, ServerSandbox};
use project::{WalkBackend, WalkOptions, file_list};
use settings::{Settings, SettingsSource, SettingsStore};

use crate::Error;
use crate::models::setup::{read_text, try_read_text};
use crate::trust;

/// The reason for which a folder counts as trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrustSource {
    /// The list of folders that the user trusts.
    Stored,
    /// The user trusts the folder for this command.
    Command,
}

/// Returns the language servers of a folder, a real path without links, and a sentence for each problem
/// of its settings. Project settings count only in a trusted folder. Blocks on the disk, and on direnv
/// and mise.
pub fn folder_servers(
    dirs: &Dirs,
    root: &AbsPath,
    source: TrustSource,
) -> (FolderServers, Vec<String>) {
    let is_trusted = source == TrustSource::Command || trust::is_trusted(&RealFiles, dirs, root);
    let mut problems = Vec::new();
    let settings = settings(dirs, root, is_trusted, &mut problems);
    let files: Arc<dyn Files> = Arc::new(RealFiles);
    let installed = InstalledServers::new(dirs.servers());
    let servers = FolderServers::open(files, root.clone(), settings, installed, is_trusted);
    problems.extend(servers.problems().iter().cloned());
    (servers, problems)
}

/// The request for the servers of a tree that an agent may change.
pub(crate) struct TreeServersRequest {
    /// The folder of the documents; a real path without links.
    pub(crate) root: AbsPath,
    /// The folder of the user, whose settings and programs count.
    pub(crate) checkout: AbsPath,
    /// Whether the user trusts that folder.
    pub(crate) is_trusted: bool,
    /// The environment of the servers.
    pub(crate) variables: Vec<Variable>,
    pub(crate) sandbox: ServerSandbox,
}

/// Returns the servers of a tree that an agent may change. Blocks on the disk.
pub(crate) fn tree_servers(dirs: &Dirs, request: TreeServersRequest) -> FolderServers {
    let TreeServersRequest {
        root,
        checkout,
        is_trusted,
        variables,
        sandbox,
    } = request;
    let mut settings = checkout_settings(dirs, &checkout);
    // The files of direnv and mise in the tree are the agent's.
    settings.lsp.load_environment = false;
    let files: Arc<dyn Files> = Arc::new(RealFiles);
    let installed = InstalledServers::new(dirs.servers());
    let servers = FolderServers::open(files, root, settings, installed, is_trusted);
    servers.confined(ServerConfinement {
        checkout,
        variables,
        sandbox,
    })
}

/// Returns the settings for the trees of a checkout. Those of the project count only if the list of
/// trusted folders has it, because they can pass variables of the user to a server. Blocks on the disk.
pub(crate) fn checkout_settings(dirs: &Dirs, checkout: &AbsPath) -> Settings {
    let is_trusted = trust::is_trusted(&RealFiles, dirs, checkout);
    settings(dirs, checkout, is_trusted, &mut Vec::new())
}

/// Returns whether the user has landings in a checkout checked for new errors. Blocks on the disk.
///
/// # Errors
/// The settings do not say so for certain, or not which servers check: a file cannot be read or is not
/// valid, or the list of trusted folders cannot be read.
pub(crate) fn checks_landings(dirs: &Dirs, checkout: &AbsPath) -> Result<bool, Error> {
    let mut store = SettingsStore::new();
    let mut read = |source: SettingsSource, path: &AbsPath, keys: &[&[&str]]| {
        let text = try_read_text(&RealFiles, path)?.unwrap_or_default();
        store.set_layer(source, &path.to_string(), &text);
        match keys.iter().find_map(|key| store.problem_at(source, key)) {
            Some(problem) => Err(Error::InvalidFile(problem.to_string())),
            None => Ok(store.settings().lsp.check_landings),
        }
    };
    let user = dirs.config.join(USER_SETTINGS);
    if !read(SettingsSource::User, &user, &[&["lsp", "check_landings"]])? {
        return Ok(false);
    }
    read(SettingsSource::User, &user, &[&["lsp"]])?;
    read(SettingsSource::User, &user, SERVER_KEYS)?;
    if trust::try_is_trusted(&RealFiles, dirs, checkout)? {
        let project = checkout.join(PROJECT_SETTINGS);
        read(SettingsSource::Project, &project, SERVER_KEYS)?;
    }
    Ok(true)
}

/// Returns the settings of the user and of a project, and adds a sentence for each problem.
fn settings(dirs: &Dirs, root: &AbsPath, is_trusted: bool, problems: &mut Vec<String>) -> Settings {
    let mut text = |path: AbsPath| {
        let text = read_text(&RealFiles, &path, problems);
        text.unwrap_or_default()
    };
    let user = text(dirs.config.join(USER_SETTINGS));
    let project = if is_trusted {
        text(root.join(PROJECT_SETTINGS))
    } else {
        String::new()
    };
    let (settings, wrong) = settings::parse(&[
        (SettingsSource::User, USER_SETTINGS, &user),
        (SettingsSource::Project, PROJECT_SETTINGS, &project),
    ]);
    problems.extend(wrong.iter().map(ToString::to_string));
    settings
}

/// Returns the documents among `paths`: files, and the files below folders that are neither hidden nor
/// ignored.
///
/// # Errors
/// A path does not exist.
pub fn documents(paths: &[AbsPath]) -> Result<Vec<AbsPath>, Error> {
    let mut documents = Vec::new();
    for path in paths {
        if RealFiles.stat(path)?.kind == FileKind::File {
            documents.push(path.clone());
            continue;
        }
        let listed = file_list(
            &WalkBackend::Disk,
            path,
            &WalkOptions::default(),
            &AtomicBool::new(false),
        );
        match listed {
            Ok((names, _)) => documents.extend(names.iter().map(|name| path.join(name))),
            Err(error) => base::never!("the default walk has no globs: {error}"),
        }
    }
    Ok(documents)
}

/// The keys that select the servers of a file, also in a project's settings.
const SERVER_KEYS: &[&[&str]] = &[
    &["lsp", "servers"],
    &["editor", "language_servers"],
    &["languages", "*", "language_servers"],
];
/// The settings of the user, below the folder of the configuration.
const USER_SETTINGS: &str = "settings.json";
/// The settings of a project, below its folder.
const PROJECT_SETTINGS: &str = ".burin/settings.json";

#[cfg(test)]
mod tests;
