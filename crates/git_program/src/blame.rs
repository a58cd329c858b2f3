//! Blame: the commit of each line, streamed as Git finds it.
//!
//! Pure but for `GitProgram::blame`. One process answers for a file; its first lines come within milliseconds.

use std::collections::HashMap;
use std::ops::{ControlFlow, Range};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use host::{Files, RealFiles};

use crate::call::GitCall;
use crate::cancellation::Cancellation;
use crate::error::Error;
use crate::program::GitProgram;
use crate::quoted::unquote;
use crate::records::{RecordSplitter, is_object_id, number, text};

/// The usual name of the file with revisions that blame skips.
const IGNORED_REVISIONS: &str = ".git-blame-ignore-revs";

/// The options of a blame.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BlameOptions {
    /// The unsaved content of the file, as it would be on disk; its own lines are not committed.
    pub content: Option<Vec<u8>>,
    /// The revision to start at; HEAD and the working tree if `None`.
    pub revision: Option<String>,
    /// Skips changes of white space alone.
    pub ignore_whitespace: bool,
    /// Finds lines moved within a file and copied from files of the same commit. Slow.
    pub moves: bool,
    /// Skips the revisions that the repository lists as mere reformatting.
    pub with_ignored_revisions: bool,
}

/// Consecutive lines last changed by one commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlamedLines {
    /// The lines in the blamed content, counted from 0.
    pub lines: Range<u32>,
    /// The first of these lines in the commit's version of the file, counted from 0.
    pub source_line: u32,
    /// The path of the file in the commit.
    pub source_path: PathBuf,
    /// The commit.
    pub commit: Arc<BlamedCommit>,
}

/// A commit of a blame.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BlamedCommit {
    /// The commit id in full; `None` for lines that are not committed.
    pub id: Option<String>,
    /// The author's name.
    pub author: String,
    /// The author's address.
    pub address: String,
    /// Author time in seconds since 1970.
    pub seconds: i64,
    /// The first line of the message.
    pub subject: String,
    /// The commit before this one that had the file, with its path there.
    pub previous: Option<(String, PathBuf)>,
    /// Whether the history is cut here, as in a shallow clone.
    pub is_boundary: bool,
}

impl GitProgram {
    /// Streams the blame of a file, relative to the root, until `on_lines` breaks. The order is that
    /// in which Git finds the commits.
    pub fn blame(
        &self,
        path: &Path,
        options: BlameOptions,
        cancellation: &Cancellation,
        on_lines: &mut dyn FnMut(BlamedLines) -> ControlFlow<()>,
    ) -> Result<(), Error> {
        let mut parser = BlameParser::default();
        let call = self.blame_call(path, options)?;
        self.stream(call, cancellation, &mut |bytes| {
            let mut flow = ControlFlow::Continue(());
            for lines in parser.feed(bytes) {
                flow = on_lines(lines);
                if flow.is_break() {
                    break;
                }
            }
            flow
        })
    }

    fn blame_call(&self, path: &Path, options: BlameOptions) -> Result<GitCall, Error> {
        let mut call = GitCall::read("blame")
            .arg("--incremental")
            .arg("--encoding=UTF-8")
            .arg_if(options.ignore_whitespace, "-w")
            .arg_if(options.moves, "-M")
            .arg_if(options.moves, "-C");
        if !options.with_ignored_revisions {
            call = call.arg("--ignore-revs-file=");
        } else if RealFiles.exists(&self.root().join(IGNORED_REVISIONS)) {
            call = call.arg(format!("--ignore-revs-file={IGNORED_REVISIONS}"));
        }
        if let Some(content) = options.content {
            call = call.args(["--contents", "-"]).input(content);
        }
        if let Some(revision) = &options.revision {
            call = call.name(revision)?;
        }
        Ok(call.arg("--").arg(path))
    }
}

/// Reads the output of `git blame --incremental`, in any pieces.
#[derive(Debug)]
pub struct BlameParser {
    splitter: RecordSplitter,
    state: BlameState,
}

#[derive(Debug, Default)]
struct BlameState {
    /// The commits by id; their data comes with their first lines only.
    commits: HashMap<String, Arc<BlamedCommit>>,
    open: Option<OpenBlame>,
}

/// Lines whose description is incomplete.
#[derive(Debug)]
struct OpenBlame {
    id: String,
    lines: Range<u32>,
    source_line: u32,
    commit: BlamedCommit,
}

impl Default for BlameParser {
    fn default() -> Self {
        Self {
            splitter: RecordSplitter::new(b'\n'),
            state: BlameState::default(),
        }
    }
}

impl BlameParser {
    /// Returns the lines that `bytes` complete.
    pub fn feed(&mut self, bytes: &[u8]) -> Vec<BlamedLines> {
        let mut found = Vec::new();
        let state = &mut self.state;
        self.splitter
            .feed(bytes, &mut |line| found.extend(state.read(line)));
        found
    }
}

