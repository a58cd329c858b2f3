//! The command `lsp`: lists, installs and asks language servers.

mod check;
mod install;
mod list;

use std::path::PathBuf;
use std::process::ExitCode;

use base::AbsPath;
use clap::{Args, Subcommand};
use host::{Dirs, RealFiles};
use language::FolderServers;
use runtime::language_servers::{self, TrustSource};

use crate::{Streams, error_text, write_error};

/// List, install and ask language servers
#[derive(Args)]
pub(crate) struct LspCommand {
    #[command(subcommand)]
    what: LspAction,
    /// The folder of the project; the working directory without it
    #[arg(long, global = true)]
    root: Option<PathBuf>,
    /// Trust the folder for this command
    #[arg(long, global = true)]
    trust: bool,
}

#[derive(Subcommand)]
enum LspAction {
    List(list::ListAction),
    Install(install::InstallAction),
    Check(check::CheckAction),
    /// Print the log of a server: messages in both directions, and its standard error
    Log {
        /// Id of the server
        id: String,
    },
}

impl LspCommand {
    /// Runs the command, prints its result and returns its exit code. On failure, returns a sentence
    /// that the caller prints.
    pub(crate) fn run(&self, dirs: &Dirs, streams: &mut Streams<'_>) -> Result<ExitCode, String> {
        dirs.create().map_err(error_text)?;
        match &self.what {
            LspAction::List(list) => list.run(&self.servers(dirs, streams)?, streams),
            LspAction::Install(install) => install.run(&self.servers(dirs, streams)?, streams),
            LspAction::Check(check) => {
                let servers = self.servers(dirs, streams)?;
                Ok(check.run(&servers, dirs, streams))
            }
            LspAction::Log { id } => print_log(dirs, id, streams),
        }
    }

    /// Returns the servers of the folder, and prints the problems of its settings.
    fn servers(&self, dirs: &Dirs, streams: &mut Streams<'_>) -> Result<FolderServers, String> {
        let root = crate::folder(self.root.as_deref(), &RealFiles)?;
        let source = if self.trust {
            TrustSource::Command
        } else {
            TrustSource::Stored
        };
        let (servers, problems) = language_servers::folder_servers(dirs, &root, source);
        for problem in &problems {
            crate::print_notice(streams, problem);
        }
        Ok(servers)
    }
}

/// Returns the documents among the named files and folders; those of `root` if none are named.
///
/// # Errors
/// A path does not exist, or is not below `root`.
fn documents(paths: &[PathBuf], root: &AbsPath) -> Result<Vec<AbsPath>, String> {
    let mut named = Vec::new();
    for path in paths {
        let path = crate::folder(Some(path), &RealFiles)?;
        if !path.is_within(root) {
            return Err(format!(
                "{path} is not below {root}; name its folder with --root"
            ));
        }
        named.push(path);
    }
    if named.is_empty() {
        named.push(root.clone());
    }
    language_servers::documents(&named).map_err(error_text)
}

fn print_log(dirs: &Dirs, id: &str, streams: &mut Streams<'_>) -> Result<ExitCode, String> {
    let text = language::read_log(&RealFiles, &dirs.server_logs(), id);
    let text = text.ok_or_else(|| format!("there is no log of a language server \"{id}\""))?;
    streams
        .output
        .write_all(text.as_bytes())
        .map_err(write_error)?;
    Ok(ExitCode::SUCCESS)
}
