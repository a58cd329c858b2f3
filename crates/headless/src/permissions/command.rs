//! `burin-agent permissions`: the rules that are kept, listed and removed.

use std::path::PathBuf;
use std::process::ExitCode;

use base::AbsPath;
use clap::{Args, Subcommand};
use host::{Dirs, RealFiles};
use serde_json::{Value, json};

use super::{Permissions, path, remove};
use crate::{Streams, tell, unwritten};

/// List and remove the rules about what agents may do
///
/// They are kept in `permissions.json` in the config folder: those for all projects under "permissions", those of one
/// project under "projects".
#[derive(Args)]
pub(crate) struct Command {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
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
        /// The rule
        rule: String,
        /// The folder whose rule it is; the current one without it
        #[arg(long)]
        root: Option<PathBuf>,
        /// Remove the rule for all projects
        #[arg(long, conflicts_with = "root")]
        everywhere: bool,
    },
}

/// A rule as it is kept.
struct Kept {
    rule: String,
    /// `allow`, `ask` or `deny`.
    list: String,
    /// `None` for all projects.
    project: Option<String>,
}

const LISTS: [&str; 3] = ["deny", "ask", "allow"];

impl Command {
    pub(crate) fn run(&self, dirs: &Dirs, streams: &mut Streams<'_>) -> Result<ExitCode, String> {
        match &self.what {
            What::List { root, all, json } => {
                let root = crate::folder(root.as_deref(), &RealFiles)?;
                let permissions = Permissions::read(dirs);
                let (_, problems) = permissions.rules(&root);
                problems.iter().for_each(|problem| tell(streams, problem));
                let mut kept = kept(&permissions);
                let name = root.to_string();
                kept.retain(|it| *all || it.project.as_ref().is_none_or(|it| *it == name));
                let text = match json {
                    true => format!("{:#}\n", shown(&kept)),
                    false => kept.iter().map(line).collect(),
                };
                streams
                    .output
                    .write_all(text.as_bytes())
                    .map_err(unwritten)?;
                Ok(match problems.is_empty() {
                    true => ExitCode::SUCCESS,
                    false => ExitCode::FAILURE,
                })
            }
            What::Remove {
                rule,
                root,
                everywhere,
            } => {
                let project = match everywhere {
                    true => None,
                    false => Some(crate::folder(root.as_deref(), &RealFiles)?),
                };
                remove_rule(dirs, rule, project.as_ref())?;
                Ok(ExitCode::SUCCESS)
            }
        }
    }
}

fn remove_rule(dirs: &Dirs, rule: &str, project: Option<&AbsPath>) -> Result<(), String> {
    let project = project.map(AbsPath::to_string);
    let kept = kept(&Permissions::read(dirs));
    let found = kept
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
    remove(&path(dirs), &list, rule).map(|_| ())
}

/// All rules of the file.
fn kept(permissions: &Permissions) -> Vec<Kept> {
    let mut kept = Vec::new();
    match permissions.get("permissions") {
        Some(rules) => add(&mut kept, &rules, None),
        None => {
            for list in LISTS {
                let rules = json!({ list: permissions.get(list) });
                add(&mut kept, &rules, None);
            }
        }
    }
    let projects = permissions.get("projects");
    for (project, rules) in projects.iter().filter_map(Value::as_object).flatten() {
        add(&mut kept, rules, Some(project));
    }
    kept
}

fn add(kept: &mut Vec<Kept>, rules: &Value, project: Option<&String>) {
    for list in LISTS {
        let rules = rules.get(list).and_then(Value::as_array);
        let rules = rules.into_iter().flatten().filter_map(Value::as_str);
        kept.extend(rules.map(|rule| Kept {
            rule: rule.to_owned(),
            list: list.to_owned(),
            project: project.cloned(),
        }));
    }
}

fn shown(kept: &[Kept]) -> Value {
    let kept = kept
        .iter()
        .map(|it| json!({ "rule": it.rule, "list": it.list, "project": it.project }));
    Value::Array(kept.collect())
}

fn line(kept: &Kept) -> String {
    let rule = base::printable(&kept.rule, base::LineFeeds::Escape);
    let place = kept.project.as_deref().unwrap_or("all projects");
    format!("{:<5} {rule}  ({place})\n", kept.list)
}
