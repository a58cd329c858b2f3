//! Random lines of random files are staged and unstaged as `git apply --cached` does it.

#![expect(
    clippy::disallowed_methods,
    reason = "the tests ask the real git about repositories on disk"
)]

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::Write as _;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use base::Row;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

use crate::lines::lines_of;
use crate::merge::TreePath;
use crate::merge::tests::Fixture;
use crate::staging::{FileDiff, LineSelection, Side, StagingUndo};

const ATTRIBUTES: &[&str] = &[
    "",
    "* text=auto\n",
    "* text=auto eol=crlf\n",
    "* text=auto eol=lf\n",
    "* text\n",
    "* text eol=crlf\n",
    "* -text\n",
    "* crlf\n",
    "* ident\n",
    "* text=auto ident\n",
    "* eol=crlf ident\n",
    "* working-tree-encoding=UTF-16LE\n",
    "* text=auto working-tree-encoding=UTF-16BE\n",
    "* working-tree-encoding=ISO-8859-1\n",
];

/// The direction in which lines of a diff move.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    Stage,
    Unstage,
}

/// Lines of a diff.
#[derive(Default)]
struct Chosen {
    base: BTreeSet<u32>,
    work: BTreeSet<u32>,
}

impl Chosen {
    fn some_of(diff: &FileDiff, random: &mut StdRng) -> Self {
        let mut chosen = Self::default();
        for hunk in &diff.hunks {
            let base = hunk.base.start.0..hunk.base.end.0;
            let work = hunk.work.start.0..hunk.work.end.0;
            chosen.base.extend(base.filter(|_| random.random_bool(0.5)));
            chosen.work.extend(work.filter(|_| random.random_bool(0.5)));
        }
        chosen
    }

    fn hunk(diff: &FileDiff, ix: usize) -> Self {
        let hunk = &diff.hunks[ix];
        Self {
            base: (hunk.base.start.0..hunk.base.end.0).collect(),
            work: (hunk.work.start.0..hunk.work.end.0).collect(),
        }
    }

    fn selection(&self) -> LineSelection {
        let mut selection = LineSelection::default();
        for row in &self.base {
            selection.add_removed(Row(*row));
        }
        for row in &self.work {
            selection.add_added(Row(*row));
        }
        selection
    }

    fn is_empty(&self) -> bool {
        self.base.is_empty() && self.work.is_empty()
    }
}

/// Returns the lines of a patch with their signs: the index before and after.
fn patch_lines(diff: &FileDiff, chosen: &Chosen, direction: Direction) -> Vec<(u8, Vec<u8>)> {
    let (base, work) = (lines_of(&diff.base), lines_of(&diff.work));
    let mut lines: Vec<(u8, Vec<u8>)> = Vec::new();
    let (old_sign, new_sign) = match direction {
        Direction::Stage => (b'-', b'+'),
        Direction::Unstage => (b'+', b'-'),
    };
    let mut row = 0;
    for hunk in &diff.hunks {
        let (old, new) = (hunk.base, hunk.work);
        for line in &base[row..old.start.0 as usize] {
            lines.push((b' ', line.to_vec()));
        }
        for ix in 0..old.len().max(new.len()) {
            let (at, to) = (old.start.0 + ix, new.start.0 + ix);
            if at < old.end.0 {
                let line = base[at as usize].to_vec();
                if chosen.base.contains(&at) {
                    lines.push((old_sign, line));
                } else if direction == Direction::Stage {
                    lines.push((b' ', line));
                }
            }
            if to < new.end.0 {
                let line = work[to as usize].to_vec();
                if chosen.work.contains(&to) {
                    lines.push((new_sign, line));
                } else if direction == Direction::Unstage {
                    lines.push((b' ', line));
                }
            }
        }
        row = old.end.0 as usize;
    }
    for line in &base[row..] {
        lines.push((b' ', line.to_vec()));
    }
    with_line_feeds(lines)
}

/// Adds the line feed that a last line needs where another one follows it in the result.
fn with_line_feeds(lines: Vec<(u8, Vec<u8>)>) -> Vec<(u8, Vec<u8>)> {
    let last = lines.iter().rposition(|(sign, _)| *sign != b'-');
    let mut fixed = Vec::new();
    for (ix, (sign, mut line)) in lines.into_iter().enumerate() {
        let is_cut = sign != b'-' && !line.ends_with(b"\n") && Some(ix) != last;
        if !is_cut {
            fixed.push((sign, line));
            continue;
        }
        if sign == b' ' {
            fixed.push((b'-', line.clone()));
        }
        line.push(b'\n');
        fixed.push((b'+', line));
    }
    fixed
}

