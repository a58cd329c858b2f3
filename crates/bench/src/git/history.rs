//! A repository with a long history: 24,000 commits with merges of topics, 1,500 of which change one large file.
//!
//! The same numbers make the same commits in every run.

use std::io::{self, Write};

use base::AbsPath;

use super::repositories::{self, run_git};
use crate::interleave::Dice;

/// Number of commits. Those of the last topics are not merged.
pub(super) const COMMITS: usize = 24_000;
/// The large file, which the window's benchmark opens too.
pub(super) const LARGE: &str = "src/large.rs";
/// One commit in so many changes the large file.
const LARGE_EVERY: usize = 16;
/// Lines of the large file in the first commit; about 3.3 more come with each later version.
const FIRST_LINES: u32 = 3_000;
/// Other files, and files of a folder.
const FILES: usize = 600;
const IN_FOLDER: usize = 20;
/// Topics that go on at the same time, and the commits of each.
const TOPICS: usize = 4;
const TOPIC_COMMITS: usize = 6;
/// Mark of the first commit in the stream; those of the large file's versions begin at 1.
const COMMIT_MARK: usize = 100_000;
const MAIN: &str = "refs/heads/main";

/// The file with which git walks the history faster, as `git gc` writes it.
#[derive(Clone, Copy)]
pub(super) enum GraphFile {
    Ignored,
    Used,
}

impl GraphFile {
    pub(super) const ALL: [Self; 2] = [Self::Ignored, Self::Used];

    /// Returns the words for the name of a figure.
    pub(super) fn label(self) -> &'static str {
        match self {
            Self::Ignored => "without a commit-graph",
            Self::Used => "with a commit-graph",
        }
    }

    /// Returns the variables of a git that uses the file or not.
    pub(super) fn variables(self) -> [(&'static str, &'static str); 3] {
        let value = match self {
            Self::Ignored => "false",
            Self::Used => "true",
        };
        [
            ("GIT_CONFIG_COUNT", "1"),
            ("GIT_CONFIG_KEY_0", "core.commitGraph"),
            ("GIT_CONFIG_VALUE_0", value),
        ]
    }
}

/// Returns the repository.
pub(super) fn kept_history() -> Result<AbsPath, String> {
    repositories::kept("history-1", |root| {
        repositories::import(root, |out| {
            write_versions(out)?;
            HistoryWriter::new(out).write()
        })?;
        let arguments = ["commit-graph", "write", "--reachable", "--changed-paths"];
        run_git(root, &arguments).map(drop)
    })
}

/// Writes all versions of the large file in a row, so that each is stored as a difference from the one before.
fn write_versions(out: &mut dyn Write) -> io::Result<()> {
    let mut dice = Dice::new(3);
    let mut lines: Vec<u32> = (0..FIRST_LINES).collect();
    let mut next = FIRST_LINES;
    for version in 0..COMMITS / LARGE_EVERY {
        if version > 0 {
            let at = dice.below(lines.len());
            let removed = dice.below(4).min(lines.len() - at);
            let added = removed + 3 + usize::from(dice.below(3) == 0);
            let end = next + added as u32;
            lines.splice(at..at + removed, next..end);
            next = end;
        }
        let line = |number: &u32| {
            let value = number * 7_919 % 10_007;
            format!("pub const VALUE_{number}: u32 = {value};\n")
        };
        let text: String = lines.iter().map(line).collect();
        let (mark, length) = (large_mark(version), text.len());
        writeln!(out, "blob\nmark :{mark}\ndata {length}\n{text}")?;
    }
    Ok(())
}

fn large_mark(version: usize) -> usize {
    version + 1
}

/// A file that a commit changes, with the number of its new version.
#[derive(Clone, Copy)]
enum ChangedFile {
    Large(usize),
    Small { file: usize, version: usize },
}

/// A line of development that is not merged yet.
struct Topic {
    tip: usize,
    changes: Vec<ChangedFile>,
}

/// Writes the commits. Parents are marks.
struct HistoryWriter<'a> {
    out: &'a mut dyn Write,
    dice: Dice,
    main: usize,
    topics: [Option<Topic>; TOPICS],
}

