//! A single rule: a tool, and the calls of it that match.

use std::fmt;

use base::NameRules;

use crate::error::{Error, RuleDefect};
use crate::globs::PathGlob;
use crate::tool::{LockScope, ToolAccess, ToolClass};
use crate::tool_names::{by_name, display_name};

use super::command::{CommandInvocation, CommandLine};
use super::matching::{self, CommandPattern};
use super::sensitive_paths::home;

/// A rule as it was written, and its meaning.
#[derive(Clone, Debug)]
pub(super) struct RulePattern {
    written: String,
    tool: RuleTool,
    what: RuleTarget,
    /// The same rule with folded names, on a volume that folds them.
    folded: Option<Box<RulePattern>>,
}

/// The tools a rule applies to.
#[derive(Clone, Debug)]
enum RuleTool {
    All,
    /// All tools of a class: `Edit`, `Read`.
    Class(ToolClass),
    Name(String),
    /// All tools of a server: `mcp__files`.
    Server(String),
}

/// The calls of the tool that a rule applies to.
#[derive(Clone, Debug)]
enum RuleTarget {
    Anything,
    /// A command that begins with these words.
    Prefix(Vec<String>),
    /// A pattern for the whole command.
    Whole(CommandPattern),
    Path(PathGlob),
    Domain(String),
}

/// Whether a rule matches a call or a part of it; ordered, so that the maximum is the strongest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum MatchCertainty {
    No,
    /// The answer depends on data known only when a command runs.
    Maybe,
    Yes,
}

/// A call, as rules match it.
pub(super) struct RuleSubject<'a> {
    pub(super) name: &'a str,
    pub(super) class: ToolClass,
    pub(super) access: &'a ToolAccess,
    pub(super) line: Option<&'a CommandLine>,
    /// The same call with folded names, on a volume that folds them.
    pub(super) folded: Option<&'a RuleSubject<'a>>,
}

impl fmt::Display for RulePattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.written)
    }
}

impl RulePattern {
    /// Parses a rule as written in the permissions file.
    pub(super) fn read(rule: &str) -> Result<Self, Error> {
        let written = rule.trim().to_owned();
        let invalid = |defect| Error::InvalidRule {
            rule: written.clone(),
            defect,
        };
        let (tool, what) = match written.split_once('(') {
            None => (written.as_str(), None),
            Some((tool, rest)) => match rest.strip_suffix(')') {
                Some(what) => (tool.trim(), Some(what.trim())),
                None => return Err(invalid(RuleDefect::NoClosingBracket)),
            },
        };
        let which = which(tool).ok_or_else(|| invalid(RuleDefect::NoTool))?;
        let what = match what {
            None | Some("" | "*") => RuleTarget::Anything,
            Some(what) => what_of(&which, what).map_err(invalid)?,
        };
        Ok(Self {
            written,
            tool: which,
            what,
            folded: None,
        })
    }

    /// Makes the rule match names in every spelling that a volume with these rules takes for the
    /// same, when it denies or asks; allowing stays exact.
    pub(super) fn with_names(mut self, names: NameRules) -> Self {
        if names != NameRules::EXACT
            && let Some((tool, what)) = self.written.split_once('(')
        {
            let rule = format!("{tool}({}", folded(what));
            let folded = Self::read(&rule).ok().or_else(|| Self::whole_tool(&rule));
            self.folded = folded.map(Box::new);
        }
        self
    }

    /// Rejects a rule for a tool that does not exist, if `must_exist`: a misspelled rule would
    /// forbid nothing. Tools of MCP servers count as existing.
    pub(super) fn of_known_tool(self, must_exist: bool) -> Result<Self, Error> {
        match &self.tool {
            RuleTool::Name(name) if must_exist && by_name(name).is_none() && !is_foreign(name) => {
                Err(Error::InvalidRule {
                    rule: self.written,
                    defect: RuleDefect::UnknownTool,
                })
            }
            _ => Ok(self),
        }
    }

    /// Returns the rule for the whole tool, for a rule whose remainder cannot be parsed; `None` if
    /// its tool is unknown too.
    pub(super) fn whole_tool(rule: &str) -> Option<Self> {
        let tool = rule.split('(').next().unwrap_or(rule).trim();
        Some(Self {
            written: rule.trim().to_owned(),
            tool: which(tool)?,
            what: RuleTarget::Anything,
            folded: None,
        })
    }

