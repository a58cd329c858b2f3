//! One rule: a tool, and what of it.

use std::fmt;

use crate::globs::Glob;
use crate::tool::{Access, Scope, ToolClass};
use crate::tools::{by_name, names};

use super::command::{Command, Line};
use super::matching::{self, Whole};
use super::places::home;

/// A rule as it was written, and what it means.
#[derive(Clone, Debug)]
pub(super) struct Pattern {
    written: String,
    tool: Which,
    what: What,
}

/// Which tools.
#[derive(Clone, Debug)]
enum Which {
    All,
    /// All of a class: `Edit`, `Read`.
    Class(ToolClass),
    Name(String),
    /// All tools of a server: `mcp__files`.
    Server(String),
}

/// What of it.
#[derive(Clone, Debug)]
enum What {
    Anything,
    /// A command that begins with these words.
    Prefix(Vec<String>),
    /// A command as a whole.
    Whole(Whole),
    Path(Glob),
    Domain(String),
}

/// Whether a rule speaks of any part of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Touch {
    No,
    /// That depends on what is known only when a command runs.
    Maybe,
    Yes,
}

/// A call from the point of view of rules.
pub(super) struct Subject<'a> {
    pub(super) name: &'a str,
    pub(super) class: ToolClass,
    pub(super) access: &'a Access,
    pub(super) line: Option<&'a Line>,
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.written)
    }
}

impl Pattern {
    /// Reads a rule.
    pub(super) fn read(rule: &str) -> Result<Self, String> {
        let written = rule.trim().to_owned();
        let (tool, what) = match written.split_once('(') {
            None => (written.as_str(), None),
            Some((tool, rest)) => match rest.strip_suffix(')') {
                Some(what) => (tool.trim(), Some(what.trim())),
                None => return Err(format!("the rule {written:?} lacks its last bracket")),
            },
        };
        let which = which(tool).ok_or_else(|| format!("the rule {written:?} names no tool"))?;
        let what = match what {
            None | Some("" | "*") => What::Anything,
            Some(what) => {
                what_of(&which, what).map_err(|error| format!("the rule {written:?}: {error}"))?
            }
        };
        Ok(Self {
            written,
            tool: which,
            what,
        })
    }

    /// The rule, unless it must be of a tool that exists and is not: a slip of the pen forbids nothing.
    pub(super) fn of_known_tool(self, must_exist: bool) -> Result<Self, String> {
        match &self.tool {
            Which::Name(name) if must_exist && by_name(name).is_none() && !is_foreign(name) => {
                Err(format!(
                    "the rule {:?} is of a tool that does not exist",
                    self.written
                ))
            }
            _ => Ok(self),
        }
    }

    /// The whole tool of a rule whose rest cannot be read.
    pub(super) fn whole_tool(rule: &str) -> Option<Self> {
        let tool = rule.split('(').next().unwrap_or(rule).trim();
        Some(Self {
            written: rule.trim().to_owned(),
            tool: which(tool)?,
            what: What::Anything,
        })
    }

    /// Whether it speaks of any part of a call: enough to forbid it or to ask for it.
    pub(super) fn touches(&self, subject: &Subject<'_>) -> Touch {
        if let (What::Path(glob), Some(line)) = (&self.what, subject.line) {
            return self.touches_files(glob, line);
        }
        if self.is_of_commands() && types_into_terminal(subject) {
            return Touch::Maybe;
        }
        if !self.is_of(subject) {
            return Touch::No;
        }
        let is_touched = match (&self.what, subject.line) {
            (What::Prefix(_) | What::Whole(_), Some(line)) => return self.touches_line(line),
            (What::Prefix(_) | What::Whole(_), None) => false,
            (What::Anything, _) => true,
            (What::Path(glob), _) => paths(subject).any(|path| is_below(glob, path)),
            (What::Domain(domain), _) => is_domain(domain, subject.access.host.as_deref()),
        };
        match is_touched {
            true => Touch::Yes,
            false => Touch::No,
        }
    }

