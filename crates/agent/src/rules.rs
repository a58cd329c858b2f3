//! Permission rules: the calls that are allowed, asked for and denied. The user's rules override
//! the defaults.
//!
//! A rule is written as `Tool` or `Tool(what)`: `Bash(git status:*)`, `Edit(src/**)`,
//! `Read(~/.ssh/**)`, `Fetch(domain:docs.rs)`, `mcp__files`. Deny overrides ask, ask overrides
//! allow, and any rule overrides the default. The settings are `permissions: { allow, ask, deny,
//! edits }` for all projects and `projects: { "/a/folder": { allow, ask, deny } }` for one.
//!
//! Must not know: how the user is asked. Invariant: a call that is not understood is asked for; if
//! a deny or ask rule is not understood, every call is asked for.
//! Start at `PermissionRules::evaluate`; `PermissionRules::rules_for` turns a decision for the session into rules.

mod command;
mod harmless;
mod matching;
mod parse;
mod pattern;
mod policy;
pub(crate) mod sensitive_paths;
mod width;

use base::NameRules;
use serde_json::Value;

use crate::record::SessionMode;
use crate::tool::{CallInput, LockScope, SandboxScope, Tool, ToolAccess, ToolCall, ToolClass};

use self::command::CommandLine;
use self::pattern::{MatchCertainty, RulePattern, RuleSubject};

pub use harmless::is_read_only;
pub use policy::{RulePolicy, RuleScope, SaveRules, UnmatchedCalls};

/// The decision of the rules about a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RuleVerdict {
    /// The call is allowed.
    Allow,
    /// The user is asked first.
    Ask {
        /// The reason in a few words, for the user.
        reason: String,
        /// Whether only the user may answer; `--yes` does not.
        is_firm: bool,
    },
    /// The call is denied.
    Deny {
        /// The reason as a sentence, for the model.
        reason: String,
    },
}

/// A defect in the permissions file, with its position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PermissionProblem {
    /// The keys of the entry, from the outermost; the index in a list is written as a number.
    pub path: Vec<String>,
    /// The defect in a few words.
    pub message: String,
    /// Whether the entry could hide a deny or ask rule, so that every call is asked for.
    pub closes: bool,
}

/// The permission rules of a session, with the defaults for calls that match none. Immutable.
#[derive(Clone, Debug, Default)]
pub struct PermissionRules {
    allow: Vec<RulePattern>,
    ask: Vec<RulePattern>,
    deny: Vec<RulePattern>,
    /// Whether edits below the root are asked for when no rule matches.
    asks_for_edits: bool,
    /// The reason every call is asked for; `None` if all rules are understood.
    closed: Option<String>,
    /// The rules by which the project's volume compares names.
    names: NameRules,
}

impl PermissionRules {
    /// Parses the rules of a project from the permissions file. A deny or ask rule that cannot be
    /// parsed applies to its whole tool, and every call is asked for until it is corrected. A deny
    /// or ask rule matches every spelling of a name that `names` takes for the same.
    pub fn of(settings: &Value, project: &str, names: NameRules) -> (Self, Vec<PermissionProblem>) {
        parse::rules(settings, project, names)
    }

    /// Returns the same rules with every call asked for because of `reason`.
    pub fn closed(mut self, reason: String) -> Self {
        self.closed = Some(reason);
        self
    }

    /// Returns the rules with more allow rules: those from `rules_for`, once the user agreed.
    pub fn with_allowed(&self, rules: &[String]) -> Self {
        let mut more = self.clone();
        let patterns = rules.iter().filter_map(|rule| RulePattern::read(rule).ok());
        more.allow.extend(patterns);
        more
    }

    /// Returns the rules without the allow rules that are written like this.
    pub fn without_allowed(&self, rule: &str) -> Self {
        let mut fewer = self.clone();
        fewer.allow.retain(|pattern| pattern.to_string() != rule);
        fewer
    }

    /// Returns whether a deny rule covers every call of the tool with this name.
    pub fn denies_tool(&self, name: &str) -> bool {
        self.deny.iter().any(|pattern| pattern.covers_tool(name))
    }

