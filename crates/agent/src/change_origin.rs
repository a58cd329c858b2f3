//! The origin of changes: the prompt, the step of the plan and the call that made them, and the commands
//! that succeeded after them.
//!
//! Knows: records. Must not know: files, how changes are found.
//! Invariant: a command covers a change only if it began after the last call that made the change.
//! Limitations: the records of a session lack the calls of its subagents.
//! Start at `CallOrigins`, the fold over the records of a session.

use std::collections::{BTreeMap, HashMap};

use crate::outcome::CallOutcome;
use crate::record::{SessionRecord, Stored, TodoItem, TodoState};
use crate::rules::is_read_only;
use crate::stored_parts::texts;
use crate::tool::ToolDisplay;

/// The origin of a change.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChangeOrigin {
    /// The first line of the prompt of its turn; empty if it is unknown.
    pub prompt: String,
    /// The step of the plan that was in progress.
    pub step: Option<String>,
    /// The title of the call; empty for a call of a subagent.
    pub call: String,
    /// The commands that ended with the code 0 since, without those that only read. The latest run
    /// of a command decides.
    pub checks: Vec<String>,
}

/// The calls of a session with their origins.
#[derive(Clone, Debug, Default)]
pub struct CallOrigins {
    /// The first line of the prompt of each turn.
    prompts: BTreeMap<u64, String>,
    step: Option<String>,
    /// By id of the call.
    calls: HashMap<String, CallOrigin>,
    /// The commands that ended, oldest first.
    commands: Vec<EndedCommand>,
    /// Number of calls that began or ended so far.
    count: u64,
}

/// A call that began.
#[derive(Clone, Debug)]
struct CallOrigin {
    turn: u64,
    title: String,
    step: Option<String>,
    began: u64,
    /// The moment of its end; that of its beginning while it runs.
    ended: u64,
}

/// A command that ended.
#[derive(Clone, Debug)]
struct EndedCommand {
    line: String,
    began: u64,
    is_good: bool,
}

impl CallOrigins {
    /// Returns the calls that these records hold.
    pub fn of<'a>(records: impl IntoIterator<Item = &'a Stored>) -> Self {
        let mut origins = Self::default();
        for stored in records {
            origins.apply_record(&stored.record);
        }
        origins
    }

    /// Applies a record.
    pub fn apply_record(&mut self, record: &SessionRecord) {
        match record {
            SessionRecord::Prompted { turn, parts, .. } => {
                let text = texts(parts);
                let first = text.lines().next().unwrap_or_default();
                // Later messages steer the turn; the first one began it.
                self.prompts
                    .entry(*turn)
                    .or_insert_with(|| first.trim().to_owned());
            }
            SessionRecord::Planned { todos } => self.step = step_of(todos),
            SessionRecord::CallBegan {
                turn, call, title, ..
            } => {
                self.count += 1;
                let origin = CallOrigin {
                    turn: *turn,
                    title: title.clone(),
                    step: self.step.clone(),
                    began: self.count,
                    ended: self.count,
                };
                self.calls.insert(call.clone(), origin);
            }
            SessionRecord::CallEnded {
                call,
                outcome,
                shown,
                ..
            } => self.ended(call, *outcome, shown),
            _ => {}
        }
    }

    fn ended(&mut self, call: &str, outcome: CallOutcome, shown: &[ToolDisplay]) {
        self.count += 1;
        let Some(origin) = self.calls.get_mut(call) else {
            return;
        };
        origin.ended = self.count;
        let began = origin.began;
        let commands = shown.iter().filter_map(|shown| match shown {
            ToolDisplay::Command {
                command,
                code: Some(code),
                ..
            } => Some((command, *code)),
            _ => None,
        });
        let commands = commands.filter(|(line, _)| !is_read_only(line));
        let ended = commands.map(|(line, code)| EndedCommand {
            line: line.clone(),
            began,
            is_good: code == 0 && outcome == CallOutcome::Ok,
        });
        self.commands.extend(ended);
    }

    /// Returns the origin of a change that these calls made, oldest first, as turn and id of each;
    /// `None` without a call.
    pub fn origin<'a>(
        &self,
        calls: impl IntoIterator<Item = (u64, &'a str)>,
    ) -> Option<ChangeOrigin> {
        let calls: Vec<(u64, &str)> = calls.into_iter().collect();
        let (turn, last) = calls.last()?;
        let known = self.calls.get(*last);
        let turn = known.map_or(*turn, |call| call.turn);
        let ends = calls.iter().filter_map(|(_, id)| self.calls.get(*id));
        let end = ends.map(|call| call.ended).max();
        Some(ChangeOrigin {
            prompt: self.prompts.get(&turn).cloned().unwrap_or_default(),
            step: known.and_then(|call| call.step.clone()),
            call: known.map(|call| call.title.clone()).unwrap_or_default(),
            checks: end.map(|end| self.checks_since(end)).unwrap_or_default(),
        })
    }

    fn checks_since(&self, end: u64) -> Vec<String> {
        let since = self.commands.iter().filter(|it| it.began > end);
        let mut latest: Vec<&EndedCommand> = Vec::new();
        for command in since {
            latest.retain(|it| it.line != command.line);
            latest.push(command);
        }
        let good = latest.into_iter().filter(|it| it.is_good);
        good.map(|it| it.line.clone()).collect()
    }
}

