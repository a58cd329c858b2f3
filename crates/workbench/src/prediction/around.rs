//! What is known around a text when a model is asked: gathered in the background, read without waiting.
//!
//! Pure but for `look_up`, which asks the index and runs in the background.

use std::collections::{HashMap, VecDeque};

use autocomplete::Scene;
use autocomplete::context::{ContextSource, Diagnostic, Excerpt, Why, names_near};
use base::{AbsPath, Row};
use composer_panel::board::{Hunk, Verdict};
use index::{Hit, Means, Query};
use text::Snapshot;

use crate::code_index::CodeIndex;

/// Pieces that were looked at lately.
const MOST_VIEWED: usize = 6;
/// Rows of such a piece.
const VIEWED_ROWS: u32 = 20;
/// Names whose definitions are looked up at a time.
const MOST_NAMES: usize = 12;
/// Definitions that are kept.
const MOST_DEFINED: usize = 200;
/// Bytes of a definition that say enough.
const MOST_BYTES: usize = 600;
/// Pieces alike that are kept.
const MOST_ALIKE: usize = 4;

/// What is known around the texts of a folder.
#[derive(Default)]
pub(crate) struct Around {
    /// By name; empty where nothing of the name is defined.
    definitions: HashMap<String, Vec<Excerpt>>,
    alike: Vec<Excerpt>,
    viewed: VecDeque<Excerpt>,
    unmerged: Vec<Hunk>,
}

/// What the index answered for a scene.
pub(crate) struct LookedUp {
    definitions: Vec<(String, Vec<Excerpt>)>,
    alike: Vec<Excerpt>,
}

/// The names near a scene whose definitions are not known yet.
pub(crate) fn missing(around: &Around, scene: &Scene) -> Vec<String> {
    let mut names = names_near(scene);
    names.retain(|name| !around.definitions.contains_key(name));
    names.truncate(MOST_NAMES);
    names
}

/// Asks the index. Takes some milliseconds: not for the thread that draws.
pub(crate) fn look_up(index: &dyn CodeIndex, scene: &Scene, names: Vec<String>) -> LookedUp {
    let definitions = names.into_iter().map(|name| {
        let hits = index.symbols(&name, 2);
        let is_it = |hit: &Hit| {
            let last = |symbol: &str| symbol.rsplit([':', '.']).next().map(str::to_owned);
            hit.symbol.as_deref().and_then(last).as_deref() == Some(name.as_str())
        };
        let found = hits.into_iter().filter(is_it);
        let found = found.map(|hit| excerpt(hit, Why::Definition)).collect();
        (name, found)
    });
    let definitions = definitions.collect();
    let asked = Query {
        text: question(scene),
        limit: MOST_ALIKE,
        folder: None,
        means: Means::Fused,
    };
    let hits = match asked.text.trim().is_empty() {
        true => Vec::new(),
        false => index.search(&asked).hits,
    };
    LookedUp {
        definitions,
        alike: hits
            .into_iter()
            .map(|hit| excerpt(hit, Why::Alike))
            .collect(),
    }
}

/// What is written around the caret, as a question: the rows before it say most.
fn question(scene: &Scene) -> String {
    let row = scene.snapshot.point_at(scene.caret).row;
    let first = Row(row.0.saturating_sub(4));
    let start = scene.snapshot.row_start(first);
    scene
        .snapshot
        .text(base::Span::new(start, scene.caret))
        .into_owned()
}

fn excerpt(hit: Hit, why: Why) -> Excerpt {
    Excerpt {
        path: hit.path.to_string_lossy().into_owned(),
        text: beginning(&hit.text).to_owned(),
        why,
    }
}

/// The first rows of a text, up to `MOST_BYTES`.
fn beginning(text: &str) -> &str {
    if text.len() <= MOST_BYTES {
        return text;
    }
    let cut = text.floor_char_boundary(MOST_BYTES);
    let end = text[..cut].rfind('\n').map_or(cut, |at| at + 1);
    &text[..end]
}

impl Around {
    /// Takes in what the index answered.
    pub(crate) fn learn(&mut self, found: LookedUp) {
        if self.definitions.len() + found.definitions.len() > MOST_DEFINED {
            self.definitions.clear();
        }
        self.definitions.extend(found.definitions);
        self.alike = found.alike;
    }

    /// Forgets what files that changed may have said.
    pub(crate) fn forget(&mut self) {
        self.definitions.clear();
    }

