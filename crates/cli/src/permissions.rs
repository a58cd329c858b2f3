//! `burin-agent permissions`: lists and removes the saved rules.

use std::path::PathBuf;
use std::process::ExitCode;

use base::AbsPath;
use clap::{Args, Subcommand};
use host::{Dirs, RealFiles};
use runtime::permissions::{Permissions, path, remove};
use serde_json::{Value, json};

use crate::{Streams, error_text, print_notice, write_error};

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

/// A saved permission rule.
struct SavedRule {
    rule: String,
    /// The list of the rule: `allow`, `ask` or `deny`.
    list: String,
    /// `None` for all projects.
    project: Option<String>,
}

const LISTS: [&str; 3] = ["deny", "ask", "allow"];

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
                let mut saved = saved_rules(&permissions);
                let name = root.to_string();
                saved.retain(|it| *all || it.project.as_ref().is_none_or(|it| *it == name));
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
                remove_rule(dirs, rule, project.as_ref())?;
                Ok(ExitCode::SUCCESS)
            }
        }
    }
}

/// Removes a saved rule of a project, or of all projects if `project` is `None`. Fails if there is
/// no such rule there.
fn remove_rule(dirs: &Dirs, rule: &str, project: Option<&AbsPath>) -> Result<(), String> {
    let project = project.map(AbsPath::to_string);
    let saved = saved_rules(&Permissions::read(dirs));
    let found = saved
        .iter()
        .find(|it| it.rule == rule && it.project == project);
    let Some(found) = found else {
        let (place, advice) = match &project {
            Some(project) => (
                project.as_str(),
                "; `--everywhere` removes one of all projects",
            ),
            None => ("all projects", ""),
        };
        return Err(format!("there is no rule {rule} for {place}{advice}"));
    };
    let list = match &found.project {
        Some(project) => vec!["projects", project, &found.list],
        // Rules may also be at the top of the file.
        None if Permissions::read(dirs).get("permissions").is_none() => vec![found.list.as_str()],
        None => vec!["permissions", &found.list],
    };
    remove(&path(dirs), &list, rule).map_err(error_text)?;
    Ok(())
}

/// All rules of the file.
fn saved_rules(permissions: &Permissions) -> Vec<SavedRule> {
    let mut saved = Vec::new();
    match permissions.get("permissions") {
        Some(rules) => add(&mut saved, &rules, None),
        None => {
            for list in LISTS {
                let rules = json!({ list: permissions.get(list) });
                add(&mut saved, &rules, None);
            }
        }
    }
    let projects = permissions.get("projects");
    for (project, rules) in projects.iter().filter_map(Value::as_object).flatten() {
        add(&mut saved, rules, Some(project));
    }
    saved
}

fn add(saved: &mut Vec<SavedRule>, rules: &Value, project: Option<&String>) {
    for list in LISTS {
        let rules = rules.get(list).and_then(Value::as_array);
        let rules = rules.into_iter().flatten().filter_map(Value::as_str);
        saved.extend(rules.map(|rule| SavedRule {
            rule: rule.to_owned(),
            list: list.to_owned(),
            project: project.cloned(),
        }));
    }
}

fn rules_json(saved: &[SavedRule]) -> Value {
    let saved = saved
        .iter()
        .map(|it| json!({ "rule": it.rule, "list": it.list, "project": it.project }));
    Value::Array(saved.collect())
}

fn rule_line(saved: &SavedRule) -> String {
    let rule = base::printable(&saved.rule, base::LineFeeds::Escape);
    let place = saved.project.as_deref().unwrap_or("all projects");
    format!("{:<5} {rule}  ({place})\n", saved.list)
}