impl BlameState {
    fn read(&mut self, line: &[u8]) -> Option<BlamedLines> {
        let Some(open) = &mut self.open else {
            self.open = self.begin(line);
            return None;
        };
        let end = line
            .iter()
            .position(|byte| *byte == b' ')
            .unwrap_or(line.len());
        let (key, value) = line.split_at(end);
        let value = value.get(1..).unwrap_or_default();
        let commit = &mut open.commit;
        match key {
            b"author" => commit.author = text(value),
            b"author-mail" => commit.address = text(value).trim_matches(['<', '>']).to_owned(),
            b"author-time" => commit.seconds = number(value).unwrap_or(0),
            b"summary" => commit.subject = text(value),
            b"boundary" => commit.is_boundary = true,
            b"previous" => {
                let mut parts = value.splitn(2, |byte| *byte == b' ');
                let id = parts.next().filter(|id| is_object_id(id));
                commit.previous = id
                    .zip(parts.next())
                    .map(|(id, path)| (text(id), unquote(path)));
            }
            b"filename" => return self.end(unquote(value)),
            _ => {}
        }
        None
    }

    /// Reads `ID SOURCE_LINE LINE COUNT`.
    fn begin(&self, line: &[u8]) -> Option<OpenBlame> {
        let mut words = line.split(|byte| *byte == b' ');
        let id = text(words.next().filter(|id| is_object_id(id))?);
        let mut numbers = words.map(number::<u32>);
        let source = numbers.next()??.checked_sub(1)?;
        let first = numbers.next()??.checked_sub(1)?;
        let count = numbers.next()??;
        let known = self.commits.get(&id);
        let commit = known.map(|known| (**known).clone()).unwrap_or_default();
        Some(OpenBlame {
            lines: first..first.checked_add(count)?,
            source_line: source,
            commit,
            id,
        })
    }

    fn end(&mut self, source_path: PathBuf) -> Option<BlamedLines> {
        let mut open = self.open.take()?;
        let is_committed = open.id.bytes().any(|digit| digit != b'0');
        open.commit.id = is_committed.then(|| open.id.clone());
        let commit = match self.commits.get(&open.id) {
            Some(known) if **known == open.commit => Arc::clone(known),
            _ => Arc::new(open.commit),
        };
        self.commits.insert(open.id, Arc::clone(&commit));
        Some(BlamedLines {
            lines: open.lines,
            source_line: open.source_line,
            source_path,
            commit,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::{BlameParser, BlamedLines};

    const OUTPUT: &str = "1111111111111111111111111111111111111111 3 1 2\nauthor A B\nauthor-mail <a@b>\n\
        author-time 170\nauthor-tz +0000\nsummary one\nprevious 2222222222222222222222222222222222222222 old name\n\
        filename new name\n\
        0000000000000000000000000000000000000000 3 3 1\nauthor Not Committed Yet\nfilename \"t\\303\\244b\\t.txt\"\n\
        1111111111111111111111111111111111111111 9 4 1\nfilename new name\n";

    fn read(piece: usize) -> Vec<BlamedLines> {
        let mut parser = BlameParser::default();
        let pieces = OUTPUT.as_bytes().chunks(piece);
        pieces.flat_map(|bytes| parser.feed(bytes)).collect()
    }

    #[test]
    fn lines_and_commits_are_read() {
        let found = read(usize::MAX);
        let lines: Vec<_> = found
            .iter()
            .map(|it| (it.lines.clone(), it.source_line))
            .collect();
        assert_eq!(lines, [(0..2, 2), (2..3, 2), (3..4, 8)]);
        assert_eq!(found[0].commit.author, "A B");
        assert_eq!(
            (found[0].commit.address.as_str(), found[0].commit.seconds),
            ("a@b", 170)
        );
        let previous = found[0]
            .commit
            .previous
            .as_ref()
            .expect("a previous commit");
        assert_eq!(previous.1, PathBuf::from("old name"));
        assert_eq!(found[1].commit.id, None);
        assert_eq!(found[1].source_path, PathBuf::from("täb\t.txt"));
        assert!(std::sync::Arc::ptr_eq(&found[0].commit, &found[2].commit));
    }

    #[test]
    fn pieces_and_damage_change_nothing_and_never_panic() {
        for piece in [1, 5, 77] {
            assert_eq!(read(piece), read(usize::MAX));
        }
        let mut parser = BlameParser::default();
        let huge = "1111111111111111111111111111111111111111 1 4294967295 4294967295\nfilename x\n";
        assert!(parser.feed(huge.as_bytes()).is_empty());
        assert!(parser.feed(b"1111 0 0 0\n\n \nfilename\n").is_empty());
    }
}
