//! The history: queries and their rows, streamed.
//!
//! Pure but for `GitProgram::log`. Rows come in an order in which every commit precedes its parents, so that `graph` can
//! place them one by one.

use std::ops::{ControlFlow, RangeInclusive};
use std::path::PathBuf;

use crate::call::{GitCall, check_name};
use crate::cancellation::Cancellation;
use crate::error::Error;
use crate::program::GitProgram;
use crate::records::{RecordSplitter, is_object_id, number, text};

/// The fields of a row, each ended by a zero byte.
const FORMAT: &str = "--format=tformat:%H%x00%P%x00%aN%x00%aE%x00%at%x00%D%x00%s";
/// Number of fields of `FORMAT`; the last one is ended by `-z`.
const FIELDS: usize = 7;

/// A query of the history.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogQuery {
    /// Revisions in Git's notation, such as `main`, `a..b` or `^old`; empty for HEAD.
    pub range: Vec<String>,
    /// Every branch, tag and remote branch instead of `range`.
    pub all: bool,
    /// Commits that changed this file or folder, relative to the root.
    pub path: Option<PathBuf>,
    /// Follows the renames of the file `path`.
    pub follow: bool,
    /// A part of the author's name or address.
    pub author: Option<String>,
    /// A part of the message, without regard to case.
    pub text: Option<String>,
    /// Text that a commit added or removed.
    pub pickaxe: Option<Pickaxe>,
    /// A date that Git understands, such as `2 weeks ago`.
    pub since: Option<String>,
    /// The history of these lines of a file, counted from 1. Excludes `path`.
    pub lines: Option<(PathBuf, RangeInclusive<u32>)>,
    /// The order of the rows.
    pub order: LogOrder,
    /// The largest number of rows.
    pub limit: Option<usize>,
}

/// A search in the changes of commits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pickaxe {
    /// The number of occurrences of this text changed (`-S`).
    Count(String),
    /// An added or removed line matches this regular expression (`-G`).
    Lines(String),
}

/// The order of rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LogOrder {
    /// By date, but no commit before its children. Streams early.
    #[default]
    Date,
    /// Lines of development are not mixed.
    Topological,
}

/// A commit of the history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogRow {
    /// The commit id in full.
    pub id: String,
    /// The ids of the parents.
    pub parents: Vec<String>,
    /// The author's name.
    pub author: String,
    /// The author's address.
    pub address: String,
    /// Author time in seconds since 1970.
    pub seconds: i64,
    /// The references that point to the commit.
    pub refs: Vec<RefLabel>,
    /// The first line of the message.
    pub subject: String,
}

/// A reference at a commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefLabel {
    /// The kind of the reference.
    pub kind: RefKind,
    /// The name without the folder of its kind.
    pub name: String,
    /// Whether HEAD is this branch, or this is a detached HEAD.
    pub is_head: bool,
}

/// The kind of a reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefKind {
    /// A local branch.
    Branch,
    /// A branch of a remote.
    Remote,
    /// A tag.
    Tag,
    /// A detached HEAD.
    Head,
    /// Another reference, such as that of the stash.
    Other,
}

impl GitProgram {
    /// Streams the rows of the history to `on_row` until it breaks.
    pub fn log(
        &self,
        query: &LogQuery,
        cancellation: &Cancellation,
        on_row: &mut dyn FnMut(LogRow) -> ControlFlow<()>,
    ) -> Result<(), Error> {
        self.log_excluding(query, &[], cancellation, on_row)
    }

    /// Streams the rows with further options for the range, which are ours.
    pub(crate) fn log_excluding(
        &self,
        query: &LogQuery,
        excluded: &[String],
        cancellation: &Cancellation,
        on_row: &mut dyn FnMut(LogRow) -> ControlFlow<()>,
    ) -> Result<(), Error> {
        let mut parser = LogParser::default();
        let call = log_call(query, excluded)?;
        self.stream(call, cancellation, &mut |bytes| {
            let mut flow = ControlFlow::Continue(());
            for row in parser.feed(bytes) {
                flow = on_row(row);
                if flow.is_break() {
                    break;
                }
            }
            flow
        })
    }
}