    /// The words of a command that are no options.
    fn words(&self) -> Vec<&str> {
        let words: Vec<&str> = match &self.what {
            What::Prefix(prefix) => prefix.iter().map(String::as_str).collect(),
            What::Whole(whole) => whole.literals(),
            _ => Vec::new(),
        };
        words
            .into_iter()
            .filter(|it| !it.starts_with('-'))
            .collect()
    }

    /// Whether it is about some commands.
    fn is_of_commands(&self) -> bool {
        matches!(self.what, What::Prefix(_) | What::Whole(_))
    }

    /// Whether a command line may run what it speaks of.
    fn touches_line(&self, line: &Line) -> Touch {
        let program = match &self.what {
            What::Prefix(prefix) => prefix.first().map(String::as_str),
            What::Whole(whole) => whole.program(),
            _ => None,
        };
        let Some(program) = program else {
            // It may be about any program: what is not understood may be it.
            return match line.is_understood() {
                true => line.touched(&|command| self.touches_command(command, "")),
                false => Touch::Maybe,
            };
        };
        match line.is_understood() {
            false if line.mentions(program) => Touch::Yes,
            false => Touch::Maybe,
            true => {
                let touch = line.touched(&|it| self.touches_command(it, program));
                match line.sets(program) || line.may_write_and_run(&self.words()) {
                    true => touch.max(Touch::Maybe),
                    false => touch,
                }
            }
        }
    }

    fn touches_command(&self, command: &Command, program: &str) -> Touch {
        let touch = match &self.what {
            What::Prefix(prefix) => matching::begins(command, prefix),
            What::Whole(whole) => matching::is_whole(command, whole),
            _ => Touch::No,
        };
        let hides = command.is_opaque
            || command.is_given(program)
            || command.is_interpreter() && command.is_told(program);
        match hides {
            true => touch.max(Touch::Maybe),
            false => touch,
        }
    }

    /// Whether a command line names files that it speaks of: to read them, or to do anything else with them.
    fn touches_files(&self, glob: &Glob, line: &Line) -> Touch {
        let is_of_reading = matches!(self.tool, Which::Class(ToolClass::Read));
        let is_of_changing = matches!(self.tool, Which::Class(ToolClass::Edit));
        let is_named = || line.files().iter().any(|path| is_below(glob, path));
        match is_of_reading || is_of_changing && !line.is_read_only() {
            true if is_named() => Touch::Yes,
            _ => Touch::No,
        }
    }

    /// Whether it speaks of all of a call that runs no command: enough to allow it.
    pub(super) fn covers(&self, subject: &Subject<'_>) -> bool {
        if !self.is_of(subject) {
            return false;
        }
        match &self.what {
            What::Anything => true,
            What::Prefix(_) | What::Whole(_) => false,
            What::Path(glob) => {
                paths(subject).next().is_some() && paths(subject).all(|path| is_below(glob, path))
            }
            What::Domain(domain) => is_domain(domain, subject.access.host.as_deref()),
        }
    }

    /// Whether it allows all commands, whatever they are.
    pub(super) fn is_of_all_commands(&self, subject: &Subject<'_>) -> bool {
        matches!(self.what, What::Anything) && self.is_of(subject)
    }

    /// Whether it is about commands, and of this one.
    pub(super) fn is_about(&self, command: &Command, subject: &Subject<'_>) -> bool {
        self.is_of(subject) && self.fits(command)
    }

    /// Whether it is a line as it is written, letter by letter.
    pub(super) fn spells_out(&self, line: &Line, subject: &Subject<'_>) -> bool {
        matches!(&self.what, What::Whole(whole) if whole.is(line.written.trim()))
            && self.is_of(subject)
    }

    /// Whether it speaks of a simple command: enough to allow it.
    fn fits(&self, command: &Command) -> bool {
        match &self.what {
            What::Anything => true,
            What::Prefix(prefix) => {
                let words = command.words.iter();
                command.words.len() >= prefix.len()
                    && words
                        .zip(prefix)
                        .all(|(word, wanted)| word.is_certain() && word.text == *wanted)
            }
            What::Whole(whole) => whole.fits(&command.words),
            What::Path(_) | What::Domain(_) => false,
        }
    }