    /// Matches any part of a call: enough to deny it or to ask for it.
    pub(super) fn touches(&self, subject: &RuleSubject<'_>) -> MatchCertainty {
        let touch = self.touches_as_written(subject);
        match (&self.folded, subject.folded) {
            (Some(folded), Some(subject)) => touch.max(folded.touches_as_written(subject)),
            _ => touch,
        }
    }

    fn touches_as_written(&self, subject: &RuleSubject<'_>) -> MatchCertainty {
        if let (RuleTarget::Path(glob), Some(line)) = (&self.what, subject.line) {
            return self.touches_files(glob, line);
        }
        if self.is_of_commands() && types_into_terminal(subject) {
            return MatchCertainty::Maybe;
        }
        if !self.is_of(subject) {
            return MatchCertainty::No;
        }
        let is_touched = match (&self.what, subject.line) {
            (RuleTarget::Prefix(_) | RuleTarget::Whole(_), Some(line)) => {
                return self.touches_line(line);
            }
            (RuleTarget::Prefix(_) | RuleTarget::Whole(_), None) => false,
            (RuleTarget::Anything, _) => true,
            (RuleTarget::Path(glob), _) => paths(subject).any(|path| is_below(glob, path)),
            (RuleTarget::Domain(domain), _) => is_domain(domain, subject.access.host.as_deref()),
        };
        if is_touched {
            MatchCertainty::Yes
        } else {
            MatchCertainty::No
        }
    }

    /// Returns the words of a command pattern that are not options.
    fn literal_words(&self) -> Vec<&str> {
        let words: Vec<&str> = match &self.what {
            RuleTarget::Prefix(prefix) => prefix.iter().map(String::as_str).collect(),
            RuleTarget::Whole(whole) => whole.literals(),
            _ => Vec::new(),
        };
        words
            .into_iter()
            .filter(|it| !it.starts_with('-'))
            .collect()
    }

    /// Returns whether the rule matches specific commands.
    fn is_of_commands(&self) -> bool {
        matches!(self.what, RuleTarget::Prefix(_) | RuleTarget::Whole(_))
    }

    /// Returns whether a command line may run a command that the rule matches.
    fn touches_line(&self, line: &CommandLine) -> MatchCertainty {
        let program = match &self.what {
            RuleTarget::Prefix(prefix) => prefix.first().map(String::as_str),
            RuleTarget::Whole(whole) => whole.program(),
            _ => None,
        };
        let Some(program) = program else {
            // The rule may match any program, so a line that is not understood may match.
            return if line.is_understood() {
                line.touched(&|command| self.touches_command(command, ""))
            } else {
                MatchCertainty::Maybe
            };
        };
        if !line.is_understood() && line.mentions(program) {
            MatchCertainty::Yes
        } else if !line.is_understood() {
            MatchCertainty::Maybe
        } else {
            let touch = line.touched(&|it| self.touches_command(it, program));
            if line.sets(program) || line.may_write_and_run(&self.literal_words()) {
                touch.max(MatchCertainty::Maybe)
            } else {
                touch
            }
        }
    }

    fn touches_command(&self, command: &CommandInvocation, program: &str) -> MatchCertainty {
        let touch = match &self.what {
            RuleTarget::Prefix(prefix) => matching::begins(command, prefix),
            RuleTarget::Whole(whole) => matching::is_whole(command, whole),
            _ => MatchCertainty::No,
        };
        let hides = command.is_opaque
            || command.is_given(program)
            || command.is_interpreter() && command.is_told(program);
        if hides {
            touch.max(MatchCertainty::Maybe)
        } else {
            touch
        }
    }

    /// Returns whether a command line names files that the rule matches, to read or to change them.
    fn touches_files(&self, glob: &PathGlob, line: &CommandLine) -> MatchCertainty {
        let is_of_reading = matches!(self.tool, RuleTool::Class(ToolClass::Read));
        let is_of_changing = matches!(self.tool, RuleTool::Class(ToolClass::Edit));
        let is_named = || line.files().iter().any(|path| is_below(glob, path));
        match is_of_reading || is_of_changing && !line.is_read_only() {
            true if is_named() => MatchCertainty::Yes,
            _ => MatchCertainty::No,
        }
    }

