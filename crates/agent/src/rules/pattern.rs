//! One rule: a tool, and what of it.

use std::fmt;

use crate::globs::Glob;
use crate::tool::{Access, Scope, ToolClass};
use crate::tools::{by_name, names};

use super::command::{Command, Line};
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
    /// A command as a whole, `*` standing for anything.
    Whole(String),
    Path(Glob),
    Domain(String),
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
    pub(super) fn touches(&self, subject: &Subject<'_>) -> bool {
        if !self.is_of(subject) {
            return false;
        }
        match (&self.what, subject.line) {
            (What::Anything, _) => true,
            (What::Prefix(_) | What::Whole(_), Some(line)) => {
                line.has(|command| self.fits(command)) || self.may_hide_in(line)
            }
            (What::Prefix(_) | What::Whole(_), None) => false,
            (What::Path(glob), _) => paths(subject).any(|path| is_below(glob, path)),
            (What::Domain(domain), _) => is_domain(domain, subject.access.host.as_deref()),
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
        let is_same = |whole: &String| !whole.contains('*') && *whole == line.written.trim();
        matches!(&self.what, What::Whole(whole) if is_same(whole)) && self.is_of(subject)
    }

    /// Whether a line that does not parse may hold what it speaks of.
    fn may_hide_in(&self, line: &Line) -> bool {
        let first = match &self.what {
            What::Prefix(prefix) => prefix.first().map(String::as_str),
            What::Whole(whole) => whole.split_whitespace().next(),
            _ => None,
        };
        !line.is_understood() && first.is_some_and(|word| line.mentions(word.trim_end_matches('*')))
    }

    /// Whether it speaks of a simple command.
    pub(super) fn fits(&self, command: &Command) -> bool {
        match &self.what {
            What::Anything => true,
            What::Prefix(prefix) => {
                let words: Vec<&str> = command.words.iter().map(String::as_str).collect();
                begins(&words, prefix)
            }
            What::Whole(whole) => is_alike(whole, &command.words.join(" ")),
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
    if let Some(domain) = what.strip_prefix("domain:") {
        return Ok(What::Domain(domain.trim().to_lowercase()));
    }
    if matches!(which, Which::Name(name) if name == "exec_command") {
        let Some(prefix) = what.strip_suffix(":*") else {
            return Ok(What::Whole(what.to_owned()));
        };
        let words: Vec<String> = prefix.split_whitespace().map(str::to_owned).collect();
        return match words.is_empty() {
            true => Ok(What::Anything),
            false => Ok(What::Prefix(words)),
        };
    }
    Ok(What::Path(Glob::new(&rooted(what)?)?))
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

fn begins(words: &[&str], prefix: &[String]) -> bool {
    words.len() >= prefix.len()
        && words
            .iter()
            .zip(prefix)
            .all(|(word, wanted)| word == wanted)
}

/// `*` stands for anything.
fn is_alike(whole: &str, text: &str) -> bool {
    let mut pieces = whole.split('*');
    let first = pieces.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else {
        return false;
    };
    let pieces: Vec<&str> = pieces.collect();
    let Some((last, middle)) = pieces.split_last() else {
        return rest.is_empty();
    };
    for piece in middle {
        match rest.find(piece) {
            Some(at) => rest = &rest[at + piece.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

/// A tool's name as people write it in rules.
pub(super) fn written(own: &str) -> String {
    names::shown(own, model::ToolNames::Pascal)
}
