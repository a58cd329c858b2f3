//! The reflog as a list of actions that can be undone.
//!
//! Pure but for `GitProgram::reflog` and `GitProgram::undo`. Invariant: a plan never loses changes of files; where Git
//! would overwrite some, the command refuses.

use base::LogErr as _;

use crate::call::GitCall;
use crate::cancellation::Cancellation;
use crate::error::Error;
use crate::program::{GitProgram, SMALL_OUTPUT};
use crate::records::{is_object_id, number, text};

/// A movement of HEAD.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReflogEntry {
    /// The commit afterwards.
    pub id: String,
    /// The commit before; `None` for the oldest entry.
    pub before: Option<String>,
    /// The time in seconds since 1970.
    pub seconds: i64,
    /// Git's description, such as `commit: add x` or `rebase (finish): returning to …`.
    pub description: String,
}

/// A plan that returns to the state before the last action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UndoPlan {
    /// The action that is undone, for people, such as `commit: add x`.
    pub action: String,
    /// The way back.
    pub step: UndoStep,
    /// The commit at HEAD for which the plan was made; another one refuses it.
    pub head: String,
}

/// The way back to a former state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UndoStep {
    /// Moves the branch back; the changes of the commit stay staged.
    ResetSoft(String),
    /// Moves branch, index and files back; refuses if local changes would be lost.
    ResetKeep(String),
    /// Switches to a branch.
    SwitchBranch(String),
    /// Switches to a commit without a branch.
    SwitchDetached(String),
}

impl UndoStep {
    /// Returns the arguments of Git.
    pub fn arguments(&self) -> Vec<String> {
        let words: &[&str] = match self {
            Self::ResetSoft(id) => &["reset", "--soft", id.as_str()],
            Self::ResetKeep(id) => &["reset", "--keep", id.as_str()],
            Self::SwitchBranch(name) => &["switch", name.as_str()],
            Self::SwitchDetached(id) => &["switch", "--detach", id.as_str()],
        };
        words.iter().map(|word| (*word).to_owned()).collect()
    }
}

impl GitProgram {
    /// Returns up to `limit` movements of HEAD, the latest first.
    pub fn reflog(
        &self,
        limit: usize,
        cancellation: &Cancellation,
    ) -> Result<Vec<ReflogEntry>, Error> {
        let call = GitCall::read("log")
            .args([
                "-g",
                "-z",
                "-s",
                "--no-show-signature",
                "--encoding=UTF-8",
                "--date=unix",
            ])
            .args(["--format=tformat:%H%x00%gd%x00%gs"])
            .arg(format!("--max-count={limit}"))
            .args(["HEAD", "--"]);
        let output = self.output(call, SMALL_OUTPUT, cancellation)?;
        Ok(parse_reflog(&output))
    }

    /// Carries out a plan, unless HEAD moved since it was made.
    pub fn undo(&self, plan: &UndoPlan, cancellation: &Cancellation) -> Result<(), Error> {
        if self.resolve("HEAD", cancellation)? != plan.head {
            return Err(Error::Failed {
                command: "undo".to_owned(),
                message: "HEAD has moved meanwhile; look at the history again".to_owned(),
            });
        }
        if matches!(plan.step, UndoStep::ResetKeep(_)) {
            // A file that was written without a change would count as changed.
            let refresh = GitCall::write("update-index").args(["-q", "--refresh"]);
            self.output(refresh, SMALL_OUTPUT, cancellation).log_err();
        }
        let mut words = plan.step.arguments().into_iter();
        let mut call = GitCall::write(&words.next().unwrap_or_default());
        call.arguments.extend(words.map(Into::into));
        self.output(call, SMALL_OUTPUT, cancellation).map(drop)
    }
}

/// Parses `ID HEAD@{SECONDS} DESCRIPTION` of each entry, every field ended by a zero byte.
pub fn parse_reflog(output: &[u8]) -> Vec<ReflogEntry> {
    let fields: Vec<&[u8]> = output.split(|byte| *byte == 0).collect();
    let entries = fields
        .chunks_exact(3)
        .filter(|fields| is_object_id(fields[0]));
    let entry = |fields: &[&[u8]]| {
        let selector = text(fields[1]);
        let seconds = selector
            .split_once("@{")
            .and_then(|(_, rest)| rest.strip_suffix('}'));
        ReflogEntry {
            id: text(fields[0]),
            before: None,
            seconds: seconds.and_then(|it| number(it.as_bytes())).unwrap_or(0),
            description: text(fields[2]),
        }
    };
    let mut entries: Vec<ReflogEntry> = entries.map(entry).collect();
    let before: Vec<String> = entries
        .iter()
        .skip(1)
        .map(|entry| entry.id.clone())
        .collect();
    for (entry, before) in entries.iter_mut().zip(before) {
        entry.before = Some(before);
    }
    entries
}