    /// The person left a place: its rows may say what comes next elsewhere.
    pub(crate) fn left(&mut self, path: String, snapshot: &Snapshot, row: Row) {
        let first = Row(row.0.saturating_sub(VIEWED_ROWS / 2));
        let last = Row(first.0 + VIEWED_ROWS).min(snapshot.last_row());
        let span = base::Span::new(snapshot.row_start(first), snapshot.row_end(last));
        self.viewed.retain(|viewed| viewed.path != path);
        self.viewed.push_front(Excerpt {
            path,
            text: snapshot.text(span).into_owned(),
            why: Why::Viewed,
        });
        self.viewed.truncate(MOST_VIEWED);
    }

    /// What agents changed and has not landed.
    pub(crate) fn set_unmerged(&mut self, hunks: Vec<Hunk>) {
        self.unmerged = hunks;
        self.unmerged
            .retain(|hunk| hunk.verdict != Verdict::Rejected);
    }
}

/// Names a file below its folder with forward slashes.
pub(crate) fn shown(path: &AbsPath, root: &AbsPath) -> String {
    let path = path.relative_to(root).unwrap_or(path.as_path());
    path.to_string_lossy().into_owned()
}

impl ContextSource for Around {
    fn definitions(&self, _: &Scene, names: &[String]) -> Vec<Excerpt> {
        let known = names.iter().filter_map(|name| self.definitions.get(name));
        known.flatten().cloned().collect()
    }

    fn snippets(&self, _: &Scene) -> Vec<Excerpt> {
        self.alike.clone()
    }

    fn viewed(&self, _: &Scene) -> Vec<Excerpt> {
        self.viewed.iter().cloned().collect()
    }

    fn unmerged(&self, _: &Scene, names: &[String]) -> Vec<Excerpt> {
        let is_about = |hunk: &&Hunk| {
            let symbol = hunk.symbol.as_deref();
            names.iter().any(|name| {
                symbol == Some(name) || hunk.after.iter().any(|line| has_word(line, name))
            })
        };
        let hunks = self.unmerged.iter().filter(is_about);
        hunks
            .map(|hunk| Excerpt {
                path: hunk.path.clone(),
                text: beginning(&hunk.after.join("\n")).to_owned(),
                why: Why::Unmerged,
            })
            .collect()
    }

    /// There is no language server to ask yet.
    fn diagnostics(&self, _: &Scene) -> Vec<Diagnostic> {
        Vec::new()
    }
}

fn has_word(line: &str, word: &str) -> bool {
    let is_word = |ch: char| ch.is_alphanumeric() || ch == '_';
    line.match_indices(word).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let after = line[at + word.len()..].chars().next();
        !before.is_some_and(is_word) && !after.is_some_and(is_word)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scene(text: &str) -> Scene {
        let snapshot = Snapshot::new(text);
        Scene {
            path: None,
            caret: snapshot.len(),
            rows: (Row(0), Row(10)),
            syntax: None,
            language: None,
            indent: "    ".to_owned(),
            snapshot,
        }
    }

    fn hunk(after: &str, verdict: Verdict) -> Hunk {
        Hunk {
            id: "1".to_owned(),
            agent: "a".to_owned(),
            path: "src/a.rs".to_owned(),
            symbol: None,
            line: 1,
            before: Vec::new(),
            after: vec![after.to_owned()],
            note: None,
            author: None,
            risk: None,
            verdict,
        }
    }

    #[test]
    fn agents_changes_are_told_where_they_are_about_what_is_written() {
        let mut around = Around::default();
        around.set_unmerged(vec![
            hunk("fn parse(text: &str, strict: bool)", Verdict::Open),
            hunk("fn parser()", Verdict::Open),
            hunk("fn parse()", Verdict::Rejected),
        ]);
        let told = around.unmerged(&scene("parse("), &["parse".to_owned()]);
        assert_eq!(told.len(), 1);
        assert_eq!(told[0].text, "fn parse(text: &str, strict: bool)");
    }

    #[test]
    fn a_place_that_was_left_is_kept_once_and_the_newest_first() {
        let mut around = Around::default();
        let text: String = (0..100).map(|row| format!("row {row}\n")).collect();
        let snapshot = Snapshot::new(&text);
        for path in ["a", "b", "a"] {
            around.left(path.to_owned(), &snapshot, Row(50));
        }
        let viewed = around.viewed(&scene(""));
        let paths: Vec<&str> = viewed.iter().map(|it| it.path.as_str()).collect();
        assert_eq!(paths, ["a", "b"]);
        assert!(viewed[0].text.starts_with("row 40\n"));
        assert!(viewed[0].text.ends_with("row 60"));
    }

    #[test]
    fn a_long_definition_is_told_by_its_first_rows() {
        let row = "x".repeat(250);
        let text = format!("{row}\n{row}\n{row}\n");
        assert_eq!(beginning(&text).len(), 502);
        assert_eq!(beginning("short"), "short");
    }
}
