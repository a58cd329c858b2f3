//! The list of a folder's servers: which are used, which are missing, and their versions.

use std::collections::{BTreeMap, BTreeSet};
use std::thread;

use base::AbsPath;

use crate::locate::{ProgramOrigin, ServerProgram};
use crate::selection::FolderServers;
use crate::table::ServerDefinition;

/// The servers that a list contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListScope {
    /// Those for the languages of the documents.
    Documents,
    /// All known servers.
    All,
}

/// A server in a list.
#[derive(Clone, Debug)]
pub struct ListedServer {
    /// The server.
    pub definition: ServerDefinition,
    /// Its program; `None` if it is missing.
    pub program: Option<ServerProgram>,
    /// The version of the program, as far as it tells.
    pub version: Option<String>,
    /// Whether it serves one of the documents.
    pub is_used: bool,
}

impl FolderServers {
    /// Returns the servers for documents below the folder, in order of the table. A language is judged
    /// by its first document. Programs are asked for their version only if the folder is trusted.
    /// Blocks on the disk and on the programs.
    pub fn list(&self, documents: &[AbsPath], scope: ListScope) -> Vec<ListedServer> {
        let mut languages = BTreeMap::new();
        for document in documents {
            if let Some(language) = self.language_of(document) {
                languages.entry(language.name).or_insert(document);
            }
        }
        let chosen = languages.values().filter_map(|it| self.for_document(it));
        let used: BTreeSet<String> = chosen
            .flat_map(|it| it.servers)
            .map(|choice| choice.definition.id)
            .collect();
        let serves = |server: &&ServerDefinition| {
            scope == ListScope::All || languages.keys().any(|it| server.serves(it))
        };
        let servers: Vec<_> = self.table().servers().iter().filter(serves).collect();
        thread::scope(|threads| {
            let rows: Vec<_> = servers
                .into_iter()
                .map(|server| {
                    let is_used = used.contains(&server.id);
                    threads.spawn(move || self.listed(server, is_used))
                })
                .collect();
            rows.into_iter().filter_map(|row| row.join().ok()).collect()
        })
    }

    fn listed(&self, server: &ServerDefinition, is_used: bool) -> ListedServer {
        let program = self.program(server);
        let version = program.as_ref().and_then(|program| match &program.origin {
            ProgramOrigin::Installed(Some(version)) => Some(version.clone()),
            _ if self.is_trusted() => program.version(server, self.root(), self.variables()),
            _ => None,
        });
        ListedServer {
            definition: server.clone(),
            program,
            version,
            is_used,
        }
    }
}