/// Returns the plan that undoes the last action; `None` if there is nothing before it, or the last
/// action is one that only `abort_operation` can take back.
pub fn undo_plan(entries: &[ReflogEntry]) -> Option<UndoPlan> {
    let last = entries.first()?;
    let description = last.description.as_str();
    let (action, details) = description.split_once(": ").unwrap_or((description, ""));
    let before = last.before.clone();
    let step = match action {
        "commit" | "commit (amend)" => UndoStep::ResetSoft(before?),
        "checkout" => undo_switch(details)?,
        _ if action.starts_with("rebase") => UndoStep::ResetKeep(before_rebase(entries)?),
        _ if action.starts_with("pull --rebase") && action.ends_with("(finish)") => {
            UndoStep::ResetKeep(before_rebase(entries)?)
        }
        "cherry-pick" | "revert" | "reset" | "commit (merge)" | "am" => {
            UndoStep::ResetKeep(before?)
        }
        _ if action.starts_with("merge ") || action.starts_with("pull") => {
            UndoStep::ResetKeep(before?)
        }
        _ => return None,
    };
    Some(UndoPlan {
        action: description.to_owned(),
        step,
        head: last.id.clone(),
    })
}

/// Reads `moving from A to B`.
fn undo_switch(details: &str) -> Option<UndoStep> {
    let (from, _) = details.strip_prefix("moving from ")?.split_once(" to ")?;
    Some(if is_object_id(from.as_bytes()) {
        UndoStep::SwitchDetached(from.to_owned())
    } else {
        UndoStep::SwitchBranch(from.to_owned())
    })
}

/// Returns the commit before a finished rebase: that before its first entry.
fn before_rebase(entries: &[ReflogEntry]) -> Option<String> {
    if !entries.first()?.description.contains("(finish)") {
        // It is still in progress.
        return None;
    }
    let start = entries
        .iter()
        .find(|entry| entry.description.contains("(start)"));
    start?.before.clone()
}

#[cfg(test)]
mod tests {
    use super::{ReflogEntry, UndoStep, parse_reflog, undo_plan};

    fn id(digit: char) -> String {
        digit.to_string().repeat(40)
    }

    /// Makes entries with the ids 9, 8, … from descriptions, the latest first.
    fn entries(descriptions: &[&str]) -> Vec<ReflogEntry> {
        let output: String = descriptions
            .iter()
            .zip(('0'..='9').rev())
            .map(|(description, digit)| format!("{}\0HEAD@{{1700}}\0{description}\0", id(digit)))
            .collect();
        parse_reflog(output.as_bytes())
    }

    fn step(descriptions: &[&str]) -> Option<UndoStep> {
        undo_plan(&entries(descriptions)).map(|plan| plan.step)
    }

    #[test]
    fn entries_know_the_commit_before() {
        let entries = entries(&["commit: two", "commit (initial): one"]);
        assert_eq!(entries[0].before, Some(id('8')));
        assert_eq!(
            (entries[1].before.clone(), entries[0].seconds),
            (None, 1700)
        );
        assert!(parse_reflog(b"x\0y\0z\0").is_empty());
    }

    #[test]
    fn each_action_has_its_way_back() {
        let first = "commit (initial): one";
        let soft = Some(UndoStep::ResetSoft(id('8')));
        let keep = Some(UndoStep::ResetKeep(id('8')));
        for (last, expected) in [
            ("commit: two", soft.clone()),
            ("commit (amend): two", soft),
            ("commit (merge): Merge b", keep.clone()),
            ("merge b: Fast-forward", keep.clone()),
            ("pull: Fast-forward", keep.clone()),
            ("reset: moving to HEAD~3", keep.clone()),
            ("cherry-pick: x", keep.clone()),
            ("revert: x", keep),
            (
                "checkout: moving from main to topic",
                Some(UndoStep::SwitchBranch("main".to_owned())),
            ),
            ("clone: from h", None),
        ] {
            assert_eq!(step(&[last, first]), expected, "{last}");
        }
        assert_eq!(step(&[first]), None);
        let detached = format!("checkout: moving from {} to main", id('3'));
        assert_eq!(
            step(&[detached.as_str(), first]),
            Some(UndoStep::SwitchDetached(id('3')))
        );
    }

    #[test]
    fn a_rebase_is_undone_as_a_whole() {
        let finished = [
            "rebase (finish): returning to refs/heads/a",
            "rebase (pick): x",
            "rebase (start): checkout main",
            "commit: x",
        ];
        assert_eq!(step(&finished), Some(UndoStep::ResetKeep(id('6'))));
        assert_eq!(step(&finished[1..]), None, "in progress");
    }

    #[test]
    fn a_plan_becomes_arguments() {
        let plan = undo_plan(&entries(&["commit: two", "commit: one"])).expect("a plan");
        let expected = ["reset".to_owned(), "--soft".to_owned(), id('8')];
        assert_eq!(plan.step.arguments(), expected);
        assert_eq!(plan.head, id('9'));
    }
}
