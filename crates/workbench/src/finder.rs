//! Ranks the project's files against a query, with a bonus for recently used ones.
//!
//! Pure. Its cost grows with the project, so it runs in the background. Start at `find_files`.

use std::collections::HashMap;
use std::sync::atomic::AtomicBool;

use project::fuzzy::{self, CandidateKind};

/// A file that matches the query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FileMatch {
    /// Text form of its path, relative to the folder.
    pub path: String,
    /// Indices of the matching chars of the path, sorted.
    pub matched: Vec<u32>,
    /// Whether it was used recently.
    pub is_recent: bool,
}

/// Number of top matches that are rescored by recent use.
const WEIGHED: usize = 400;
/// Bonus of the most recently used file over an unused one, in nucleo's score points.
const RECENT_BONUS: u32 = 60;

/// Returns the best `limit` of `files` for `query`, best first. `recent` names recently used files,
/// newest first; an empty query returns them first, followed by the other files in order.
pub(crate) fn find_files(
    query: &str,
    files: &[String],
    recent: &[String],
    limit: usize,
    cancel: &AtomicBool,
) -> Vec<FileMatch> {
    let query = query.trim();
    let age: HashMap<&str, usize> = recent
        .iter()
        .enumerate()
        .rev()
        .map(|(age, path)| (path.as_str(), age))
        .collect();
    if query.is_empty() {
        return unasked(files, recent, &age, limit);
    }
    let ranked = fuzzy::rank(
        query,
        files,
        CandidateKind::Path,
        WEIGHED.max(limit),
        cancel,
    );
    let bonus = |path: &str| {
        let age = age
            .get(path)
            .map(|age| u32::try_from(*age).unwrap_or(u32::MAX));
        age.map_or(0, |age| RECENT_BONUS.saturating_sub(age.saturating_mul(3)))
    };
    let mut weighed: Vec<_> = ranked
        .iter()
        .filter_map(|ranked| {
            let path = files.get(ranked.index)?;
            Some((ranked.score + bonus(path), path))
        })
        .collect();
    weighed.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
    weighed
        .into_iter()
        .take(limit)
        .map(|(_, path)| FileMatch {
            matched: fuzzy::positions(query, path, CandidateKind::Path),
            is_recent: age.contains_key(path.as_str()),
            path: path.clone(),
        })
        .collect()
}

fn unasked(
    files: &[String],
    recent: &[String],
    age: &HashMap<&str, usize>,
    limit: usize,
) -> Vec<FileMatch> {
    let found = |path: &String, is_recent| FileMatch {
        path: path.clone(),
        matched: Vec::new(),
        is_recent,
    };
    let others = files.iter().filter(|path| !age.contains_key(path.as_str()));
    recent
        .iter()
        .map(|path| found(path, true))
        .chain(others.map(|path| found(path, false)))
        .take(limit)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::find_files;
    use std::sync::atomic::AtomicBool;

    fn check(query: &str, expect: &[&str]) {
        let files = [
            "README.md",
            "src/lib.rs",
            "src/main.rs",
            "tests/main.rs",
            "src/tree/main_row.rs",
        ];
        let files = files.map(str::to_owned);
        let recent = ["tests/main.rs".to_owned(), "src/lib.rs".to_owned()];
        let found = find_files(query, &files, &recent, 3, &AtomicBool::new(false));
        let paths: Vec<_> = found.iter().map(|f| f.path.as_str()).collect();
        assert_eq!(paths, expect, "{query:?}");
    }

    #[test]
    fn recent_files_come_first_among_equals() {
        check("", &["tests/main.rs", "src/lib.rs", "README.md"]);
        check(
            "main",
            &["tests/main.rs", "src/main.rs", "src/tree/main_row.rs"],
        );
        check("srcmain", &["src/main.rs", "src/tree/main_row.rs"]);
        check("rdme", &["README.md"]);
        check("zzz", &[]);
    }
}
