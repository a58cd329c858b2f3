//! Which calls may be made, which are asked for, which never: rules of the person over what goes without saying.
//!
//! A rule is written as `Tool` or `Tool(what)`: `Bash(git status:*)`, `Edit(src/**)`, `Read(~/.ssh/**)`,
//! `Fetch(domain:docs.rs)`, `mcp__files`. Forbidding wins over asking, asking over allowing, a rule over what goes
//! without saying. In settings they are `permissions: { allow, ask, deny, edits }` for all projects and
//! `projects: { "/a/folder": { allow, ask, deny } }` for one.
//!
//! Must not know: who is asked. Invariant: what is not understood is asked for; where a rule that forbids or asks is not
//! understood, every call is.
//! Start at `Rules::judge`; what a decision for the session becomes is in `Rules::rules_for`.

mod command;
mod harmless;
mod judging;
mod matching;
mod pattern;
pub(crate) mod places;
mod reading;
mod width;

use serde_json::Value;

use crate::record::Mode;
use crate::tool::{Access, Call, Input, Kept, Scope, Tool, ToolClass};

use self::command::Line;
use self::pattern::{Pattern, Subject, Touch};

pub use harmless::is_read_only;
pub use judging::{Keep, Reach, RuleJudge, Unasked};

/// What a call may.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is made.
    Allow,
    /// The person is asked.
    Ask {
        /// Why, in a few words for the person.
        reason: String,
        /// Whether only the person may answer it: `--yes` does not.
        is_firm: bool,
    },
    /// It is not made.
    Deny {
        /// Why, as a sentence for the model.
        reason: String,
    },
}

/// Something in the permissions that was not understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Its keys, from the outermost; an index in a list is written as a number.
    pub path: Vec<String>,
    /// What is wrong, in a few words.
    pub message: String,
    /// Whether it could hide a rule that forbids or asks, so that every call is asked for.
    pub closes: bool,
}

/// The rules of a session.
#[derive(Clone, Debug, Default)]
pub struct Rules {
    allow: Vec<Pattern>,
    ask: Vec<Pattern>,
    deny: Vec<Pattern>,
    /// Whether edits below the root are asked for, where no rule speaks of them.
    asks_for_edits: bool,
    /// Why every call is asked for; `None` where the rules are understood.
    closed: Option<String>,
}

impl Rules {
    /// The rules of a project from the permissions file's value. A rule that forbids or asks and cannot be read stands
    /// for its whole tool, and every call is asked for until it is mended.
    pub fn of(settings: &Value, project: &str) -> (Self, Vec<Problem>) {
        reading::rules(settings, project)
    }

    /// The same rules, with every call asked for because of `reason`.
    pub fn closed(mut self, reason: String) -> Self {
        self.closed = Some(reason);
        self
    }

    /// The same with rules that allow more: what `rules_for` gave, once the person agreed.
    pub fn with_allowed(&self, rules: &[String]) -> Self {
        let mut more = self.clone();
        let patterns = rules.iter().filter_map(|rule| Pattern::read(rule).ok());
        more.allow.extend(patterns);
        more
    }

    /// What a call may.
    pub fn judge(&self, tool: &dyn Tool, call: &Call, access: &Access, mode: Mode) -> Verdict {
        let line = access.command.as_deref().map(Line::read);
        let subject = Subject {
            name: tool.name(),
            class: class_of(tool, access),
            access,
            line: line.as_ref(),
        };
        let denying = |touch: Touch| self.deny.iter().find(|it| it.touches(&subject) == touch);
        if let Some(pattern) = denying(Touch::Yes) {
            return deny(format!(
                "The rule {pattern} forbids it. Do it another way, or ask the person."
            ));
        }
        if let Some(verdict) = forbidden_by_mode(&subject, mode) {
            return verdict;
        }
        if let Some(verdict) = places::guarded(&subject.class, access) {
            return verdict;
        }
        if let Some(reason) = &self.closed
            && subject.class != ToolClass::Interact
        {
            return firm(reason.clone());
        }
        // No rule can allow what may be what another forbids.
        if let Some(pattern) = denying(Touch::Maybe) {
            return firm(format!(
                "what it runs is known only when it runs, and the rule {pattern} forbids a part of that"
            ));
        }
        let asking = |it: &&Pattern| it.touches(&subject) != Touch::No;
        if let Some(pattern) = self.ask.iter().find(asking) {
            return ask(format!("the rule {pattern} asks for it"));
        }
        match self.covers(&subject) {
            true => Verdict::Allow,
            false => self.unspoken(&subject, call),
        }
    }

    /// Whether rules that allow speak of every part of a call.
    fn covers(&self, subject: &Subject<'_>) -> bool {
        match subject.line {
            Some(line) => line.is_covered(&self.allow, subject),
            None => self.allow.iter().any(|pattern| pattern.covers(subject)),
        }
    }