/// Returns a patch of the whole file. `exists` is whether the index has the file before and after.
fn patch(lines: &[(u8, Vec<u8>)], exists: (bool, bool)) -> Vec<u8> {
    let count = |sign: u8| {
        let counted = lines.iter().filter(|(it, _)| *it == b' ' || *it == sign);
        counted.count()
    };
    let range = |count: usize| format!("{},{count}", usize::from(count > 0));
    let mut patch = b"diff --git a/file b/file\n".to_vec();
    let mode = match exists {
        (false, _) => "new file mode 100644\n",
        (_, false) => "deleted file mode 100644\n",
        _ => "",
    };
    patch.extend_from_slice(mode.as_bytes());
    let name = |exists: bool, name: &str| {
        let name = if exists { name } else { "/dev/null" };
        name.to_owned()
    };
    let header = format!(
        "--- {}\n+++ {}\n@@ -{} +{} @@\n",
        name(exists.0, "a/file"),
        name(exists.1, "b/file"),
        range(count(b'-')),
        range(count(b'+')),
    );
    patch.extend_from_slice(header.as_bytes());
    for (sign, line) in lines {
        patch.push(*sign);
        patch.extend_from_slice(line);
        if !line.ends_with(b"\n") {
            patch.extend_from_slice(b"\n\\ No newline at end of file\n");
        }
    }
    patch
}

