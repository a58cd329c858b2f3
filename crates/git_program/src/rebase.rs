//! Rebases, also with an edited list of steps.
//!
//! Invariant: no text of the user is in a command line or in a line that a shell reads. The list and the messages are
//! private files; Git's editor of the list is `cp`.

use base::{AbsPath, LogErr};
use host::{Files, RealFiles};

use crate::call::GitCall;
use crate::cancellation::Cancellation;
use crate::error::Error;
use crate::operation::{OperationOutcome, OutputReceiver};
use crate::program::{GitProgram, SMALL_OUTPUT};
use crate::records::{is_object_id, text};

/// The editor of the list: Git appends the path of its own file.
const LIST_EDITOR: &str = "cp \"$BURIN_REBASE_LIST\"";
/// The folder with the list and the messages, inside Git's own folder.
const FOLDER: &str = "burin-rebase";

/// A step of an interactive rebase.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RebaseStep {
    /// The action on the commit.
    pub action: RebaseAction,
    /// The commit id in full.
    pub id: String,
    /// The first line of the message, for display.
    pub subject: String,
}

/// The action of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RebaseAction {
    /// Applies the commit.
    Pick,
    /// Applies the commit with another message.
    Reword(String),
    /// Applies the commit and stops.
    Edit,
    /// Joins the commit with the one before it. With a message, replaces both messages, else
    /// keeps both.
    Squash(Option<String>),
    /// Joins the commit with the one before it, whose message stays.
    Fixup,
    /// Leaves the commit out.
    Drop,
}

/// A rebase of the current branch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RebaseRequest {
    /// The branch or revision whose commits are not replayed.
    pub upstream: String,
    /// The new base; `upstream` if `None`.
    pub onto: Option<String>,
    /// Stashes local changes first and applies them afterwards.
    pub autostash: bool,
    /// The steps, the oldest first; `None` replays every commit.
    pub steps: Option<Vec<RebaseStep>>,
}

impl GitProgram {
    /// Returns the commits that a rebase onto `upstream` replays, the oldest first, each as a
    /// `Pick`. Merges are not replayed.
    pub fn rebase_plan(
        &self,
        upstream: &str,
        cancellation: &Cancellation,
    ) -> Result<Vec<RebaseStep>, Error> {
        let range = format!("{upstream}..HEAD");
        let call = GitCall::read("log")
            .args([
                "-z",
                "-s",
                "--reverse",
                "--topo-order",
                "--no-merges",
                "--no-show-signature",
            ])
            .args(["--encoding=UTF-8", "--format=tformat:%H%x00%s"])
            .name(&range)?
            .arg("--");
        let output = self.output(call, SMALL_OUTPUT, cancellation)?;
        Ok(parse_plan(&output))
    }

    /// Rebases the current branch.
    ///
    /// # Errors
    /// `BadName` if a step has no commit id; nothing was started then.
    pub fn rebase(
        &self,
        request: &RebaseRequest,
        cancellation: &Cancellation,
        on_output: OutputReceiver<'_>,
    ) -> Result<OperationOutcome, Error> {
        let mut call = GitCall::write("rebase").arg(if request.autostash {
            "--autostash"
        } else {
            "--no-autostash"
        });
        if let Some(steps) = &request.steps {
            let folder = self.git_dir(cancellation)?.join(FOLDER);
            let list = write_steps(&folder, steps)?;
            call = call
                .args(["--interactive", "--empty=drop"])
                .variable("GIT_SEQUENCE_EDITOR", LIST_EDITOR)
                .variable("BURIN_REBASE_LIST", list.as_path());
        }
        if let Some(onto) = &request.onto {
            call = call.arg("--onto").name(onto)?;
        }
        self.operate(&call.name(&request.upstream)?, cancellation, on_output)
    }
}

