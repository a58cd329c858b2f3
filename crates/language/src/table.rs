//! The table of known languages and servers, `assets/languages/servers.json`.
//!
//! Must not know: the disk, settings, which servers are installed.
//! Invariant: parsing never fails: an invalid entry is left out and becomes a problem with its position.

use std::path::Path;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use settings::{ConfigProblem, Jsonc};

use crate::error::InvalidEntry;
use crate::pattern;
use crate::recipe::InstallRecipe;

/// Known languages and the servers for them.
#[derive(Clone, Debug, Default)]
pub(crate) struct ServerTable {
    /// In order of preference, with unique ids.
    pub(crate) servers: Vec<ServerDefinition>,
    pub(crate) languages: Vec<LanguageDefinition>,
}

/// The language of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DocumentLanguage {
    /// Display name, which settings use as well.
    pub(crate) name: String,
    /// Identifier in the Language Server Protocol.
    pub(crate) id: String,
}

/// A known language server.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ServerDefinition {
    /// Name in settings and commands; the key of its entry.
    #[serde(skip)]
    pub id: String,
    /// Names of the languages that it serves; `*` is every language.
    pub languages: Vec<String>,
    /// Its role beside the other servers of a document.
    pub role: ServerRole,
    /// Its program: a name that is looked up, or a path from the settings.
    pub(crate) program: String,
    #[serde(default)]
    pub(crate) arguments: Vec<String>,
    /// Folders of a project that may contain the program.
    #[serde(default)]
    pub(crate) beside: Vec<ProgramFolder>,
    /// The packages that contain it; `None` if Burin cannot install it.
    #[serde(default)]
    pub(crate) install: Option<InstallRecipe>,
    #[serde(default)]
    pub(crate) system: SystemPackages,
    /// Files that mark the root folder of a project.
    #[serde(default)]
    pub(crate) roots: Vec<String>,
    /// Whether it serves only folders with such a file.
    #[serde(default)]
    pub(crate) needs_root: bool,
    #[serde(default)]
    pub(crate) initialization_options: Map<String, Value>,
    /// Its configuration, by section.
    #[serde(default)]
    pub(crate) settings: Map<String, Value>,
    /// Changes to both with which it executes less code of the project.
    #[serde(default)]
    pub(crate) confined: ConfinedOptions,
    #[serde(default)]
    pub(crate) sharing: ServerSharing,
    /// Whether it executes code or configuration of the project.
    #[serde(default)]
    pub runs_project_code: bool,
    /// Whether its first diagnostics are complete only when its progress ends.
    #[serde(default)]
    pub(crate) reports_progress: bool,
    /// Whether it may publish nothing about a document without diagnostics.
    #[serde(default)]
    pub(crate) omits_empty: bool,
    /// Arguments that print its version; `None` if it cannot be asked.
    #[serde(default)]
    pub(crate) version: Option<Vec<String>>,
    /// Whether it runs without being named in the settings.
    #[serde(default = "yes")]
    pub(crate) is_default: bool,
    /// Whether only the program in Burin's own folder may be used, because other programs share its name.
    #[serde(default)]
    pub(crate) only_installed: bool,
    /// Names of variables to pass on, from the settings.
    #[serde(skip)]
    pub(crate) environment: Vec<String>,
    /// Whether the program comes from the settings.
    #[serde(skip)]
    pub(crate) is_configured: bool,
}

/// The role of a server beside the other servers of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ServerRole {
    /// The server that understands the language; a document has one.
    Primary,
    /// Adds diagnostics and fixes.
    Linter,
    /// Formats documents.
    Formatter,
    /// A server for another purpose, such as spell checking.
    Extra,
}

/// A folder of a project that contains programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ProgramFolder {
    /// `node_modules/.bin`.
    NodeModules,
    /// `.venv/bin` or `venv/bin`.
    Venv,
}

/// Options of a server that may not execute code of the project.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct ConfinedOptions {
    /// Members on top of the options for its initialization.
    pub(crate) initialization_options: Map<String, Value>,
    /// Sections on top of its configuration.
    pub(crate) settings: Map<String, Value>,
}

/// Whether a process may serve several folders.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ServerSharing {
    /// One process serves all worktrees of a repository: its answers were compared with those of two processes.
    Shared,
    /// Answers about one folder may concern another one.
    #[default]
    PerFolder,
}

/// Names of the package of a server in systems.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct SystemPackages {
    pub(crate) debian: Option<String>,
    pub(crate) fedora: Option<String>,
    pub(crate) arch: Option<String>,
    pub(crate) homebrew: Option<String>,
}

/// A language in the table.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LanguageDefinition {
    #[serde(skip)]
    name: String,
    id: String,
    /// Patterns of file names, for languages without a grammar.
    #[serde(default)]
    files: Vec<String>,
    /// Identifiers of files that differ from `id`, by pattern.
    #[serde(default)]
    ids: Map<String, Value>,
}

