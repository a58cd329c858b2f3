//! The filter of the history as the user types it.
//!
//! Pure. Words with a known key, such as `author:ann`, restrict the query; all others are searched in the messages.
//! Start at `parse_filter`.

use std::ops::RangeInclusive;
use std::path::Path;

use base::path_text;
use git_program::{LogQuery, Pickaxe};

/// Reads a filter: `path:src file:src/a.rs lines:3-9:src/a.rs author:ann since:2.weeks branch:main -S text -G pattern`,
/// and words of the message. Quotes hold words together.
pub(crate) fn parse_filter(filter: &str, is_all: bool) -> LogQuery {
    let mut query = LogQuery::default();
    let mut text: Vec<String> = Vec::new();
    let mut words = words(filter).into_iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            "-S" => query.pickaxe = words.next().map(Pickaxe::Count),
            "-G" => query.pickaxe = words.next().map(Pickaxe::Lines),
            _ => {
                if !take_keyed(&word, &mut query) {
                    text.push(word);
                }
            }
        }
    }
    if !text.is_empty() {
        query.text = Some(text.join(" "));
    }
    if query.lines.is_some() {
        // The history of lines excludes another path.
        query.path = None;
    }
    query.all = is_all && query.range.is_empty() && query.lines.is_none() && !query.follow;
    query
}

/// Takes a word such as `author:ann`; returns whether its key is known and it has a value.
fn take_keyed(word: &str, query: &mut LogQuery) -> bool {
    let Some((key, value)) = word.split_once(':') else {
        return false;
    };
    if value.is_empty() {
        // The value follows in a moment.
        return matches!(
            key,
            "path" | "file" | "lines" | "author" | "since" | "branch" | "text"
        );
    }
    match key {
        "path" => query.path = Some(value.into()),
        "file" => {
            query.path = Some(value.into());
            query.follow = true;
        }
        "lines" => {
            let Some((lines, path)) = value.split_once(':') else {
                return true;
            };
            query.lines = line_range(lines).map(|lines| (path.into(), lines));
        }
        "author" => query.author = Some(value.to_owned()),
        "since" => query.since = Some(value.to_owned()),
        "branch" => query.range.push(value.to_owned()),
        "text" => query.text = Some(value.to_owned()),
        _ => return false,
    }
    true
}

/// Reads `3-9` or `3`, counted from 1.
fn line_range(lines: &str) -> Option<RangeInclusive<u32>> {
    let (first, last) = lines.split_once('-').unwrap_or((lines, lines));
    let (first, last) = (first.parse::<u32>().ok()?, last.parse::<u32>().ok()?);
    (1 <= first && first <= last).then_some(first..=last)
}

/// Splits at blanks outside of double quotes, which are removed. A backslash keeps a quote or a backslash in quotes.
fn words(filter: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut is_quoted = false;
    let mut has_word = false;
    let mut letters = filter.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' if is_quoted && matches!(letters.peek(), Some('"' | '\\')) => {
                word.extend(letters.next());
            }
            '"' => {
                is_quoted = !is_quoted;
                has_word = true;
            }
            _ if letter.is_whitespace() && !is_quoted => {
                if std::mem::take(&mut has_word) {
                    words.push(std::mem::take(&mut word));
                }
            }
            _ => {
                word.push(letter);
                has_word = true;
            }
        }
    }
    if has_word {
        words.push(word);
    }
    words
}

/// Writes the filter for the history of a file, with its renames.
pub fn file_filter(path: &Path) -> String {
    format!("file:{}", quoted(path))
}

/// Writes the filter for the history of some lines of a file, counted from 1.
pub fn lines_filter(path: &Path, lines: RangeInclusive<u32>) -> String {
    format!("lines:{}-{}:{}", lines.start(), lines.end(), quoted(path))
}

fn quoted(path: &Path) -> String {
    let path = path_text(path);
    if path.chars().any(|it| it.is_whitespace() || it == '"') {
        let escaped = path.replace('\\', "\\\\").replace('"', "\\\"");
        return format!("\"{escaped}\"");
    }
    path
}

/// Returns whether the rows of a query form a graph: none of them is left out between two others.
pub(crate) fn has_graph(query: &LogQuery) -> bool {
    query.path.is_none()
        && query.author.is_none()
        && query.text.is_none()
        && query.pickaxe.is_none()
        && query.lines.is_none()
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use git_program::{LogQuery, Pickaxe};

    use super::{file_filter, has_graph, lines_filter, parse_filter};

    #[test]
    fn words_with_keys_restrict_the_query() {
        let query = parse_filter(
            "fix author:ann path:src since:2.weeks -S \"a b\" the graph",
            false,
        );
        let expected = LogQuery {
            author: Some("ann".to_owned()),
            path: Some("src".into()),
            since: Some("2.weeks".to_owned()),
            pickaxe: Some(Pickaxe::Count("a b".to_owned())),
            text: Some("fix the graph".to_owned()),
            ..LogQuery::default()
        };
        assert_eq!(query, expected);
        assert!(!has_graph(&query));
    }

    #[test]
    fn unfinished_and_unknown_keys_do_not_fail() {
        assert_eq!(parse_filter("author:", true).author, None);
        assert_eq!(
            parse_filter("ui: fix", true).text.as_deref(),
            Some("ui: fix")
        );
        assert_eq!(parse_filter("lines:x:a.rs", true).lines, None);
        assert_eq!(parse_filter("lines:9-3:a.rs", true).lines, None);
        assert_eq!(parse_filter("-S", true).pickaxe, None);
        assert_eq!(parse_filter("\"open", true).text.as_deref(), Some("open"));
        assert!(has_graph(&parse_filter("", true)));
    }

    #[test]
    fn all_branches_exclude_other_starts() {
        assert!(parse_filter("", true).all);
        assert!(parse_filter("author:a", true).all);
        assert!(!parse_filter("branch:main", true).all);
        assert!(!parse_filter("file:a.rs", true).all);
        assert_eq!(parse_filter("branch:a..b", true).range, ["a..b"]);
    }

    #[test]
    fn written_filters_are_read_again() {
        let path = Path::new("a \"b\"/c\\d.rs");
        let query = parse_filter(&file_filter(path), true);
        assert_eq!(query.path.as_deref(), Some(path));
        assert!(query.follow);
        let query = parse_filter(&lines_filter(path, 3..=9), true);
        assert_eq!(query.lines, Some((PathBuf::from(path), 3..=9)));
        assert_eq!(query.path, None);
    }
}