    /// What goes without saying.
    fn unspoken(&self, subject: &Subject<'_>, call: &Call) -> Verdict {
        let access = subject.access;
        match subject.class {
            ToolClass::Read => match places::outside(&access.reads) {
                None => Verdict::Allow,
                Some(path) => firm(format!("{path} lies outside of the project")),
            },
            ToolClass::Edit => match places::outside(&access.writes) {
                Some(path) => deny(format!(
                    "{path} lies outside of the project; only files below its folder can be changed."
                )),
                None if self.asks_for_edits => ask("edits are asked for".to_owned()),
                None if takes_all(call) => {
                    ask("it removes a folder with everything in it".to_owned())
                }
                None => Verdict::Allow,
            },
            ToolClass::Execute => match (subject.line, changes_something(access)) {
                (Some(line), _) if line.is_read_only() => Verdict::Allow,
                (None, false) => Verdict::Allow,
                (Some(line), _) if !line.is_understood() && access.kept != Kept::ToOwnGround => {
                    ask("the command line cannot be read for certain".to_owned())
                }
                _ => match access.kept {
                    Kept::ToOwnGround => Verdict::Allow,
                    Kept::ToProject => {
                        ask("it runs a program, which can change your project".to_owned())
                    }
                    Kept::Free => ask("it runs a program with your rights".to_owned()),
                },
            },
            ToolClass::Network => ask(match &access.host {
                Some(host) => format!("it reaches {host}"),
                None => "it reaches the network".to_owned(),
            }),
            ToolClass::Interact | ToolClass::Delegate => Verdict::Allow,
            ToolClass::Foreign => ask(format!("{} comes from outside", subject.name)),
        }
    }

    /// The rules by which this call, and all like it, would be allowed from now on: for a decision for the
    /// session or for always. Empty where nothing wider than this once can be allowed.
    pub fn rules_for(&self, tool: &dyn Tool, access: &Access) -> Vec<String> {
        let class = class_of(tool, access);
        if self.closed.is_some() || places::guarded(&class, access).is_some() {
            return Vec::new();
        }
        match (class, &access.command) {
            (ToolClass::Execute, Some(command)) => Line::read(command).rules(),
            (ToolClass::Edit, _) => vec!["Edit(**)".to_owned()],
            (ToolClass::Read, _) => {
                let outside = access.reads.iter().filter_map(|scope| match scope {
                    Scope::Path(path) if path.starts_with('/') => {
                        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
                        Some(format!("Read(/{folder}/**)"))
                    }
                    Scope::Tree(path) if path.starts_with('/') => Some(format!("Read(/{path}/**)")),
                    _ => None,
                });
                outside.collect()
            }
            (ToolClass::Network, _) => match &access.host {
                Some(host) => vec![format!("{}(domain:{host})", pattern::written(tool.name()))],
                None => vec![pattern::written(tool.name())],
            },
            _ => vec![pattern::written(tool.name())],
        }
    }
}

/// The rules by which a command line, and all like it, would be allowed: what commands have in common that one decision
/// is for.
pub fn rules_of(command: &str) -> Vec<String> {
    Line::read(command).rules()
}

/// The effect of a call: a patch that was typed as a command is an edit.
fn class_of(tool: &dyn Tool, access: &Access) -> ToolClass {
    let is_file = |scope: &Scope| matches!(scope, Scope::Path(_));
    match tool.class() {
        ToolClass::Execute if access.command.is_none() && access.writes.iter().any(is_file) => {
            ToolClass::Edit
        }
        class => class,
    }
}

fn forbidden_by_mode(subject: &Subject<'_>, mode: Mode) -> Option<Verdict> {
    let what = match mode {
        Mode::Build => return None,
        Mode::Plan => "This session makes a plan; nothing is changed meanwhile.",
        Mode::Ask => "This session answers questions; nothing is changed in it.",
    };
    let is_forbidden = match subject.class {
        ToolClass::Edit => true,
        ToolClass::Execute => match subject.line {
            Some(line) => !line.is_read_only(),
            None => changes_something(subject.access),
        },
        ToolClass::Read
        | ToolClass::Network
        | ToolClass::Interact
        | ToolClass::Delegate
        | ToolClass::Foreign => false,
    };
    is_forbidden.then(|| {
        deny(format!(
            "{what} Look with read, grep and commands that only read."
        ))
    })
}

/// Whether a call touches more than what is the session's own.
fn changes_something(access: &Access) -> bool {
    let mut writes = access.writes.iter();
    writes.any(|scope| !matches!(scope, Scope::Own(_)))
}

fn takes_all(call: &Call) -> bool {
    let Input::Json(input) = &call.input else {
        return false;
    };
    let flag = input.get("recursive");
    flag.is_some_and(|flag| !matches!(flag, Value::Null | Value::Bool(false)))
}

fn ask(reason: String) -> Verdict {
    Verdict::Ask {
        reason,
        is_firm: false,
    }
}

fn firm(reason: String) -> Verdict {
    Verdict::Ask {
        reason,
        is_firm: true,
    }
}

fn deny(reason: String) -> Verdict {
    Verdict::Deny { reason }
}

#[cfg(test)]
mod tests;