/// The step that is in progress.
fn step_of(todos: &[TodoItem]) -> Option<String> {
    let doing = todos.iter().find(|it| it.state == TodoState::Doing);
    doing.map(|it| it.text.clone())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stored_parts;
    use crate::tool::ToolClass;

    fn began(call: &str, title: &str) -> SessionRecord {
        SessionRecord::CallBegan {
            turn: 1,
            call: call.to_owned(),
            tool: String::new(),
            name: String::new(),
            class: ToolClass::Edit,
            title: title.to_owned(),
            input: serde_json::Value::Null,
        }
    }

    fn ended(call: &str, command: Option<(&str, i32)>) -> SessionRecord {
        let shown = command.map(|(command, code)| ToolDisplay::Command {
            command: command.to_owned(),
            code: Some(code),
            output: String::new(),
        });
        SessionRecord::CallEnded {
            turn: 1,
            call: call.to_owned(),
            tool: String::new(),
            outcome: CallOutcome::Ok,
            detail: None,
            content: Vec::new(),
            shown: Vec::from_iter(shown),
            millis: 0,
        }
    }

    #[test]
    fn a_change_names_prompt_step_call_and_later_checks() {
        let mut origins = CallOrigins::default();
        let todo = |text: &str, state| TodoItem {
            text: text.to_owned(),
            state,
        };
        let prompt = SessionRecord::Prompted {
            turn: 1,
            parts: vec![stored_parts::text("fix it\nplease")],
            is_steering: false,
        };
        let todos = vec![
            todo("read", TodoState::Done),
            todo("write", TodoState::Doing),
        ];
        let records = [
            prompt,
            SessionRecord::Planned { todos },
            began("c0", "make"),
            ended("c0", Some(("make", 0))),
            began("c1", "Edit a.rs"),
            ended("c1", None),
            began("c2", "ls"),
            ended("c2", Some(("ls", 0))),
            began("c3", "make"),
            ended("c3", Some(("make", 0))),
            began("c4", "make lint"),
            ended("c4", Some(("make lint", 0))),
            began("c5", "make lint"),
            ended("c5", Some(("make lint", 1))),
        ];
        for record in &records {
            origins.apply_record(record);
        }
        let expected = ChangeOrigin {
            prompt: "fix it".to_owned(),
            step: Some("write".to_owned()),
            call: "Edit a.rs".to_owned(),
            checks: vec!["make".to_owned()],
        };
        assert_eq!(origins.origin([(1, "c1")]), Some(expected));
        assert_eq!(origins.origin([]), None);
        let of_subagent = origins.origin([(7, "other")]);
        assert_eq!(of_subagent, Some(ChangeOrigin::default()));
    }
}