fn log_call(query: &LogQuery, excluded: &[String]) -> Result<GitCall, Error> {
    let mut call = GitCall::read("log").args([
        "-z",
        "-s",
        "--no-show-signature",
        "--no-color",
        "--encoding=UTF-8",
        "--decorate=full",
        FORMAT,
    ]);
    call = call.arg(match query.order {
        LogOrder::Date => "--date-order",
        LogOrder::Topological => "--topo-order",
    });
    if let Some(limit) = query.limit {
        call = call.arg(format!("--max-count={limit}"));
    }
    for (option, value) in [
        ("--author", &query.author),
        ("--grep", &query.text),
        ("--since", &query.since),
    ] {
        if let Some(value) = value {
            call = call.arg(format!("{option}={value}"));
        }
    }
    let is_text = query.author.is_some() || query.text.is_some();
    call = call
        .arg_if(is_text, "--regexp-ignore-case")
        .arg_if(is_text, "--fixed-strings");
    call = match &query.pickaxe {
        Some(Pickaxe::Count(text)) => call.arg(format!("-S{text}")),
        Some(Pickaxe::Lines(pattern)) => call.arg(format!("-G{pattern}")),
        None => call,
    };
    if let Some((path, lines)) = &query.lines {
        let mut option = std::ffi::OsString::from(format!("-L{},{}:", lines.start(), lines.end()));
        option.push(path);
        call = call.arg(option);
    }
    let follows = query.follow && query.path.is_some();
    call = call.arg_if(follows, "--follow").arg_if(query.all, "--all");
    for revision in &query.range {
        check_name(revision)?;
        call = call.arg(revision);
    }
    call.arguments.extend(excluded.iter().map(Into::into));
    // A line history has its path already, and accepts no second one.
    if query.lines.is_none() {
        call = call.arg("--");
        call.arguments.extend(query.path.iter().map(Into::into));
    }
    Ok(call)
}

/// Reads the output of `git log` in `FORMAT`, in any pieces.
#[derive(Debug)]
pub struct LogParser {
    splitter: RecordSplitter,
    fields: Vec<Vec<u8>>,
}

impl Default for LogParser {
    fn default() -> Self {
        Self {
            splitter: RecordSplitter::new(0),
            fields: Vec::with_capacity(FIELDS),
        }
    }
}

impl LogParser {
    /// Returns the rows that `bytes` complete.
    pub fn feed(&mut self, bytes: &[u8]) -> Vec<LogRow> {
        let mut rows = Vec::new();
        let fields = &mut self.fields;
        self.splitter.feed(bytes, &mut |field| {
            // After a field that was lost, the next commit id begins a row.
            if fields.is_empty() && !is_object_id(field) {
                return;
            }
            fields.push(field.to_vec());
            if fields.len() == FIELDS {
                rows.extend(row(fields));
                fields.clear();
            }
        });
        rows
    }
}

fn row(fields: &[Vec<u8>]) -> Option<LogRow> {
    let [id, parents, author, address, seconds, refs, subject] = fields else {
        return None;
    };
    let parents = parents.split(|byte| *byte == b' ');
    Some(LogRow {
        id: text(id),
        parents: parents.filter(|id| is_object_id(id)).map(text).collect(),
        author: text(author),
        address: text(address),
        seconds: number(seconds).unwrap_or(0),
        refs: ref_labels(&text(refs)),
        subject: text(subject),
    })
}

/// Reads the decoration of a commit, such as `HEAD -> refs/heads/a, tag: refs/tags/b`.
pub(crate) fn ref_labels(decoration: &str) -> Vec<RefLabel> {
    let labels = decoration.split(", ").filter(|label| !label.is_empty());
    labels.map(ref_label).collect()
}

fn ref_label(label: &str) -> RefLabel {
    let (is_head, name) = match label.strip_prefix("HEAD -> ") {
        Some(name) => (true, name),
        None => (label == "HEAD", label),
    };
    let name = name.strip_prefix("tag: ").unwrap_or(name);
    let kinds = [
        ("refs/heads/", RefKind::Branch),
        ("refs/remotes/", RefKind::Remote),
        ("refs/tags/", RefKind::Tag),
    ];
    let found = kinds
        .iter()
        .find_map(|(prefix, kind)| Some((*kind, name.strip_prefix(prefix)?)));
    let other = if name == "HEAD" {
        RefKind::Head
    } else {
        RefKind::Other
    };
    let (kind, name) = found.unwrap_or((other, name));
    RefLabel {
        kind,
        name: name.to_owned(),
        is_head,
    }
}

#[cfg(test)]
mod tests;