fn yes() -> bool {
    true
}

impl ServerTable {
    /// Returns the built-in table.
    pub(crate) fn builtin() -> Self {
        let text = include_str!("../../../assets/languages/servers.json");
        let (table, problems) = Self::parse("servers.json", text);
        for problem in problems {
            base::never!("{problem}");
        }
        table
    }

    /// Parses a table. An invalid entry is left out and returned as a problem.
    pub(crate) fn parse(source: &str, text: &str) -> (Self, Vec<ConfigProblem>) {
        let jsonc = match Jsonc::parse(source, text) {
            Ok(jsonc) => jsonc,
            Err(problem) => return (Self::default(), vec![problem]),
        };
        let value = jsonc.value();
        let mut problems = Vec::new();
        let mut table = Self::default();
        for (name, language) in entries::<LanguageDefinition>(&value, "languages") {
            let language = language.map(|it| LanguageDefinition {
                name: name.to_owned(),
                ..it
            });
            match language {
                Ok(language) => table.languages.push(language),
                Err(error) => problems.push(jsonc.problem(&["languages", name], error.to_string())),
            }
        }
        for (id, server) in entries::<ServerDefinition>(&value, "servers") {
            let server = server.map(|it| ServerDefinition {
                id: id.to_owned(),
                ..it
            });
            match server.and_then(|server| table.checked(server)) {
                Ok(server) => table.servers.push(server),
                Err(error) => problems.push(jsonc.problem(&["servers", id], error.to_string())),
            }
        }
        (table, problems)
    }

    /// Returns the server if it can work.
    fn checked(&self, server: ServerDefinition) -> Result<ServerDefinition, InvalidEntry> {
        let is_known = |name: &&String| *name != "*" && !self.has_language(name);
        if let Some(name) = server.languages.iter().find(is_known) {
            return Err(InvalidEntry::UnknownLanguage(name.clone()));
        }
        if server.program.is_empty() || server.program.contains('/') {
            return Err(InvalidEntry::ProgramPath);
        }
        match server.install.as_ref().and_then(InstallRecipe::problem) {
            Some(problem) => Err(InvalidEntry::Recipe(problem)),
            None => Ok(server),
        }
    }

    /// Returns all servers, in order of preference.
    pub(crate) fn servers(&self) -> &[ServerDefinition] {
        &self.servers
    }

    /// Returns the server with this id; `None` if there is none.
    pub(crate) fn server(&self, id: &str) -> Option<&ServerDefinition> {
        self.servers.iter().find(|server| server.id == id)
    }

    /// Returns whether there is a language with this name.
    pub(crate) fn has_language(&self, name: &str) -> bool {
        self.languages.iter().any(|it| it.name == name)
    }

    /// Returns the language of a file by its name, and by its first line where the name does not
    /// tell; `None` for a file of no known language.
    pub(crate) fn language_of(&self, path: &Path, first_line: &str) -> Option<DocumentLanguage> {
        let file_name = path.file_name()?.to_string_lossy();
        let is_named = |language: &&LanguageDefinition| {
            let mut patterns = language.files.iter();
            patterns.any(|it| pattern::matches(it, &file_name))
        };
        let by_grammar = || {
            let name = syntax::language_for(path, first_line)?.name();
            self.languages.iter().find(|it| it.name == name)
        };
        let language = self.languages.iter().find(is_named).or_else(by_grammar)?;
        let mut ids = language.ids.iter();
        let own = ids.find(|(it, _)| pattern::matches(it, &file_name));
        let id = own.and_then(|(_, id)| id.as_str()).unwrap_or(&language.id);
        Some(DocumentLanguage {
            name: language.name.clone(),
            id: id.to_owned(),
        })
    }
}

impl ServerDefinition {
    /// Returns whether it serves documents of a language.
    pub(crate) fn serves(&self, language: &str) -> bool {
        self.languages.iter().any(|it| it == "*" || it == language)
    }
}

impl ServerRole {
    /// Returns its name, as in the table.
    pub fn word(self) -> &'static str {
        match self {
            Self::Primary => "primary",
            Self::Linter => "linter",
            Self::Formatter => "formatter",
            Self::Extra => "extra",
        }
    }
}

/// Returns the parsed members of the object `section`, each with its name.
fn entries<'a, T: DeserializeOwned>(
    value: &'a Value,
    section: &str,
) -> impl Iterator<Item = (&'a str, Result<T, InvalidEntry>)> {
    let members = value.get(section).and_then(Value::as_object);
    let members = members.into_iter().flatten();
    members.map(|(name, value)| {
        let entry = T::deserialize(value).map_err(InvalidEntry::from);
        (name.as_str(), entry)
    })
}

#[cfg(test)]
mod tests;