    /// Decides whether a call may run. In this order, the first that applies wins: a deny rule, the
    /// mode, the protection of sensitive files, the closed state, an ask rule, an allow rule. A
    /// call that no rule matches gets the default of its class: reading below the root and commands
    /// that only read are allowed, for example, and network access is asked for.
    pub fn evaluate(
        &self,
        tool: &dyn Tool,
        call: &ToolCall,
        access: &ToolAccess,
        mode: SessionMode,
    ) -> RuleVerdict {
        let class = class_of(tool, access);
        let folded_access = (self.names != NameRules::EXACT).then(|| folded(access));
        let command = |access: &ToolAccess| access.command.as_deref().map(CommandLine::read);
        let folded_line = folded_access.as_ref().and_then(command);
        let folded_subject = folded_access.as_ref().map(|access| RuleSubject {
            name: tool.name(),
            class,
            access,
            line: folded_line.as_ref(),
            folded: None,
        });
        let line = command(access);
        let subject = RuleSubject {
            name: tool.name(),
            class,
            access,
            line: line.as_ref(),
            folded: folded_subject.as_ref(),
        };
        let denying =
            |touch: MatchCertainty| self.deny.iter().find(|it| it.touches(&subject) == touch);
        if let Some(pattern) = denying(MatchCertainty::Yes) {
            return deny(format!(
                "The rule {pattern} denies it. Do it another way, or ask the user."
            ));
        }
        if let Some(verdict) = forbidden_by_mode(&subject, mode) {
            return verdict;
        }
        if let Some(verdict) = sensitive_paths::guarded(&subject.class, access) {
            return verdict;
        }
        if let Some(reason) = &self.closed
            && subject.class != ToolClass::Interact
        {
            return firm(reason.clone());
        }
        // No rule can allow a call that may include one that another rule forbids.
        if let Some(pattern) = denying(MatchCertainty::Maybe) {
            return firm(format!(
                "the commands it runs are known only at run time, and the rule {pattern} denies some of them"
            ));
        }
        let asking = |it: &&RulePattern| it.touches(&subject) != MatchCertainty::No;
        if let Some(pattern) = self.ask.iter().find(asking) {
            return ask(format!("the rule {pattern} asks for it"));
        }
        if self.covers(&subject) {
            RuleVerdict::Allow
        } else {
            self.default_verdict(&subject, call)
        }
    }

    /// Returns whether allow rules match every part of a call.
    fn covers(&self, subject: &RuleSubject<'_>) -> bool {
        match subject.line {
            Some(line) => line.is_covered(&self.allow, subject),
            None => self.allow.iter().any(|pattern| pattern.covers(subject)),
        }
    }

    /// Returns the default decision when no rule matches.
    fn default_verdict(&self, subject: &RuleSubject<'_>, call: &ToolCall) -> RuleVerdict {
        let access = subject.access;
        match subject.class {
            ToolClass::Read => match sensitive_paths::outside(&access.reads) {
                None => RuleVerdict::Allow,
                Some(path) => firm(format!("{path} is outside the project")),
            },
            ToolClass::Edit => match sensitive_paths::outside(&access.writes) {
                Some(path) => deny(format!(
                    "{path} is outside the project; only files below its folder can be changed."
                )),
                None if self.asks_for_edits => ask("edits need permission".to_owned()),
                None if is_recursive(call) => {
                    ask("it removes a folder with everything in it".to_owned())
                }
                None => RuleVerdict::Allow,
            },
            ToolClass::Execute => match (subject.line, changes_something(access)) {
                (Some(line), _) if line.is_read_only() => RuleVerdict::Allow,
                (None, false) => RuleVerdict::Allow,
                (Some(line), _)
                    if !line.is_understood()
                        && access.sandbox_scope != SandboxScope::SessionFolder =>
                {
                    ask("the command line cannot be fully analyzed".to_owned())
                }
                _ => match access.sandbox_scope {
                    SandboxScope::SessionFolder => RuleVerdict::Allow,
                    SandboxScope::Project => {
                        ask("it runs a program, which can change your project".to_owned())
                    }
                    SandboxScope::Unconfined => {
                        ask("it runs a program with your rights".to_owned())
                    }
                },
            },
            ToolClass::Network => ask(match &access.host {
                Some(host) => format!("it reaches {host}"),
                None => "it reaches the network".to_owned(),
            }),
            ToolClass::Interact | ToolClass::Delegate => RuleVerdict::Allow,
            ToolClass::Foreign => ask(format!("{} comes from outside", subject.name)),
        }
    }

