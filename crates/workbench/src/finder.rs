//! Ranks the files of a project for what was typed, the ones used lately first.
//!
//! Pure; grows with the project, so it runs in the background. Start at `find_files`.

use std::collections::HashMap;
use std::sync::atomic::AtomicBool;

use project::fuzzy::{self, Kind};

/// A file that answers the query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FoundFile {
    /// The text form of its path, counted from the folder.
    pub path: String,
    /// The chars of the path that match, sorted.
    pub matched: Vec<u32>,
    /// Whether it was used lately.
    pub is_recent: bool,
}

/// How many of the best are weighed again with regard to recent use.
const WEIGHED: usize = 400;
/// What the file used last gains over one never used, in nucleo's points.
const RECENT_BONUS: u32 = 60;

/// The best `limit` of `files` for `query`, best first. `recent` names files used lately, newest
/// first; without a query they are the answer, followed by the other files in order.
pub(crate) fn find_files(
    query: &str,
    files: &[String],
    recent: &[String],
    limit: usize,
    cancel: &AtomicBool,
) -> Vec<FoundFile> {
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
    let ranked = fuzzy::rank(query, files, Kind::Path, WEIGHED.max(limit), cancel);
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
        .map(|(_, path)| FoundFile {
            matched: fuzzy::positions(query, path, Kind::Path),
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
) -> Vec<FoundFile> {
    let found = |path: &String, is_recent| FoundFile {
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
