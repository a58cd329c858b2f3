//! Results of Search Everywhere and their order.
//!
//! Pure. Start at `EverythingScope::parse` and `ordered`.

use lsp::ServerRange;
use text::RowSpan;

use crate::finder::FileMatch;
use crate::target::Target;

/// Number of results by meaning for a query of several words, which is rarely a name or a literal
/// text.
const OF_A_QUESTION: usize = 9;

/// Maximum number of symbols of the index, and of those of servers.
pub(crate) const MAX_SYMBOLS: usize = 50;
/// Prefix of a query for symbols of the active text, which have a list of their own.
pub(crate) const FILE_SYMBOLS: char = '@';

/// The sources that a query searches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) enum EverythingScope {
    /// All sources at once.
    #[default]
    All,
    /// Names of functions, types and other symbols: prefix `#`, or `@` without a text.
    Symbols,
    /// Code by meaning: prefix `?`.
    Meaning,
    /// The text of all files: prefix `%`.
    Text,
}

impl EverythingScope {
    /// Splits the scope prefix off a query. Returns the scope, and the rest of the query without
    /// leading blanks.
    pub(crate) fn parse(query: &str) -> (Self, &str) {
        let query = query.trim_start();
        for (scope, sign) in [
            (Self::Symbols, '#'),
            (Self::Symbols, FILE_SYMBOLS),
            (Self::Meaning, '?'),
            (Self::Text, '%'),
        ] {
            if let Some(rest) = query.strip_prefix(sign) {
                return (scope, rest.trim());
            }
        }
        (Self::All, query.trim())
    }

    /// Returns the same query with the next scope's prefix.
    pub(crate) fn next(query: &str) -> String {
        let (scope, rest) = Self::parse(query);
        let sign = match scope {
            Self::All => "#",
            Self::Symbols => "?",
            Self::Meaning => "%",
            Self::Text => "",
        };
        format!("{sign}{rest}")
    }

    /// Returns the maximum number of rows in a section, or 0 if the scope does not include the
    /// section.
    pub(crate) fn max_rows(self, section: EverythingSection) -> usize {
        match (self, section) {
            (Self::All, EverythingSection::Files) => 6,
            (Self::All, EverythingSection::Symbols | EverythingSection::Meaning) => 5,
            (Self::All, EverythingSection::Text) => 8,
            // The index and the servers may each return that many symbols.
            (Self::Symbols, EverythingSection::Symbols) => 2 * MAX_SYMBOLS,
            (Self::Meaning, EverythingSection::Meaning) => 50,
            (Self::Text, EverythingSection::Text) => 300,
            _ => 0,
        }
    }
}

/// Kind of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum EverythingSection {
    /// Files matched by name.
    Files,
    /// Symbols matched by name.
    Symbols,
    /// Code matched by meaning.
    Meaning,
    /// Rows matched by text.
    Text,
}

impl EverythingSection {
    /// Returns the heading of the section.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::Files => "Files",
            Self::Symbols => "Symbols",
            Self::Meaning => "Meaning",
            Self::Text => "Text",
        }
    }
}

/// A location in a file.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FoundPlace {
    pub(crate) section: EverythingSection,
    /// Path relative to the folder.
    pub(crate) path: String,
    /// Rows of the location.
    pub(crate) rows: RowSpan,
    /// Matching bytes of the first row.
    pub(crate) columns: Option<(u32, u32)>,
    /// Label of the row in the list.
    pub(crate) title: String,
    /// Byte offsets in the title that match.
    pub(crate) matched: Vec<usize>,
    pub(crate) kind: Option<syntax::OutlineKind>,
    /// The symbol around it, if a server names it.
    pub(crate) container: Option<String>,
    /// The place as a server counts it.
    pub(crate) range: Option<ServerRange>,
}

/// One row of the list.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum EverythingMatch {
    File(FileMatch),
    Place(FoundPlace),
}

impl EverythingMatch {
    /// Returns the path of the result, relative to the folder.
    pub(crate) fn path(&self) -> &str {
        match self {
            Self::File(file) => &file.path,
            Self::Place(place) => &place.path,
        }
    }

    /// Returns whether two rows show the same result.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::File(one), Self::File(other)) => one.path == other.path,
            (Self::Place(one), Self::Place(other)) => {
                (one.section, &one.path, one.rows, &one.title)
                    == (other.section, &other.path, other.rows, &other.title)
            }
            _ => false,
        }
    }
}