/// Writes the list and the messages of its steps; returns the path of the list.
fn write_steps(folder: &AbsPath, steps: &[RebaseStep]) -> Result<AbsPath, Error> {
    if RealFiles.exists(folder) {
        // The messages of an earlier rebase.
        RealFiles.remove(folder).log_err();
    }
    RealFiles.create_folder(folder)?;
    for (ix, step) in steps.iter().enumerate() {
        if let RebaseAction::Reword(message) | RebaseAction::Squash(Some(message)) = &step.action {
            RealFiles.write_private(&folder.join(ix.to_string()), message.as_bytes())?;
        }
    }
    let list = folder.join("list");
    RealFiles.write_private(&list, todo_list(steps)?.as_bytes())?;
    Ok(list)
}

/// Returns Git's list of steps. It contains ids and numbers alone.
fn todo_list(steps: &[RebaseStep]) -> Result<String, Error> {
    let mut list = String::new();
    for (ix, step) in steps.iter().enumerate() {
        if !is_object_id(step.id.as_bytes()) {
            let text = step.id.clone();
            return Err(Error::BadName { text });
        }
        let (command, has_message) = match &step.action {
            RebaseAction::Pick => ("pick", false),
            RebaseAction::Reword(_) => ("pick", true),
            RebaseAction::Edit => ("edit", false),
            RebaseAction::Squash(message) => ("squash", message.is_some()),
            RebaseAction::Fixup => ("fixup", false),
            RebaseAction::Drop => ("drop", false),
        };
        list.push_str(&format!("{command} {}\n", step.id));
        if has_message {
            // The path comes from Git itself, so that the line is right in every later call, too.
            list.push_str(&format!(
                "exec git commit --amend --allow-empty -F \"$(git rev-parse --git-path {FOLDER}/{ix})\"\n"
            ));
        }
    }
    if list.is_empty() {
        // An empty list would abort the rebase.
        list.push_str("noop\n");
    }
    Ok(list)
}

fn parse_plan(output: &[u8]) -> Vec<RebaseStep> {
    let fields: Vec<&[u8]> = output.split(|byte| *byte == 0).collect();
    let commits = fields
        .chunks_exact(2)
        .filter(|fields| is_object_id(fields[0]));
    let steps = commits.map(|fields| RebaseStep {
        action: RebaseAction::Pick,
        id: text(fields[0]),
        subject: text(fields[1]),
    });
    steps.collect()
}

#[cfg(test)]
mod tests {
    use super::{RebaseAction, RebaseStep, parse_plan, todo_list};

    fn step(action: RebaseAction, digit: char) -> RebaseStep {
        RebaseStep {
            action,
            id: digit.to_string().repeat(40),
            subject: "$(rm -rf /)".to_owned(),
        }
    }

    #[test]
    fn the_list_contains_no_text_of_the_user() {
        let message = "\"; rm -rf / #".to_owned();
        let steps = [
            step(RebaseAction::Pick, '1'),
            step(RebaseAction::Reword(message.clone()), '2'),
            step(RebaseAction::Squash(Some(message)), '3'),
            step(RebaseAction::Drop, '4'),
        ];
        let list = todo_list(&steps).expect("good ids");
        assert!(!list.contains("rm"), "{list}");
        let commands = list
            .lines()
            .map(|line| line.split(' ').next().unwrap_or_default());
        assert_eq!(
            commands.collect::<Vec<_>>(),
            ["pick", "pick", "exec", "squash", "exec", "drop"]
        );
        assert_eq!(todo_list(&[]).expect("an empty list"), "noop\n");
    }

    #[test]
    fn a_step_without_an_id_is_refused() {
        let mut bad = step(RebaseAction::Pick, '1');
        bad.id = "HEAD\nexec rm".to_owned();
        todo_list(&[bad]).expect_err("no id");
    }

    #[test]
    fn the_plan_lists_commits() {
        let id = "1".repeat(40);
        let plan = parse_plan(format!("{id}\0one\0{id}\0two\0").as_bytes());
        assert_eq!(plan.len(), 2);
        assert_eq!(
            (plan[1].subject.as_str(), &plan[1].action),
            ("two", &RebaseAction::Pick)
        );
    }
}