    /// Returns whether the rule matches all of a call that runs no command: enough to allow it.
    pub(super) fn covers(&self, subject: &RuleSubject<'_>) -> bool {
        if !self.is_of(subject) {
            return false;
        }
        match &self.what {
            RuleTarget::Anything => true,
            RuleTarget::Prefix(_) | RuleTarget::Whole(_) => false,
            RuleTarget::Path(glob) => {
                paths(subject).next().is_some() && paths(subject).all(|path| is_below(glob, path))
            }
            RuleTarget::Domain(domain) => is_domain(domain, subject.access.host.as_deref()),
        }
    }

    /// Returns whether the rule matches every call of the tool with this name, a tool of a server.
    pub(super) fn covers_tool(&self, name: &str) -> bool {
        let is_of = match &self.tool {
            RuleTool::All => true,
            RuleTool::Class(class) => *class == ToolClass::Foreign,
            RuleTool::Name(tool) => tool == name,
            RuleTool::Server(server) => is_of_server(name, server),
        };
        is_of && matches!(self.what, RuleTarget::Anything)
    }

    /// Returns whether the rule allows every command: it names the command tool without brackets.
    pub(super) fn is_of_all_commands(&self, subject: &RuleSubject<'_>) -> bool {
        matches!(self.what, RuleTarget::Anything) && self.is_of(subject)
    }

    /// Returns whether the rule applies to commands and matches this one.
    pub(super) fn is_about(&self, command: &CommandInvocation, subject: &RuleSubject<'_>) -> bool {
        self.is_of(subject) && self.fits(command)
    }

    /// Returns whether the rule is exactly this line as written.
    pub(super) fn spells_out(&self, line: &CommandLine, subject: &RuleSubject<'_>) -> bool {
        matches!(&self.what, RuleTarget::Whole(whole) if whole.is(line.written.trim()))
            && self.is_of(subject)
    }

    /// Returns whether the rule matches a simple command: enough to allow it.
    fn fits(&self, command: &CommandInvocation) -> bool {
        match &self.what {
            RuleTarget::Anything => true,
            RuleTarget::Prefix(prefix) => {
                let words = command.words.iter();
                command.words.len() >= prefix.len()
                    && words
                        .zip(prefix)
                        .all(|(word, wanted)| word.is_certain() && word.text == *wanted)
            }
            RuleTarget::Whole(whole) => whole.fits(&command.words),
            RuleTarget::Path(_) | RuleTarget::Domain(_) => false,
        }
    }

    /// Returns whether the rule is about the tool of the call; its brackets are not considered.
    fn is_of(&self, subject: &RuleSubject<'_>) -> bool {
        match &self.tool {
            RuleTool::All => true,
            RuleTool::Class(class) => *class == subject.class,
            // Rules about commands hold for every tool that runs one.
            RuleTool::Name(name) => {
                let is_command = name == "exec_command" && subject.access.command.is_some();
                name == subject.name || is_command
            }
            RuleTool::Server(server) => is_of_server(subject.name, server),
        }
    }
}

/// Returns whether the tool `name` belongs to a server, given as `mcp__files`.
fn is_of_server(name: &str, server: &str) -> bool {
    let rest = name.strip_prefix(server);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with("__"))
}

/// Returns the key of a text with names, for volumes that fold them.
pub(super) fn folded(text: &str) -> String {
    String::from_utf8_lossy(&NameRules::FOLDING.key(text.as_bytes())).into_owned()
}

/// Returns whether a call types into a running program, which may be a shell.
fn types_into_terminal(subject: &RuleSubject<'_>) -> bool {
    let mut writes = subject.access.writes.iter();
    subject.name == "write_stdin" && writes.any(|scope| matches!(scope, LockScope::Tree(_)))
}

/// Returns whether a name, in any case, is on a list of tools that `by_name` does not know:
/// `skill`, and tools of other programs whose rules users import.
fn is_foreign(name: &str) -> bool {
    const NAMES: &[&str] = &[
        "skill",
        "NotebookEdit",
        "NotebookRead",
        "ExitPlanMode",
        "KillShell",
        "SlashCommand",
    ];
    NAMES.iter().any(|other| other.eq_ignore_ascii_case(name))
}