/// Results of each source.
#[derive(Clone, Debug, Default)]
pub(crate) struct SourceMatches {
    pub(crate) files: Vec<FileMatch>,
    pub(crate) symbols: Vec<FoundPlace>,
    /// Symbols of language servers, which arrive late. They follow the others and move no section.
    pub(crate) served: Vec<FoundPlace>,
    pub(crate) meaning: Vec<FoundPlace>,
    pub(crate) text: Vec<FoundPlace>,
}

/// Returns the results of an older query that also contain the current text, ignoring case.
pub(crate) fn still_fitting(mut found: Vec<FoundPlace>, asked: &str) -> Vec<FoundPlace> {
    let asked = asked.to_lowercase();
    found.retain(|place| place.title.to_lowercase().contains(&asked));
    found
}

/// Groups the results into sections, the most relevant for this kind of query first; also returns
/// the row at which each section begins.
pub(crate) fn ordered(
    query: &str,
    scope: EverythingScope,
    sources: SourceMatches,
) -> (Vec<EverythingMatch>, Vec<(usize, EverythingSection)>) {
    let SourceMatches {
        mut files,
        symbols,
        mut served,
        mut meaning,
        mut text,
    } = sources;
    let path = Target::parse(query).path;
    let words: Vec<String> = path.split_whitespace().map(str::to_lowercase).collect();
    if words.len() > 1 {
        // A question matches many long paths letter by letter, but rarely a single name.
        files.retain(|file| {
            let path = file.path.to_lowercase();
            words.iter().all(|word| is_in_name(&path, word))
        });
    }
    let is_same = |one: &FoundPlace, other: &FoundPlace| {
        one.path == other.path && one.rows.start == other.rows.start
    };
    // A location is shown once, in the section with the strongest match.
    meaning.retain(|place| !symbols.iter().any(|symbol| is_same(symbol, place)));
    if scope == EverythingScope::All {
        text.retain(|place| !symbols.iter().any(|symbol| is_same(symbol, place)));
    }
    served.retain(|place| {
        let is_listed = |known: &FoundPlace| names_same(known, place);
        !symbols.iter().chain(&meaning).any(is_listed)
    });
    let mut files: Vec<EverythingMatch> = files.into_iter().map(EverythingMatch::File).collect();
    let places = |places: Vec<FoundPlace>| places.into_iter().map(EverythingMatch::Place).collect();
    let (mut symbols, mut meaning, mut text): (Vec<_>, Vec<_>, Vec<_>) =
        (places(symbols), places(meaning), places(text));
    let mut rows = Vec::new();
    let mut sections = Vec::new();
    let mut order = order(query, &files, &symbols);
    if symbols.is_empty() {
        // A late section comes last.
        order.sort_by_key(|section| *section == EverythingSection::Symbols);
    }
    symbols.extend(served.into_iter().map(EverythingMatch::Place));
    for section in order {
        let of = match section {
            EverythingSection::Files => &mut files,
            EverythingSection::Symbols => &mut symbols,
            EverythingSection::Meaning => &mut meaning,
            EverythingSection::Text => &mut text,
        };
        let is_question = scope == EverythingScope::All && words.len() > 1;
        let most = match section {
            EverythingSection::Meaning if is_question => OF_A_QUESTION,
            section => scope.max_rows(section),
        };
        let count = of.len().min(most);
        if count > 0 {
            sections.push((rows.len(), section));
            rows.extend(of.drain(..count));
        }
    }
    (rows, sections)
}

/// Returns whether a symbol of a server is the symbol of a known place, whose rows may begin above its name.
fn names_same(known: &FoundPlace, served: &FoundPlace) -> bool {
    let is_within = known.rows.contains(served.rows.start);
    is_within && known.path == served.path && known.title == served.title
}