/// Runs git with another index, on an input.
fn git(fixture: &Fixture, index: &str, arguments: &[&str], input: &[u8]) -> String {
    let mut child = Command::new("git")
        .current_dir(fixture.folder.path())
        .args(arguments)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env(
            "GIT_INDEX_FILE",
            fixture.root.join(".git").join(index).as_path(),
        )
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("git");
    let mut pipe = child.stdin.take().expect("a pipe");
    pipe.write_all(input).expect("written");
    drop(pipe);
    let output = child.wait_with_output().expect("git ends");
    assert!(
        output.status.success(),
        "git {arguments:?}: {}\n{}",
        String::from_utf8_lossy(&output.stderr),
        String::from_utf8_lossy(input)
    );
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn entry(fixture: &Fixture, index: &str) -> String {
    git(fixture, index, &["ls-files", "-s", "file"], b"")
}

/// Copies the index with its time of modification: git compares the bytes of a file that is not
/// older than the index, and would trust the recorded size and time of such a file with a newer index.
fn copy_index(fixture: &Fixture, to: &str) {
    let index = fixture.root.join(".git/index");
    let copy = fixture.root.join(".git").join(to);
    fs::copy(index.as_path(), copy.as_path()).expect("copied");
    let modified = fs::metadata(index.as_path()).and_then(|it| it.modified());
    let file = File::options().write(true).open(copy.as_path());
    file.and_then(|file| file.set_modified(modified?))
        .expect("a time of modification");
}

fn random_text(random: &mut StdRng) -> Vec<String> {
    let count = random.random_range(0..14);
    (0..count).map(|_| random_line(random)).collect()
}

fn random_line(random: &mut StdRng) -> String {
    let words = ["a", "b", "c", "", "  x", "$Id: 12 $", "}", "\u{e4}\u{df}"];
    words[random.random_range(0..words.len())].to_owned()
}

/// Deletes, inserts and rewrites some lines.
fn edited(lines: &[String], random: &mut StdRng) -> Vec<String> {
    let mut text = Vec::new();
    for line in lines {
        match random.random_range(0..8) {
            0 => {}
            1 => text.push(random_line(random)),
            2 => text.extend([line.clone(), random_line(random)]),
            _ => text.push(line.clone()),
        }
    }
    if random.random_bool(0.3) {
        text.push(random_line(random));
    }
    text
}

/// Joins lines with random endings of one style; the last line may lack its ending.
fn joined(lines: &[String], random: &mut StdRng) -> String {
    let style = random.random_range(0..3);
    let mut text = String::new();
    if random.random_bool(0.1) {
        text.push('\u{feff}');
    }
    for line in lines {
        text.push_str(line);
        let is_crlf = style == 1 || style == 2 && random.random_bool(0.5);
        text.push_str(if is_crlf { "\r\n" } else { "\n" });
    }
    if random.random_bool(0.3) && text.ends_with('\n') {
        text.pop();
    }
    text
}

/// Encodes a text as the attribute demands.
fn encoded(text: &str, attributes: &str) -> Vec<u8> {
    let text = text.replace('\u{feff}', "");
    if attributes.contains("UTF-16LE") {
        text.encode_utf16().flat_map(u16::to_le_bytes).collect()
    } else if attributes.contains("UTF-16BE") {
        text.encode_utf16().flat_map(u16::to_be_bytes).collect()
    } else {
        text.chars().map(|letter| letter as u8).collect()
    }
}

/// A repository with one random change.
struct Round {
    fixture: Fixture,
    attributes: &'static str,
    seed: usize,
}

impl Round {
    fn new(seed: usize, random: &mut StdRng) -> Self {
        let fixture = Fixture::new();
        let autocrlf = ["false", "true", "input"][random.random_range(0..3)];
        fixture.git(&["config", "core.autocrlf", autocrlf]);
        fixture.git(&["config", "core.safecrlf", "false"]);
        let attributes = ATTRIBUTES[random.random_range(0..ATTRIBUTES.len())];
        let round = Self {
            fixture,
            attributes,
            seed,
        };
        let is_new = random.random_bool(0.15);
        let lines = random_text(random);
        round.fixture.write("other", "1\n");
        if !is_new {
            // The committed file may have line endings that its attributes forbid.
            if random.random_bool(0.7) {
                round.write_attributes();
            }
            round.write(&joined(&lines, random));
        }
        round.fixture.commit();
        round.write_attributes();
        if random.random_bool(0.1) && !is_new {
            fs::remove_file(round.fixture.root.join("file").as_path()).expect("removed");
        } else {
            let lines = edited(&lines, random);
            round.write(&joined(&lines, random));
        }
        round
    }

    fn write_attributes(&self) {
        // The file with the attributes is itself in no encoding.
        let own = "/.gitattributes !working-tree-encoding\n";
        let attributes = format!("{}{own}", self.attributes);
        self.fixture.write(".gitattributes", &attributes);
    }

    fn write(&self, text: &str) {
        let bytes = if self.attributes.contains("encoding") {
            encoded(text, self.attributes)
        } else {
            text.as_bytes().to_vec()
        };
        fs::write(self.fixture.root.join("file").as_path(), bytes).expect("written");
    }

    /// Returns the diff; `None` if there is no file at all.
    fn diff(&self, side: Side) -> Option<FileDiff> {
        let diff = self
            .fixture
            .repository()
            .file_diff(&TreePath::from("file"), side, None);
        match diff {
            Ok(diff) => Some(diff),
            Err(crate::staging::StagingError::Absent(_)) => None,
            Err(error) => panic!("seed {}: {error}", self.seed),
        }
    }

    /// Moves the chosen lines here and with git, and compares the entries.
    fn step(&self, diff: &FileDiff, chosen: &Chosen, direction: Direction) -> StagingUndo {
        copy_index(&self.fixture, "by-git");
        let repository = self.fixture.repository();
        let selection = chosen.selection();
        let before = entry(&self.fixture, "index");
        let undo = match direction {
            Direction::Stage => repository.stage_lines(diff, &selection),
            Direction::Unstage => repository.unstage_lines(diff, &selection),
        };
        let undo = undo.unwrap_or_else(|error| panic!("seed {}: {error}", self.seed));
        let after = entry(&self.fixture, "index");
        let lines = patch_lines(diff, chosen, direction);
        let patch = patch(&lines, (!before.is_empty(), !after.is_empty()));
        let arguments = ["apply", "--cached", "--recount", "--whitespace=nowarn", "-"];
        git(&self.fixture, "by-git", &arguments, &patch);
        let (seed, attributes) = (self.seed, self.attributes);
        let expected = entry(&self.fixture, "by-git");
        let patch = String::from_utf8_lossy(&patch);
        assert_eq!(after, expected, "seed {seed} {attributes}\n{patch}");
        undo
    }

    /// Stages the remaining hunks one by one in random order.
    fn stage_rest(&self, random: &mut StdRng, undos: &mut Vec<StagingUndo>) {
        while let Some(diff) = self.diff(Side::Unstaged) {
            if diff.hunks.is_empty() {
                break;
            }
            let chosen = Chosen::hunk(&diff, random.random_range(0..diff.hunks.len()));
            undos.push(self.step(&diff, &chosen, Direction::Stage));
        }
    }

    /// Checks that the edits that discard lines lead to the text without them.
    fn check_discard(&self, diff: &FileDiff, chosen: &Chosen) {
        let place = self.fixture.root.join("file");
        if self.attributes.contains("encoding") || !place.as_path().exists() {
            return;
        }
        // Git would convert the restored lines again, and all lines once no lone carriage return makes the text binary.
        let has_cr = [&diff.base, &diff.work]
            .into_iter()
            .any(|it| it.contains(&b'\r'));
        let has_cr = has_cr && self.attributes != "* -text\n";
        let has_keyword = self.attributes.contains("ident")
            && String::from_utf8_lossy(&diff.base).contains("$Id: ");
        if has_cr || has_keyword || diff.whole.is_some() {
            return;
        }
        let raw = fs::read(place.as_path()).expect("a file");
        let edits = diff.discard_edits(&chosen.selection());
        let mut rows: Vec<Vec<u8>> = lines_of(&raw).into_iter().map(<[u8]>::to_vec).collect();
        for edit in edits.expect("edits").into_iter().rev() {
            let range = edit.rows.start.0 as usize..edit.rows.end.0 as usize;
            drop(rows.splice(range, [edit.text]));
        }
        let buffer = rows.concat();
        let kept = chosen.selection().complement(diff).apply(diff);
        let path = TreePath::from("file");
        let discarded = self
            .fixture
            .repository()
            .file_diff(&path, Side::Unstaged, Some(&buffer));
        let discarded = discarded.expect("a diff");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        assert_eq!(
            text(&discarded.work),
            text(&kept),
            "seed {} {}",
            self.seed,
            self.attributes
        );
    }
}

/// Checks the round of a seed; returns the number of selections whose entries were compared with those of git.
fn check_round(seed: usize) -> usize {
    let random = &mut StdRng::seed_from_u64(seed as u64);
    let round = Round::new(seed, random);
    let start = entry(&round.fixture, "index");
    copy_index(&round.fixture, "by-add");
    let Some(first) = round.diff(Side::Unstaged) else {
        return 0;
    };
    let mut undos = Vec::new();
    for _ in 0..3 {
        let Some(diff) = round.diff(Side::Unstaged) else {
            break;
        };
        let chosen = Chosen::some_of(&diff, random);
        round.check_discard(&diff, &chosen);
        if !chosen.is_empty() {
            undos.push(round.step(&diff, &chosen, Direction::Stage));
        }
    }
    round.stage_rest(random, &mut undos);
    let end = entry(&round.fixture, "index");
    if !first.hunks.is_empty() {
        // The index that `git add` would write from here, and from the start unless the line
        // endings of the index decided differently then.
        copy_index(&round.fixture, "by-end");
        git(&round.fixture, "by-end", &["add", "-A"], b"");
        assert_eq!(end, entry(&round.fixture, "by-end"), "seed {seed}");
        let last = round.diff(Side::Unstaged);
        if last.is_none_or(|last| last.work == first.work) {
            git(&round.fixture, "by-add", &["add", "-A"], b"");
            assert_eq!(end, entry(&round.fixture, "by-add"), "seed {seed}");
        }
    }
    let mut unstaged = Vec::new();
    for _ in 0..2 {
        let Some(diff) = round.diff(Side::Staged) else {
            break;
        };
        let chosen = Chosen::some_of(&diff, random);
        if !chosen.is_empty() {
            unstaged.push(round.step(&diff, &chosen, Direction::Unstage));
        }
    }
    for undo in undos.iter().chain(&unstaged).rev() {
        let undone = round.fixture.repository().undo_staging(undo);
        undone.unwrap_or_else(|error| panic!("seed {seed}: {error}"));
    }
    assert_eq!(entry(&round.fixture, "index"), start, "seed {seed}");
    undos.len() + unstaged.len()
}

/// Ends the rounds of the other threads when one fails.
struct EndOnFailure<'a>(&'a AtomicUsize);

impl Drop for EndOnFailure<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.store(usize::MAX / 2, Ordering::Relaxed);
        }
    }
}

/// `BURIN_STAGINGS`, which the soak sets, is the number of selections that are compared; the rounds use all cores.
#[test]
fn random_lines_are_staged_as_git_applies_them() {
    let count: usize = std::env::var("BURIN_STAGINGS").map_or(150, |count| count.parse().unwrap());
    let (compared, next) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let threads = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                let _end = EndOnFailure(&compared);
                while compared.load(Ordering::Relaxed) < count {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    compared.fetch_add(check_round(seed), Ordering::Relaxed);
                }
            });
        }
    });
}