    fn is_of(&self, subject: &Subject<'_>) -> bool {
        match &self.tool {
            Which::All => true,
            Which::Class(class) => *class == subject.class,
            Which::Name(name) => name == subject.name,
            Which::Server(server) => subject
                .name
                .strip_prefix(server.as_str())
                .is_some_and(|rest| rest.is_empty() || rest.starts_with("__")),
        }
    }
}

/// Whether a call types into a program that runs, which may be a shell.
fn types_into_terminal(subject: &Subject<'_>) -> bool {
    let mut writes = subject.access.writes.iter();
    subject.name == "write_stdin" && writes.any(|scope| matches!(scope, Scope::Tree(_)))
}

/// Tools beside those of `names`, and those of other programs whose rules people bring along.
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

fn which(tool: &str) -> Option<Which> {
    let is_name = |sign: char| sign.is_alphanumeric() || "_-.*".contains(sign);
    if tool.is_empty() || !tool.chars().all(is_name) {
        return None;
    }
    Some(match tool {
        "*" => Which::All,
        // As people write them: a rule about reading is about every way to read.
        "Read" | "read" => Which::Class(ToolClass::Read),
        "Edit" | "edit" => Which::Class(ToolClass::Edit),
        "Fetch" => Which::Name("fetch".to_owned()),
        _ if tool.starts_with("mcp__") => {
            Which::Server(tool.trim_end_matches('*').trim_end_matches("__").to_owned())
        }
        _ => Which::Name(by_name(tool).unwrap_or(tool).to_owned()),
    })
}

fn what_of(which: &Which, what: &str) -> Result<What, String> {
    let domain = what.strip_prefix("domain:");
    match which {
        Which::Name(name) if name == "exec_command" => Ok(of_commands(what)),
        Which::Name(name) if name == "fetch" || name == "web_search" => match domain {
            Some(domain) => Ok(What::Domain(domain.trim().to_lowercase())),
            None => Err("a host is written as domain:example.com".to_owned()),
        },
        Which::All | Which::Server(_) => Err("it takes nothing in brackets".to_owned()),
        Which::Class(_) | Which::Name(_) if domain.is_none() => {
            Ok(What::Path(Glob::new(&rooted(what)?)?))
        }
        Which::Class(_) | Which::Name(_) => Err("it is about files, not hosts".to_owned()),
    }
}

fn of_commands(what: &str) -> What {
    let Some(prefix) = what.strip_suffix(":*") else {
        return What::Whole(Whole::read(what));
    };
    let words: Vec<String> = prefix.split_whitespace().map(str::to_owned).collect();
    match words.is_empty() {
        true => What::Anything,
        false => What::Prefix(words),
    }
}

/// A path of a rule: `//` from the top of the disk, `~/` from the home, anything else from the root.
fn rooted(path: &str) -> Result<String, String> {
    if let Some(inner) = path.strip_prefix("~/") {
        let home = home().ok_or("this machine has no home folder for `~`")?;
        return Ok(format!("{home}/{inner}"));
    }
    match path.strip_prefix("//") {
        Some(inner) => Ok(format!("/{inner}")),
        None => Ok(path
            .strip_prefix('/')
            .map_or(path.to_owned(), |inner| format!("./{inner}"))),
    }
}

/// The paths that a call touches: what it changes, or where it changes nothing, what it looks at.
fn paths<'a>(subject: &Subject<'a>) -> impl Iterator<Item = &'a str> + use<'a> {
    let access = subject.access;
    let scopes = match access.writes.is_empty() {
        true => &access.reads,
        false => &access.writes,
    };
    scopes.iter().filter_map(|scope| match scope {
        Scope::Path(path) | Scope::Tree(path) => Some(path.as_str()),
        Scope::Own(_) => None,
    })
}

/// Whether a path matches, or lies in a folder that does.
fn is_below(glob: &Glob, path: &str) -> bool {
    let above = path.match_indices('/').map(|(at, _)| &path[..at]);
    // A folder itself is meant by `folder/**` too.
    let inside = format!("{path}/x");
    glob.matches(path)
        || glob.matches(&inside)
        || above
            .filter(|above| !above.is_empty())
            .any(|above| glob.matches(above))
}

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

/// A tool's name as people write it in rules.
pub(super) fn written(own: &str) -> String {
    names::shown(own, model::ToolNames::Pascal)
}