/// Orders the sections: a path searches files first, a question searches by meaning first, a name
/// searches symbols first. Files whose letters merely occur in order are rarely the target.
fn order(
    query: &str,
    files: &[EverythingMatch],
    symbols: &[EverythingMatch],
) -> [EverythingSection; 4] {
    use EverythingSection::{Files, Meaning, Symbols, Text};
    let words = query.split_whitespace().count();
    let is_path = query.contains(['/', '.']) && !query.contains("::");
    let is_named = |found: &EverythingMatch| match found {
        EverythingMatch::Place(place) => place.title.eq_ignore_ascii_case(query),
        EverythingMatch::File(_) => false,
    };
    let is_file = files.first().is_some_and(|file| holds(file.path(), query));
    if words > 1 && !is_file {
        [Meaning, Symbols, Text, Files]
    } else if !is_path && symbols.iter().any(is_named) {
        [Symbols, Files, Text, Meaning]
    } else if is_path || is_file {
        [Files, Symbols, Text, Meaning]
    } else {
        [Symbols, Text, Meaning, Files]
    }
}

/// Returns whether a path contains a word, or one of its names contains the word's letters in
/// order. Negated words match, because the search has already applied them.
fn is_in_name(path: &str, word: &str) -> bool {
    let has_letters = |name: &str| {
        let mut letters = name.chars();
        word.chars()
            .all(|wanted| letters.any(|letter| letter == wanted))
    };
    word.starts_with('!') || path.contains(word) || path.split('/').any(has_letters)
}

/// Returns whether a file name contains the query as one piece.
fn holds(path: &str, query: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path).to_lowercase();
    name.contains(&query.to_lowercase())
}

#[cfg(test)]
mod tests {
    use base::Row;
    use text::RowSpan;

    use super::{
        EverythingMatch, EverythingScope, EverythingSection, FoundPlace, SourceMatches, ordered,
        still_fitting,
    };
    use crate::finder::FileMatch;

    fn place(section: EverythingSection, path: &str, row: u32, title: &str) -> FoundPlace {
        FoundPlace {
            section,
            path: path.to_owned(),
            rows: RowSpan {
                start: Row(row),
                end: Row(row + 1),
            },
            columns: None,
            title: title.to_owned(),
            matched: Vec::new(),
            kind: None,
            container: None,
            range: None,
        }
    }

    fn sources() -> SourceMatches {
        SourceMatches {
            files: vec![FileMatch {
                path: "src/parse.rs".to_owned(),
                matched: Vec::new(),
                is_recent: false,
            }],
            symbols: vec![place(
                EverythingSection::Symbols,
                "src/parse.rs",
                3,
                "parse",
            )],
            meaning: vec![
                place(EverythingSection::Meaning, "src/parse.rs", 3, "parse"),
                place(EverythingSection::Meaning, "src/read.rs", 9, "read_all"),
            ],
            text: vec![place(
                EverythingSection::Text,
                "src/lib.rs",
                1,
                "mod parse;",
            )],
            served: Vec::new(),
        }
    }

    #[test]
    fn symbols_of_servers_follow_the_others_and_move_no_section() {
        let symbol =
            |path: &str, row, title: &str| place(EverythingSection::Symbols, path, row, title);
        let check = |query: &str, served: Vec<FoundPlace>, expect: &[&str]| {
            let sources = SourceMatches {
                served,
                ..sources()
            };
            let (rows, _) = ordered(query, EverythingScope::All, sources);
            let shown = rows.iter().map(|row| match row {
                EverythingMatch::File(file) => format!("file {}", file.path),
                EverythingMatch::Place(place) => {
                    format!("{} {}", place.section.title(), place.title)
                }
            });
            assert_eq!(shown.collect::<Vec<_>>(), expect, "{query}");
        };
        let (file, own) = ("file src/parse.rs", "Symbols parse");
        let rest = ["Text mod parse;", "Meaning read_all"];
        // The index knows the first one.
        let served = vec![
            symbol("src/parse.rs", 3, "parse"),
            symbol("src/read.rs", 9, "read_all"),
            symbol("src/tree.rs", 5, "parse_tree"),
        ];
        let late = "Symbols parse_tree";
        check("pars", served.clone(), &[file, own, late, rest[0], rest[1]]);
        check("parse", served, &[own, late, file, rest[0], rest[1]]);
        // Without a symbol of the index, they come last.
        let sources = SourceMatches {
            symbols: Vec::new(),
            served: vec![symbol("src/tree.rs", 5, "parse")],
            ..sources()
        };
        let (rows, sections) = ordered("parse", EverythingScope::All, sources);
        assert_eq!(
            sections.last(),
            Some(&(rows.len() - 1, EverythingSection::Symbols))
        );
    }

