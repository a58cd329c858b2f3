//! The servers of a folder's documents.
//!
//! Invariant: in a folder that the user does not trust, no program of the folder is looked up.
//! Start at `FolderServers::open`; `order` decides by language and settings alone.

use std::collections::BTreeMap;
use std::sync::Arc;

use base::AbsPath;
use host::Files;
use host::environment::Variable;
use settings::Settings;

use crate::Error;
use crate::confinement::{ServerConfinement, ServerSandbox};
use crate::environment;
use crate::install::InstalledServers;
use crate::locate::{ProgramSearch, ServerProgram};
use crate::repository;
use crate::table::{DocumentLanguage, ServerDefinition, ServerRole, ServerTable};

/// Bytes of a file that are read to find its first line.
const MAX_FIRST_LINE: usize = 1024;

/// The language servers of a folder: the known ones with the changes of the settings, and their
/// programs.
pub struct FolderServers {
    files: Arc<dyn Files>,
    root: AbsPath,
    is_trusted: bool,
    table: ServerTable,
    settings: Settings,
    installed: InstalledServers,
    /// The folder in which programs are looked up; `root` unless the servers are confined.
    program_root: AbsPath,
    /// The environment of the folder's servers.
    variables: Vec<Variable>,
    /// The sandbox of the folder's servers.
    sandbox: ServerSandbox,
    /// The folder that the worktrees of its repository have in common.
    repository: Option<AbsPath>,
    problems: Vec<String>,
}

/// The servers for one document.
#[derive(Clone, Debug)]
pub(crate) struct DocumentServers {
    /// The language of the document.
    pub(crate) language: DocumentLanguage,
    /// The servers with a program, in order; the primary one comes first.
    pub(crate) servers: Vec<ServerChoice>,
    /// Servers without a program: those that the settings name, and the preferred primary one if
    /// there is no other.
    pub(crate) missing: Vec<ServerDefinition>,
}

/// A server for a document.
#[derive(Clone, Debug)]
pub(crate) struct ServerChoice {
    /// The server.
    pub(crate) definition: ServerDefinition,
    /// Its program.
    pub(crate) program: ServerProgram,
    /// The root folder of the project that it works on.
    pub(crate) root: AbsPath,
    /// The sandbox of its process.
    pub(crate) sandbox: ServerSandbox,
}

/// The programs of a folder's servers that were looked up before. They may have changed since, so a cache is for one task
/// about many files.
#[derive(Debug, Default)]
pub struct ProgramCache(BTreeMap<String, Option<ServerProgram>>);

impl ProgramCache {
    fn program(
        &mut self,
        folder: &FolderServers,
        server: &ServerDefinition,
    ) -> Option<ServerProgram> {
        let program = self.0.entry(server.id.clone());
        program.or_insert_with(|| folder.program(server)).clone()
    }
}

impl ServerChoice {
    /// Returns the id of this process, whose end makes the server exit; `None` if the server cannot see it.
    pub(crate) fn visible_process(&self) -> Option<u32> {
        (!self.is_sandboxed()).then(std::process::id)
    }

    /// Returns whether its process runs in a sandbox.
    pub(crate) fn is_sandboxed(&self) -> bool {
        !matches!(self.sandbox, ServerSandbox::Off)
    }
}

impl FolderServers {
    /// Finds out which servers a folder has. `settings` contain the project's layer only if the user
    /// trusts the folder. Runs direnv and mise if the folder is trusted and the settings allow it;
    /// blocks meanwhile.
    pub fn open(
        files: Arc<dyn Files>,
        root: AbsPath,
        settings: Settings,
        installed: InstalledServers,
        is_trusted: bool,
    ) -> Self {
        let (table, mut problems) = ServerTable::builtin().with_settings(&settings.lsp);
        let variables = if is_trusted && settings.lsp.load_environment {
            let (variables, notices) = environment::load(files.as_ref(), &root);
            problems.extend(notices);
            variables
        } else {
            environment::base()
        };
        Self {
            repository: repository::common_folder(files.as_ref(), &root),
            files,
            program_root: root.clone(),
            root,
            is_trusted,
            sandbox: ServerSandbox::Off,
            table,
            settings,
            installed,
            variables,
            problems,
        }
    }