impl<'a> HistoryWriter<'a> {
    fn new(out: &'a mut dyn Write) -> Self {
        Self {
            out,
            dice: Dice::new(5),
            main: COMMIT_MARK,
            topics: std::array::from_fn(|_| None),
        }
    }

    fn write(mut self) -> io::Result<()> {
        let files = (0..FILES).map(|file| ChangedFile::Small { file, version: 0 });
        let all: Vec<ChangedFile> = files.chain([ChangedFile::Large(0)]).collect();
        self.commit(0, MAIN, &[], &all)?;
        for ix in 1..COMMITS {
            if ix.is_multiple_of(LARGE_EVERY) {
                let change = ChangedFile::Large(ix / LARGE_EVERY);
                self.commit_to_main(ix, &[], &[change])?;
                continue;
            }
            let file = self.dice.below(FILES);
            let change = ChangedFile::Small { file, version: ix };
            match self.dice.below(TOPICS + 1) {
                TOPICS => self.commit_to_main(ix, &[], &[change])?,
                slot => self.go_on(ix, slot, change)?,
            }
        }
        Ok(())
    }

    fn commit_to_main(
        &mut self,
        ix: usize,
        merged: &[usize],
        changes: &[ChangedFile],
    ) -> io::Result<()> {
        let parents = [&[self.main][..], merged].concat();
        self.main = self.commit(ix, MAIN, &parents, changes)?;
        Ok(())
    }

    /// Begins a topic, adds a commit to it, or merges it.
    fn go_on(&mut self, ix: usize, slot: usize, change: ChangedFile) -> io::Result<()> {
        let reference = format!("refs/heads/topic-{slot}");
        let topic = match self.topics[slot].take() {
            Some(topic) if topic.changes.len() >= TOPIC_COMMITS => {
                return self.commit_to_main(ix, &[topic.tip], &topic.changes);
            }
            Some(topic) => topic,
            None => Topic {
                tip: self.main,
                changes: Vec::new(),
            },
        };
        let Topic { tip, mut changes } = topic;
        let tip = self.commit(ix, &reference, &[tip], &[change])?;
        changes.push(change);
        self.topics[slot] = Some(Topic { tip, changes });
        Ok(())
    }

    /// Writes a commit and returns its mark.
    fn commit(
        &mut self,
        ix: usize,
        reference: &str,
        parents: &[usize],
        changes: &[ChangedFile],
    ) -> io::Result<usize> {
        let (mark, author, seconds) = (COMMIT_MARK + ix, ix % 40, 1_600_000_000 + ix * 600);
        let person = format!("Author {author} <author{author}@localhost> {seconds} +0000");
        let subject = match parents {
            [_, _] => format!("Merge topic at {ix}"),
            _ => format!("Change the values of part {ix}"),
        };
        let length = subject.len();
        writeln!(
            self.out,
            "commit {reference}\nmark :{mark}\nauthor {person}\ncommitter {person}\ndata {length}\n{subject}"
        )?;
        for (ix, parent) in parents.iter().enumerate() {
            let word = if ix == 0 { "from" } else { "merge" };
            writeln!(self.out, "{word} :{parent}")?;
        }
        for change in changes {
            self.change(*change)?;
        }
        writeln!(self.out)?;
        Ok(mark)
    }

    fn change(&mut self, change: ChangedFile) -> io::Result<()> {
        match change {
            ChangedFile::Large(version) => {
                writeln!(self.out, "M 100644 :{} {LARGE}", large_mark(version))
            }
            ChangedFile::Small { file, version } => {
                let folder = file / IN_FOLDER;
                let text = small_text(version);
                let length = text.len();
                writeln!(
                    self.out,
                    "M 100644 inline src/part{folder}/file{file}.rs\ndata {length}\n{text}"
                )
            }
        }
    }
}

/// Returns a text in which one line depends on the version.
fn small_text(version: usize) -> String {
    let line = |line: usize| {
        let is_changed = line == version % IN_FOLDER;
        let value = if is_changed { version } else { line };
        format!("pub const PART_{line}: usize = {value};\n")
    };
    (0..IN_FOLDER).map(line).collect()
}