    #[test]
    fn rows_of_an_older_query_stay_if_they_match() {
        let found = vec![
            place(EverythingSection::Text, "a.rs", 1, "let Parsed = 1;"),
            place(EverythingSection::Text, "a.rs", 2, "let parser = 1;"),
        ];
        let titles = |asked: &str| {
            let rows = still_fitting(found.clone(), asked).into_iter();
            rows.map(|row| row.rows.start.0).collect::<Vec<_>>()
        };
        assert_eq!(titles("parse"), [1, 2]);
        assert_eq!(titles("parsed"), [1]);
        assert_eq!(titles("walk"), [0_u32; 0]);
    }

    #[test]
    fn a_sign_chooses_the_scope() {
        for (query, scope, rest) in [
            ("main", EverythingScope::All, "main"),
            ("# main ", EverythingScope::Symbols, "main"),
            ("@main", EverythingScope::Symbols, "main"),
            ("?how it works", EverythingScope::Meaning, "how it works"),
            ("%fn main", EverythingScope::Text, "fn main"),
            ("", EverythingScope::All, ""),
        ] {
            assert_eq!(EverythingScope::parse(query), (scope, rest), "{query}");
        }
        let mut query = "x".to_owned();
        let mut seen = Vec::new();
        for _ in 0..4 {
            query = EverythingScope::next(&query);
            seen.push(query.clone());
        }
        assert_eq!(seen, ["#x", "?x", "%x", "x"]);
    }

    #[test]
    fn the_kind_of_query_orders_the_sections() {
        let check = |query: &str, expect: &[&str]| {
            let (rows, sections) = ordered(query, EverythingScope::All, sources());
            let titles: Vec<&str> = sections
                .iter()
                .map(|(_, section)| section.title())
                .collect();
            assert_eq!(titles, expect, "{query}");
            assert_eq!(rows.len(), sections.len(), "a place stands once");
        };
        check("parse", &["Symbols", "Files", "Text", "Meaning"]);
        check("pars", &["Files", "Symbols", "Text", "Meaning"]);
        check("prs", &["Symbols", "Text", "Meaning", "Files"]);
        check("src/parse", &["Files", "Symbols", "Text", "Meaning"]);
        check("read every file", &["Meaning", "Symbols", "Text"]);
        check("src parse", &["Meaning", "Symbols", "Text", "Files"]);
    }

    #[test]
    fn a_file_is_found_by_words_of_its_name() {
        let files = |query: &str, path: &str| {
            let file = FileMatch {
                path: path.to_owned(),
                matched: Vec::new(),
                is_recent: false,
            };
            let sources = SourceMatches {
                files: vec![file],
                ..sources()
            };
            let (_, sections) = ordered(query, EverythingScope::All, sources);
            let mut titles = sections.iter().map(|(_, section)| section.title());
            titles.position(|title| title == "Files")
        };
        assert_eq!(files("my notes", "docs/my notes.txt"), Some(0));
        assert_eq!(files("!my notes", "docs/!my notes.txt"), Some(0));
        assert_eq!(files("wbench pick", "workbench/pickers.rs"), Some(3));
        assert_eq!(files("notes !old", "docs/notes.txt"), Some(3));
        assert_eq!(files("where is it read", "workbench/pickers.rs"), None);
    }

    #[test]
    fn a_question_is_answered_at_more_length_than_a_name() {
        let meaning = (0..20).map(|row| place(EverythingSection::Meaning, "a.rs", row, "a"));
        let sources = SourceMatches {
            meaning: meaning.collect(),
            ..SourceMatches::default()
        };
        let count = |query, scope| ordered(query, scope, sources.clone()).0.len();
        assert_eq!(count("parse", EverythingScope::All), 5);
        assert_eq!(count("how it parses", EverythingScope::All), 9);
        assert_eq!(count("how it parses", EverythingScope::Meaning), 20);
    }

    #[test]
    fn a_scope_shows_one_section() {
        let (rows, sections) = ordered("parse", EverythingScope::Text, sources());
        assert_eq!(sections, [(0, EverythingSection::Text)]);
        assert!(matches!(&rows[..], [EverythingMatch::Place(place)] if place.path == "src/lib.rs"));
    }
}