    /// Confines the servers: they execute as little code of the folder as their options allow, with
    /// another environment and inside a sandbox.
    pub fn confined(mut self, confinement: ServerConfinement) -> Self {
        let ServerConfinement {
            checkout,
            variables,
            sandbox,
        } = confinement;
        self.table.confine();
        self.program_root = checkout;
        self.variables = variables;
        self.sandbox = sandbox;
        self
    }

    /// Returns a sentence for each setting and tool that could not be used.
    pub fn problems(&self) -> &[String] {
        &self.problems
    }

    /// Returns whether the user trusts the folder.
    pub(crate) fn is_trusted(&self) -> bool {
        self.is_trusted
    }

    /// Returns the folder.
    pub fn root(&self) -> &AbsPath {
        &self.root
    }

    /// Returns the folder that the worktrees of its repository have in common; `None` unless it is one of them.
    pub(crate) fn repository(&self) -> Option<&AbsPath> {
        self.repository.as_ref()
    }

    /// Returns the known servers with the changes of the settings.
    pub(crate) fn table(&self) -> &ServerTable {
        &self.table
    }

    /// Returns the server with this id.
    ///
    /// # Errors
    /// There is none.
    pub fn server(&self, id: &str) -> Result<&ServerDefinition, Error> {
        self.table.server(id).ok_or_else(|| Error::UnknownServer {
            id: id.to_owned(),
            hint: self.table.hint(id),
        })
    }

    /// Returns the environment of the folder's servers.
    pub(crate) fn variables(&self) -> &[Variable] {
        &self.variables
    }

    /// Returns the files that it reads.
    pub(crate) fn files(&self) -> &dyn Files {
        self.files.as_ref()
    }

    /// Returns the files that it reads, to share them with a thread.
    pub(crate) fn shared_files(&self) -> Arc<dyn Files> {
        self.files.clone()
    }

    /// Returns the servers that Burin installed.
    pub fn installed(&self) -> &InstalledServers {
        &self.installed
    }

    /// Fails unless servers may start in the folder.
    ///
    /// # Errors
    /// The user does not trust the folder, or the settings turn servers off.
    pub fn ensure_may_start(&self) -> Result<(), Error> {
        if !self.settings.lsp.enabled {
            return Err(Error::Disabled);
        }
        if !self.is_trusted {
            return Err(Error::Untrusted(self.root.clone()));
        }
        if let ServerSandbox::Unavailable(reason) = &self.sandbox {
            return Err(Error::SandboxUnavailable(reason.clone()));
        }
        Ok(())
    }

    /// Returns the program of a server; `None` if it is missing. Blocks on the disk.
    pub fn program(&self, server: &ServerDefinition) -> Option<ServerProgram> {
        let search = ProgramSearch {
            files: self.files.as_ref(),
            variables: &self.variables,
            root: &self.program_root,
            is_trusted: self.is_trusted,
            installed: &self.installed,
        };
        search.find(server)
    }

    /// Returns the language of a file below the folder, by its name or first line. Blocks on the
    /// disk.
    pub(crate) fn language_of(&self, path: &AbsPath) -> Option<DocumentLanguage> {
        let by_name = self.table.language_of(path.as_path(), "");
        by_name.or_else(|| {
            let line = first_line(self.files.as_ref(), path);
            self.table.language_of(path.as_path(), &line)
        })
    }

    /// Returns whether an installed server serves a file below the folder. Blocks on the disk, and on a process for
    /// some servers.
    pub fn serves(&self, path: &AbsPath) -> bool {
        self.serves_with(path, &mut ProgramCache::default())
    }

    /// Returns whether an installed server serves a file, as `serves` does, but looks up only programs that the cache
    /// lacks.
    pub fn serves_with(&self, path: &AbsPath, programs: &mut ProgramCache) -> bool {
        let servers = self.for_document_with(path, programs);
        servers.is_some_and(|it| !it.servers.is_empty())
    }

    /// Returns the servers for a file below the folder; `None` if its language is unknown. Blocks on
    /// the disk, and on a process for some servers.
    pub(crate) fn for_document(&self, path: &AbsPath) -> Option<DocumentServers> {
        self.for_document_with(path, &mut ProgramCache::default())
    }

