//! `burin-agent trust`: trusted folders, hooks with their latest runs, and the instructions of a folder.

use std::path::PathBuf;
use std::process::ExitCode;

use agent::access::{FolderAccess, GuideAccess, HookFileAccess};
use base::AbsPath;
use clap::{Args, Subcommand};
use host::{Dirs, RealFiles};
use runtime::{folder_access, trust};
use serde_json::{Value, json};

use crate::{Streams, error_text, print_notice, sessions, write_error};

/// Show trusted folders, hooks and instructions; grant and revoke trust
#[derive(Args)]
pub(crate) struct TrustCommand {
    #[command(subcommand)]
    what: TrustAction,
    /// The folder; the working directory without it
    #[arg(long, global = true)]
    root: Option<PathBuf>,
}

#[derive(Subcommand)]
enum TrustAction {
    /// List trusted folders, hooks with their latest results, and instructions, rules and skills
    List {
        /// Print an object
        #[arg(long)]
        json: bool,
    },
    /// Trust the folder: its instructions, rules and skills join prompts
    Add,
    /// Revoke trust in the folder
    Revoke,
    /// Revoke consent to all hooks of the folder; sessions that are open keep them
    RevokeHooks,
}

impl TrustCommand {
    /// Runs the command, prints its result and returns its exit code. On failure, returns a
    /// sentence that the caller prints.
    pub(crate) fn run(&self, dirs: &Dirs, streams: &mut Streams<'_>) -> Result<ExitCode, String> {
        let root = crate::folder(self.root.as_deref(), &RealFiles)?;
        let store = sessions::open(dirs, streams)?;
        let access = folder_access::trust_and_hooks(dirs, &store, &root);
        for problem in &access.problems {
            print_notice(streams, problem);
        }
        match &self.what {
            TrustAction::List { json } => {
                let text = if *json {
                    format!("{:#}\n", as_json(&access))
                } else {
                    as_text(&access, &root)
                };
                let written = streams.output.write_all(text.as_bytes());
                written.map_err(write_error)?;
            }
            TrustAction::Add => set_trusted(dirs, &root, true)?,
            TrustAction::Revoke => set_trusted(dirs, &root, false)?,
            TrustAction::RevokeHooks => {
                for file in access.hooks.iter().filter(|file| file.is_allowed) {
                    trust::revoke_hooks(dirs, &root, &file.file).map_err(error_text)?;
                }
            }
        }
        Ok(if access.problems.is_empty() {
            ExitCode::SUCCESS
        } else {
            ExitCode::FAILURE
        })
    }
}

fn set_trusted(dirs: &Dirs, root: &AbsPath, is_trusted: bool) -> Result<(), String> {
    trust::set_trusted(&RealFiles, dirs, root, is_trusted).map_err(error_text)
}

fn as_text(access: &FolderAccess, root: &AbsPath) -> String {
    let state = if access.is_trusted {
        "trusted"
    } else {
        "not trusted"
    };
    let mut text = format!("{root} is {state}\n");
    for folder in &access.trusted_folders {
        text.push_str(&format!("trusted  {folder}\n"));
    }
    for file in &access.hooks {
        let state = if file.is_allowed {
            "allowed"
        } else {
            "not allowed"
        };
        text.push_str(&format!("hooks    {} ({state})\n", file.file.path));
        for hook in &file.hooks {
            let result = hook
                .last
                .as_ref()
                .map_or("has not run", |last| &last.result);
            text.push_str(&format!(
                "         {}: {}: {result}\n",
                hook.event, hook.command
            ));
        }
    }
    for GuideAccess {
        name,
        about,
        is_active,
    } in &access.guides
    {
        let state = if *is_active { "active" } else { "not active" };
        text.push_str(&format!("guide    {name} ({state}): {about}\n"));
    }
    text
}

fn as_json(access: &FolderAccess) -> Value {
    let folders = access.trusted_folders.iter();
    let folders: Vec<String> = folders.map(ToString::to_string).collect();
    let guides = access.guides.iter();
    let guides: Vec<Value> = guides
        .map(|it| json!({ "name": it.name, "about": it.about, "is_active": it.is_active }))
        .collect();
    json!({
        "is_trusted": access.is_trusted,
        "trusted_folders": folders,
        "hooks": access.hooks.iter().map(hooks_json).collect::<Vec<_>>(),
        "guides": guides,
    })
}

fn hooks_json(file: &HookFileAccess) -> Value {
    let hooks = file.hooks.iter().map(|hook| {
        let last = hook.last.as_ref();
        json!({
            "event": hook.event,
            "command": hook.command,
            "last_ms": last.map(|it| it.at_ms),
            "result": last.map(|it| &it.result),
        })
    });
    json!({
        "path": file.file.path.to_string(),
        "is_allowed": file.is_allowed,
        "hooks": hooks.collect::<Vec<_>>(),
    })
}
