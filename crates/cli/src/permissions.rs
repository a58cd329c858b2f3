//! `burin-agent permissions`: lists and removes the saved rules.

use std::path::PathBuf;
use std::process::ExitCode;

use agent::access::{KeptRule, RuleList, RuleOrigin};
use base::AbsPath;
use clap::{Args, Subcommand};
use host::{Dirs, RealFiles};
use runtime::Error;
use runtime::permissions::{Permissions, remove_rule};
use runtime::sandbox_policy;
use serde_json::{Value, json};

use crate::{Streams, print_notice, write_error};

/// List and remove the rules for agents' calls
///
/// Rules are stored in `permissions.json` in the config folder: those for all projects under
/// "permissions", those of one project under "projects".
#[derive(Args)]
pub(crate) struct PermissionsCommand {
    #[command(subcommand)]
    what: PermissionsAction,
}

#[derive(Subcommand)]
enum PermissionsAction {
    /// List the rules for all projects and for the folder
    List {
        /// The folder; the current one without it
        #[arg(long)]
        root: Option<PathBuf>,
        /// List the rules of every project
        #[arg(long, conflicts_with = "root")]
        all: bool,
        /// Print an array of {rule, list, project}
        #[arg(long)]
        json: bool,
    },
    /// Describe the sandbox of commands in the folder: layers, exceptions, granted accesses
    Sandbox {
        /// The folder; the current one without it
        #[arg(long)]
        root: Option<PathBuf>,
    },
    /// Remove a rule, written as `list` prints it
    ///
    /// Exit codes: 0 it was removed; 1 there is no such rule, or the file could not be changed.
    Remove {
        /// Rule to remove, as `list` prints it
        rule: String,
        /// Folder that the rule belongs to; the current one without it
        #[arg(long)]
        root: Option<PathBuf>,
        /// Remove the rule for all projects
        #[arg(long, conflicts_with = "root")]
        everywhere: bool,
    },
}

impl PermissionsCommand {
    /// Runs the command, prints its result and returns its exit code. On failure, returns a
    /// sentence that the caller prints.
    pub(crate) fn run(&self, dirs: &Dirs, streams: &mut Streams<'_>) -> Result<ExitCode, String> {
        match &self.what {
            PermissionsAction::List { root, all, json } => {
                let root = crate::folder(root.as_deref(), &RealFiles)?;
                let permissions = Permissions::read(dirs);
                let (_, problems) = permissions.rules(&root);
                problems
                    .iter()
                    .for_each(|problem| print_notice(streams, problem));
                let mut saved = permissions.kept_rules();
                let here = RuleOrigin::Project(root.to_string());
                saved.retain(|it| *all || it.origin == RuleOrigin::User || it.origin == here);
                let text = if *json {
                    format!("{:#}\n", rules_json(&saved))
                } else {
                    saved.iter().map(rule_line).collect()
                };
                streams
                    .output
                    .write_all(text.as_bytes())
                    .map_err(write_error)?;
                Ok(if problems.is_empty() {
                    ExitCode::SUCCESS
                } else {
                    ExitCode::FAILURE
                })
            }
            PermissionsAction::Sandbox { root } => {
                let root = crate::folder(root.as_deref(), &RealFiles)?;
                let (sandbox, problems) = sandbox_policy::describe(dirs, &root);
                for problem in &problems {
                    print_notice(streams, problem);
                }
                let sentences = sandbox.sentences.into_iter();
                let grants = sandbox.grants.iter();
                let grants = grants.map(|it| format!("{} has the access {}", it.rule, it.access));
                let lines: Vec<String> = sentences.chain(grants).collect();
                let text = format!("{}\n", lines.join("\n"));
                let written = streams.output.write_all(text.as_bytes());
                written.map_err(write_error)?;
                Ok(ExitCode::SUCCESS)
            }
            PermissionsAction::Remove {
                rule,
                root,
                everywhere,
            } => {
                let project = if *everywhere {
                    None
                } else {
                    Some(crate::folder(root.as_deref(), &RealFiles)?)
                };
                remove_named(dirs, rule, project.as_ref())?;
                Ok(ExitCode::SUCCESS)
            }
        }
    }
}

/// Removes a saved rule of a project, or of all projects if `project` is `None`. Fails if there is
/// no such rule there.
fn remove_named(dirs: &Dirs, rule: &str, project: Option<&AbsPath>) -> Result<(), String> {
    let origin = match project {
        Some(project) => RuleOrigin::Project(project.to_string()),
        None => RuleOrigin::User,
    };
    let kept = Permissions::read(dirs).kept_rules();
    let named = kept
        .into_iter()
        .find(|it| it.rule == rule && it.origin == origin);
    let named = named.unwrap_or(KeptRule {
        rule: rule.to_owned(),
        list: RuleList::Allow,
        origin,
    });
    remove_rule(dirs, &named).map_err(|error| match (error, project) {
        (error @ Error::Unknown(_), Some(_)) => {
            format!("{error}; `--everywhere` removes one of all projects")
        }
        (error, _) => error.to_string(),
    })
}

fn rules_json(saved: &[KeptRule]) -> Value {
    let saved = saved
        .iter()
        .map(|it| json!({ "rule": it.rule, "list": it.list.name(), "project": project(it) }));
    Value::Array(saved.collect())
}

/// Returns the project of a rule; `None` for all projects.
fn project(saved: &KeptRule) -> Option<&str> {
    match &saved.origin {
        RuleOrigin::Project(project) => Some(project),
        RuleOrigin::User | RuleOrigin::Session => None,
    }
}

fn rule_line(saved: &KeptRule) -> String {
    let rule = base::printable(&saved.rule, base::LineFeeds::Escape);
    let place = project(saved).unwrap_or("all projects");
    format!("{:<5} {rule}  ({place})\n", saved.list.name())
}