    /// Returns the servers for a file, as `for_document` does, but looks up only programs that the cache lacks.
    pub(crate) fn for_document_with(
        &self,
        path: &AbsPath,
        programs: &mut ProgramCache,
    ) -> Option<DocumentServers> {
        let language = self.language_of(path)?;
        let editor = self.settings.for_language(Some(&language.name));
        let candidates = order(&self.table, &editor.language_servers, &language.name);
        let mut result = DocumentServers {
            language,
            servers: Vec::new(),
            missing: Vec::new(),
        };
        let mut preferred = None;
        let mut has_primary = false;
        for candidate in candidates {
            let server = candidate.server;
            let is_primary = server.role == ServerRole::Primary;
            if is_primary && has_primary && !candidate.is_named {
                continue;
            }
            let marked = self.marked_root(server, path);
            if server.needs_root && marked.is_none() && !candidate.is_named {
                continue;
            }
            match programs.program(self, server) {
                Some(program) => {
                    has_primary |= is_primary;
                    result.servers.push(ServerChoice {
                        definition: server.clone(),
                        program,
                        root: marked.unwrap_or_else(|| self.root.clone()),
                        sandbox: self.sandbox.clone(),
                    });
                }
                None if candidate.is_named => result.missing.push(server.clone()),
                None if is_primary && preferred.is_none() => preferred = Some(server.clone()),
                None => {}
            }
        }
        if !has_primary {
            result.missing.extend(preferred);
        }
        Some(result)
    }

    /// Returns the topmost folder with a root marker, between the open folder and the document.
    fn marked_root(&self, server: &ServerDefinition, path: &AbsPath) -> Option<AbsPath> {
        let mut folders = Vec::new();
        let mut folder = path.parent();
        while let Some(inner) = folder.filter(|it| it.is_within(&self.root)) {
            folder = inner.parent();
            folders.push(inner);
        }
        let has_marker = |folder: &AbsPath| {
            let mut markers = server.roots.iter();
            markers.any(|marker| self.files.exists(&folder.join(marker)))
        };
        folders.into_iter().rev().find(has_marker)
    }
}

/// A server that may serve a language.
#[derive(Clone, Copy, Debug)]
struct ServerCandidate<'a> {
    server: &'a ServerDefinition,
    /// Whether the settings name it.
    is_named: bool,
}

/// Returns the servers for a language in order: those that `names` adds, and at `...` the other default
/// ones. Named primary servers replace the default ones.
fn order<'a>(table: &'a ServerTable, names: &[String], language: &str) -> Vec<ServerCandidate<'a>> {
    let serving = |server: &&ServerDefinition| server.serves(language);
    let named: Vec<&ServerDefinition> = names
        .iter()
        .filter_map(|name| table.server(name))
        .filter(serving)
        .collect();
    let is_denied = |id: &str| names.iter().any(|name| name.strip_prefix('!') == Some(id));
    let is_named = |id: &str| named.iter().any(|server| server.id == id);
    let has_primary = named.iter().any(|it| it.role == ServerRole::Primary);
    let defaults = table.servers().iter().filter(|server| {
        let is_replaced = has_primary && server.role == ServerRole::Primary;
        server.is_default
            && server.serves(language)
            && !is_replaced
            && !is_denied(&server.id)
            && !is_named(&server.id)
    });
    let mut candidates = Vec::new();
    for name in names {
        if name == "..." {
            let defaults = defaults.clone();
            candidates.extend(defaults.map(|server| ServerCandidate {
                server,
                is_named: false,
            }));
        } else if let Some(server) = named.iter().find(|server| server.id == *name) {
            candidates.push(ServerCandidate {
                server,
                is_named: true,
            });
        }
    }
    candidates.sort_by_key(|it| it.server.role != ServerRole::Primary);
    candidates
}

/// Returns the first line of a file; empty if it cannot be read.
fn first_line(files: &dyn Files, path: &AbsPath) -> String {
    let mut bytes = Vec::new();
    let read = files.read_chunks(path, &mut bytes, &mut |_| std::ops::ControlFlow::Break(()));
    if read.is_err() {
        return String::new();
    }
    bytes.truncate(MAX_FIRST_LINE);
    let text = String::from_utf8_lossy(&bytes);
    text.lines().next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests;