/// Parses the tool of a rule, the text before the brackets. A name that is not known is taken as
/// the tool's own. `None` if the text is empty or contains anything but letters, digits and `_-.*`.
fn which(tool: &str) -> Option<RuleTool> {
    let is_name = |sign: char| sign.is_alphanumeric() || "_-.*".contains(sign);
    if tool.is_empty() || !tool.chars().all(is_name) {
        return None;
    }
    Some(match tool {
        "*" => RuleTool::All,
        // Users write a rule about reading for every tool that reads.
        "Read" | "read" => RuleTool::Class(ToolClass::Read),
        "Edit" | "edit" => RuleTool::Class(ToolClass::Edit),
        "Fetch" => RuleTool::Name("fetch".to_owned()),
        _ if tool.starts_with("mcp__") => {
            RuleTool::Server(tool.trim_end_matches('*').trim_end_matches("__").to_owned())
        }
        _ => RuleTool::Name(by_name(tool).unwrap_or(tool).to_owned()),
    })
}

/// Parses the text in the brackets of a rule about `which`: a command, a domain after `domain:`, or
/// the glob of a path. Fails if rules of that tool take no brackets, or not this kind, or if the
/// glob is invalid.
fn what_of(which: &RuleTool, what: &str) -> Result<RuleTarget, RuleDefect> {
    let domain = what.strip_prefix("domain:");
    match which {
        RuleTool::Name(name) if name == "exec_command" => Ok(of_commands(what)),
        RuleTool::Name(name) if name == "fetch" || name == "web_search" => match domain {
            Some(domain) => Ok(RuleTarget::Domain(domain.trim().to_lowercase())),
            None => Err(RuleDefect::NoDomain),
        },
        RuleTool::All | RuleTool::Server(_) => Err(RuleDefect::TakesNothing),
        RuleTool::Class(_) | RuleTool::Name(_) if domain.is_none() => {
            let glob = PathGlob::new(&rooted(what)?);
            let glob = glob.map_err(|error| RuleDefect::Glob(error.to_string()))?;
            Ok(RuleTarget::Path(glob))
        }
        RuleTool::Class(_) | RuleTool::Name(_) => Err(RuleDefect::NotAboutHosts),
    }
}

fn of_commands(what: &str) -> RuleTarget {
    let Some(prefix) = what.strip_suffix(":*") else {
        return RuleTarget::Whole(CommandPattern::read(what));
    };
    let words: Vec<String> = prefix.split_whitespace().map(str::to_owned).collect();
    if words.is_empty() {
        RuleTarget::Anything
    } else {
        RuleTarget::Prefix(words)
    }
}

/// Expands a path of a rule: `//` from the file system's root, `~/` from the home folder, anything
/// else from the project root.
fn rooted(path: &str) -> Result<String, RuleDefect> {
    if let Some(inner) = path.strip_prefix("~/") {
        let home = home().ok_or(RuleDefect::NoHomeFolder)?;
        return Ok(format!("{home}/{inner}"));
    }
    match path.strip_prefix("//") {
        Some(inner) => Ok(format!("/{inner}")),
        None => Ok(path
            .strip_prefix('/')
            .map_or(path.to_owned(), |inner| format!("./{inner}"))),
    }
}

/// Returns the paths a call changes or, if it changes none, those it reads.
fn paths<'a>(subject: &RuleSubject<'a>) -> impl Iterator<Item = &'a str> + use<'a> {
    let access = subject.access;
    let scopes = if access.writes.is_empty() {
        &access.reads
    } else {
        &access.writes
    };
    scopes.iter().filter_map(|scope| match scope {
        LockScope::Path(path) | LockScope::Tree(path) => Some(path.as_str()),
        LockScope::Own(_) => None,
    })
}

/// Returns whether a path, or a folder above it, matches.
fn is_below(glob: &PathGlob, path: &str) -> bool {
    let above = path.match_indices('/').map(|(at, _)| &path[..at]);
    // `folder/**` matches the folder itself as well.
    let inside = format!("{path}/x");
    glob.matches(path)
        || glob.matches(&inside)
        || above
            .filter(|above| !above.is_empty())
            .any(|above| glob.matches(above))
}

/// Returns whether `host` is `domain`, which is in lower case, or a name below `x` if `domain` is
/// `*.x`. False without a host.
fn is_domain(domain: &str, host: Option<&str>) -> bool {
    let Some(host) = host.map(str::to_lowercase) else {
        return false;
    };
    match domain.strip_prefix("*.") {
        Some(above) => host
            .strip_suffix(above)
            .is_some_and(|rest| rest.ends_with('.')),
        None => host == domain,
    }
}

/// Returns a tool's name as written in rules: `Bash` for `exec_command`.
pub(super) fn written(own: &str) -> String {
    display_name(own, model::ToolNames::Pascal)
}
