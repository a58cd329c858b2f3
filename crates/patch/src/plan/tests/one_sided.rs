//! Tests that unified hunks with context on one side apply where Git applies them, or are refused.

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

use super::*;
use crate::format::{EditFormat, parse};

/// Applies a diff with the engine; `None` if a hunk is refused.
fn ours(before: &str, diff: &str) -> Option<String> {
    let parsed = parse(EditFormat::UnifiedDiff, diff);
    if parsed.has_losses() || parsed.files.len() != 1 {
        return None;
    }
    let planned = plan(
        &FileText::new(before),
        &parsed.files[0].change,
        StaleGuard::Off,
    );
    planned.is_complete().then(|| planned.apply(before))
}

struct Git {
    folder: PathBuf,
}

#[expect(clippy::disallowed_methods, reason = "Git itself is the measure")]
impl Git {
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("patch-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        Self { folder }
    }

    /// Applies a diff of the file `f` with `git apply`; `None` if Git refuses it.
    fn apply(&self, before: &str, diff: &str) -> Option<String> {
        let file = self.folder.join("f");
        std::fs::write(&file, before).expect("written");
        let mut git = Command::new("git")
            .args(["apply", "-"])
            .current_dir(&self.folder)
            .env("GIT_CEILING_DIRECTORIES", &self.folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("git");
        let mut input = git.stdin.take().expect("a pipe");
        input.write_all(diff.as_bytes()).expect("written");
        drop(input);
        let is_applied = git.wait().expect("git").success();
        is_applied.then(|| std::fs::read_to_string(&file).expect("read"))
    }
}

impl Drop for Git {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.folder).ok();
    }
}

#[test]
fn a_hunk_without_context_behind_it_lands_at_the_end() {
    let git = Git::new("end");
    for (before, diff) in [
        ("a\nb\nx\na\nb\n", "@@ -1,2 +1,3 @@\n a\n b\n+c\n"),
        ("a\nb\nx\na\nb\n", "@@ -2,2 +2,3 @@\n a\n b\n+c\n"),
        ("a\nb\nx\na\nb\n", "@@ -2,1 +2,2 @@\n b\n+c\n"),
        ("a\nb\nx\na\nb\n", "@@ -1,2 +1,1 @@\n a\n-b\n"),
        ("a\nb\nx\na\nb\n", "@@ -3,2 +3,2 @@\n a\n-b\n+c\n"),
    ] {
        let diff = format!("--- a/f\n+++ b/f\n{diff}");
        let expected = git.apply(before, &diff);
        let made = ours(before, &diff);
        let is_refused = made.is_none() && expected.is_none();
        assert!(
            is_refused || made == expected,
            "{diff}: {made:?}, git {expected:?}"
        );
    }
    // A single matching place is not ambiguous.
    let diff = "--- a/f\n+++ b/f\n@@ -1,2 +1,3 @@\n a\n b\n+c\n";
    assert_eq!(ours("a\nb\nx\n", diff).as_deref(), Some("a\nb\nc\nx\n"));
}

#[test]
fn a_hunk_of_the_first_line_lands_at_the_beginning() {
    let diff = "--- a/f\n+++ b/f\n@@ -1,2 +1,3 @@\n+c\n a\n b\n";
    let before = "a\nb\nx\na\nb\ny\n";
    let git = Git::new("beginning");
    assert_eq!(
        git.apply(before, diff).as_deref(),
        Some("c\na\nb\nx\na\nb\ny\n")
    );
    assert_eq!(ours(before, diff), git.apply(before, diff));
}

#[test]
fn a_hunk_without_context_lands_where_git_puts_it() {
    // Git chooses the end, whereas `diff -U0` would mean the line number.
    let diff = "--- a/f\n+++ b/f\n@@ -2 +2 @@\n-a\n+b\n";
    assert_eq!(ours("x\na\ny\na\n", diff), None);
    assert_eq!(
        ours("x\na\ny\na\nz\n", diff).as_deref(),
        Some("x\nb\ny\na\nz\n")
    );
}

/// Returns a hunk with context only before or only after its changes, and possibly wrong line
/// numbers.
fn random_hunk(lines: &[&str], random: &mut StdRng) -> String {
    let start = random.random_range(0..lines.len());
    let context = random.random_range(1..4).min(lines.len() - start);
    let is_before = random.random_bool(0.7);
    let quoted = &lines[start..start + context];
    let rest = &lines[start + context..];
    let gone = random.random_range(0..2).min(rest.len());
    let added = random.random_range(usize::from(gone == 0)..3);
    let kept: String = quoted.iter().map(|line| format!(" {line}\n")).collect();
    let mut changed: String = rest[..gone]
        .iter()
        .map(|line| format!("-{line}\n"))
        .collect();
    for number in 0..added {
        changed.push_str(&format!("+new {number}\n"));
    }
    let (body, start) = if is_before {
        (format!("{kept}{changed}"), start)
    } else {
        // The removed line precedes the context here.

        let gone = start.min(gone);
        let lines = lines[start - gone..start].iter();
        let mut changed: String = lines.map(|line| format!("-{line}\n")).collect();
        for number in 0..added.max(1) {
            changed.push_str(&format!("+new {number}\n"));
        }
        (format!("{changed}{kept}"), start - gone)
    };
    let count = |signs: [char; 2]| body.lines().filter(|line| line.starts_with(signs)).count();
    let slip = if random.random_bool(0.5) {
        0
    } else {
        random.random_range(0..4)
    };
    let row = start + 1 + slip;
    format!(
        "--- a/f\n+++ b/f\n@@ -{row},{} +{row},{} @@\n{body}",
        count([' ', '-']),
        count([' ', '+'])
    )
}

/// `PATCH_SEEDS` sets the number of seeds.
#[test]
fn random_hunks_land_where_git_applies_them() {
    let asked = std::env::var("PATCH_SEEDS").ok();
    let seeds: u64 = asked.and_then(|count| count.parse().ok()).unwrap_or(150);
    let git = Git::new("random");
    let (mut applied, mut same) = (0, 0);
    for seed in 0..seeds {
        let mut random = StdRng::seed_from_u64(seed);
        let count = random.random_range(2..14);
        let words = ["alpha", "beta", "gamma", "delta"];
        let few = random.random_range(2..=words.len());
        let lines: Vec<&str> = (0..count)
            .map(|_| words[random.random_range(0..few)])
            .collect();
        let before: String = lines.iter().map(|line| format!("{line}\n")).collect();
        let diff = random_hunk(&lines, &mut random);
        let (Some(theirs), made) = (git.apply(&before, &diff), ours(&before, &diff)) else {
            continue;
        };
        applied += 1;
        if let Some(made) = made {
            // Git chooses the nearest of several places; the engine chooses one only if it is much
            // nearer than the others.
            assert_eq!(made, theirs, "seed {seed}\n{before}\n{diff}");
            same += 1;
        }
    }
    println!("Git applies {applied} of {seeds}, and we {same} of these");
    assert!(same * 2 > applied, "{same} of {applied}");
}