    /// Returns the rules that would allow this call and similar ones, for a decision for the
    /// session or permanently. Empty if only this one call can be allowed.
    pub fn rules_for(&self, tool: &dyn Tool, access: &ToolAccess) -> Vec<String> {
        let class = class_of(tool, access);
        if self.closed.is_some() || sensitive_paths::guarded(&class, access).is_some() {
            return Vec::new();
        }
        match (class, &access.command) {
            (ToolClass::Execute, Some(command)) => CommandLine::read(command).rules(),
            (ToolClass::Edit, _) => vec!["Edit(**)".to_owned()],
            (ToolClass::Read, _) => {
                let outside = access.reads.iter().filter_map(|scope| match scope {
                    LockScope::Path(path) if path.starts_with('/') => {
                        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
                        Some(format!("Read(/{folder}/**)"))
                    }
                    LockScope::Tree(path) if path.starts_with('/') => {
                        Some(format!("Read(/{path}/**)"))
                    }
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

/// Returns the rules that would allow a command line and similar ones: one rule for each command
/// that needs one, or a rule for exactly this line if it cannot be analyzed.
pub fn rules_of(command: &str) -> Vec<String> {
    CommandLine::read(command).rules()
}

/// Returns the resources of a call that rules match, with folded names.
fn folded(access: &ToolAccess) -> ToolAccess {
    let fold = |scope: &LockScope| match scope {
        LockScope::Path(path) => LockScope::Path(pattern::folded(path)),
        LockScope::Tree(path) => LockScope::Tree(pattern::folded(path)),
        own @ LockScope::Own(_) => own.clone(),
    };
    ToolAccess {
        reads: access.reads.iter().map(fold).collect(),
        writes: access.writes.iter().map(fold).collect(),
        command: access.command.as_deref().map(pattern::folded),
        host: access.host.clone(),
        sandbox_scope: access.sandbox_scope,
        ..ToolAccess::default()
    }
}

/// Returns the class of a call's effects: a patch typed as a command is an edit.
fn class_of(tool: &dyn Tool, access: &ToolAccess) -> ToolClass {
    let is_file = |scope: &LockScope| matches!(scope, LockScope::Path(_));
    match tool.class() {
        ToolClass::Execute if access.command.is_none() && access.writes.iter().any(is_file) => {
            ToolClass::Edit
        }
        class => class,
    }
}

/// Returns the denial of a call that the session's mode forbids: in `Plan` and `Ask`, edits and
/// commands that do more than read. `None` if the mode permits the call.
fn forbidden_by_mode(subject: &RuleSubject<'_>, mode: SessionMode) -> Option<RuleVerdict> {
    let what = match mode {
        SessionMode::Build => return None,
        SessionMode::Plan => "This session makes a plan; nothing is changed meanwhile.",
        SessionMode::Ask => "This session answers questions; nothing is changed in it.",
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

/// Returns whether a call changes more than the session's own state.
fn changes_something(access: &ToolAccess) -> bool {
    let mut writes = access.writes.iter();
    writes.any(|scope| !matches!(scope, LockScope::Own(_)))
}

/// Returns whether the argument `recursive` of the call has a value other than null and false.
fn is_recursive(call: &ToolCall) -> bool {
    let CallInput::Json(input) = &call.input else {
        return false;
    };
    let flag = input.get("recursive");
    flag.is_some_and(|flag| !matches!(flag, Value::Null | Value::Bool(false)))
}

fn ask(reason: String) -> RuleVerdict {
    RuleVerdict::Ask {
        reason,
        is_firm: false,
    }
}

fn firm(reason: String) -> RuleVerdict {
    RuleVerdict::Ask {
        reason,
        is_firm: true,
    }
}

fn deny(reason: String) -> RuleVerdict {
    RuleVerdict::Deny { reason }
}

#[cfg(test)]
mod tests;
