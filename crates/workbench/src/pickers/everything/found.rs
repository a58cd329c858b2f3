//! What the search through everything finds, and in which order it is shown.
//!
//! Pure. Start at `Scope::parse` and `ordered`.

use text::RowSpan;

use crate::finder::FoundFile;
use crate::target::Target;

/// Rows by meaning for several words, which are seldom a name or a text: they fill most of the list.
const OF_A_QUESTION: usize = 9;

/// Where is looked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) enum Scope {
    /// Everywhere.
    #[default]
    All,
    /// Names of functions, types and the like: `@`.
    Symbols,
    /// What code is about: `?`.
    Meaning,
    /// The text of all files: `%`.
    Text,
}

impl Scope {
    /// Splits the sign of a scope off a query.
    pub(crate) fn parse(query: &str) -> (Self, &str) {
        let query = query.trim_start();
        for (scope, sign) in [
            (Self::Symbols, '@'),
            (Self::Meaning, '?'),
            (Self::Text, '%'),
        ] {
            if let Some(rest) = query.strip_prefix(sign) {
                return (scope, rest.trim());
            }
        }
        (Self::All, query.trim())
    }

    /// The same query one scope further.
    pub(crate) fn next(query: &str) -> String {
        let (scope, rest) = Self::parse(query);
        let sign = match scope {
            Self::All => "@",
            Self::Symbols => "?",
            Self::Meaning => "%",
            Self::Text => "",
        };
        format!("{sign}{rest}")
    }

    /// How many rows of a kind are shown.
    pub(crate) fn most(self, section: Section) -> usize {
        match (self, section) {
            (Self::All, Section::Files) => 6,
            (Self::All, Section::Symbols | Section::Meaning) => 5,
            (Self::All, Section::Text) => 8,
            (Self::Symbols, Section::Symbols) | (Self::Meaning, Section::Meaning) => 50,
            (Self::Text, Section::Text) => 300,
            _ => 0,
        }
    }
}

/// What kind of thing was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Section {
    /// Files by name.
    Files,
    /// Symbols by name.
    Symbols,
    /// Places by what they are about.
    Meaning,
    /// Rows by their text.
    Text,
}

impl Section {
    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::Files => "Files",
            Self::Symbols => "Symbols",
            Self::Meaning => "Meaning",
            Self::Text => "Text",
        }
    }
}

/// A place in a file.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FoundPlace {
    pub(crate) section: Section,
    /// Relative to the folder.
    pub(crate) path: String,
    /// Its rows.
    pub(crate) rows: RowSpan,
    /// The bytes of the first row that matched.
    pub(crate) columns: Option<(u32, u32)>,
    /// What the row of the list says.
    pub(crate) title: String,
    /// The bytes of the title that matched.
    pub(crate) matched: Vec<usize>,
    pub(crate) kind: Option<syntax::OutlineKind>,
}

/// One row of the list.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Found {
    File(FoundFile),
    Place(FoundPlace),
}

impl Found {
    pub(crate) fn path(&self) -> &str {
        match self {
            Self::File(file) => &file.path,
            Self::Place(place) => &place.path,
        }
    }
}

/// What each source found.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sources {
    pub(crate) files: Vec<FoundFile>,
    pub(crate) symbols: Vec<FoundPlace>,
    pub(crate) meaning: Vec<FoundPlace>,
    pub(crate) text: Vec<FoundPlace>,
}

/// Those of the rows found for an older query that hold the text asked for now, capitals aside.
pub(crate) fn still_fitting(mut found: Vec<FoundPlace>, asked: &str) -> Vec<FoundPlace> {
    let asked = asked.to_lowercase();
    found.retain(|place| place.title.to_lowercase().contains(&asked));
    found
}

/// Puts what was found into sections, those first that answer a query of its kind best; with the row where each begins.
pub(crate) fn ordered(
    query: &str,
    scope: Scope,
    sources: Sources,
) -> (Vec<Found>, Vec<(usize, Section)>) {
    let Sources {
        mut files,
        symbols,
        mut meaning,
        mut text,
    } = sources;
    let path = Target::parse(query).path;
    let words: Vec<String> = path.split_whitespace().map(str::to_lowercase).collect();
    if words.len() > 1 {
        // A question matches many long paths letter by letter, but seldom a single name.
        files.retain(|file| {
            let path = file.path.to_lowercase();
            words.iter().all(|word| is_in_name(&path, word))
        });
    }
    let is_same = |one: &FoundPlace, other: &FoundPlace| {
        one.path == other.path && one.rows.start == other.rows.start
    };
    // The same place is shown once, by its strongest reason.
    meaning.retain(|place| !symbols.iter().any(|symbol| is_same(symbol, place)));
    if scope == Scope::All {
        text.retain(|place| !symbols.iter().any(|symbol| is_same(symbol, place)));
    }
    let mut files: Vec<Found> = files.into_iter().map(Found::File).collect();
    let places = |places: Vec<FoundPlace>| places.into_iter().map(Found::Place).collect();
    let (mut symbols, mut meaning, mut text): (Vec<_>, Vec<_>, Vec<_>) =
        (places(symbols), places(meaning), places(text));
    let mut rows = Vec::new();
    let mut sections = Vec::new();
    for section in order(query, &files, &symbols) {
        let of = match section {
            Section::Files => &mut files,
            Section::Symbols => &mut symbols,
            Section::Meaning => &mut meaning,
            Section::Text => &mut text,
        };
        let is_question = scope == Scope::All && words.len() > 1;
        let most = match section {
            Section::Meaning if is_question => OF_A_QUESTION,
            section => scope.most(section),
        };
        let count = of.len().min(most);
        if count > 0 {
            sections.push((rows.len(), section));
            rows.extend(of.drain(..count));
        }
    }
    (rows, sections)
}

/// A path is looked for among files, a question by meaning, a name among names. A file whose letters merely come in
/// the right order is seldom what is meant.
fn order(query: &str, files: &[Found], symbols: &[Found]) -> [Section; 4] {
    use Section::{Files, Meaning, Symbols, Text};
    let words = query.split_whitespace().count();
    let is_path = query.contains(['/', '.']) && !query.contains("::");
    let is_named = |found: &Found| match found {
        Found::Place(place) => place.title.eq_ignore_ascii_case(query),
        Found::File(_) => false,
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

/// Whether a path contains a word, or one of its names the letters of the word in order. Negated words match,
/// because the search has applied them.
fn is_in_name(path: &str, word: &str) -> bool {
    let has_letters = |name: &str| {
        let mut letters = name.chars();
        word.chars()
            .all(|wanted| letters.any(|letter| letter == wanted))
    };
    word.starts_with('!') || path.contains(word) || path.split('/').any(has_letters)
}

/// Whether a file's name holds what was typed, in one piece.
fn holds(path: &str, query: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path).to_lowercase();
    name.contains(&query.to_lowercase())
}

#[cfg(test)]
mod tests {
    use base::Row;
    use text::RowSpan;

    use super::{Found, FoundPlace, Scope, Section, Sources, ordered, still_fitting};
    use crate::finder::FoundFile;

    fn place(section: Section, path: &str, row: u32, title: &str) -> FoundPlace {
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
        }
    }

    fn sources() -> Sources {
        Sources {
            files: vec![FoundFile {
                path: "src/parse.rs".to_owned(),
                matched: Vec::new(),
                is_recent: false,
            }],
            symbols: vec![place(Section::Symbols, "src/parse.rs", 3, "parse")],
            meaning: vec![
                place(Section::Meaning, "src/parse.rs", 3, "parse"),
                place(Section::Meaning, "src/read.rs", 9, "read_all"),
            ],
            text: vec![place(Section::Text, "src/lib.rs", 1, "mod parse;")],
        }
    }

    #[test]
    fn rows_of_an_older_query_stay_as_far_as_they_hold_the_new_one() {
        let found = vec![
            place(Section::Text, "a.rs", 1, "let Parsed = 1;"),
            place(Section::Text, "a.rs", 2, "let parser = 1;"),
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
            ("main", Scope::All, "main"),
            ("@ main ", Scope::Symbols, "main"),
            ("?how it works", Scope::Meaning, "how it works"),
            ("%fn main", Scope::Text, "fn main"),
            ("", Scope::All, ""),
        ] {
            assert_eq!(Scope::parse(query), (scope, rest), "{query}");
        }
        let mut query = "x".to_owned();
        let mut seen = Vec::new();
        for _ in 0..4 {
            query = Scope::next(&query);
            seen.push(query.clone());
        }
        assert_eq!(seen, ["@x", "?x", "%x", "x"]);
    }

    #[test]
    fn the_kind_of_query_orders_the_sections() {
        let check = |query: &str, expect: &[&str]| {
            let (rows, sections) = ordered(query, Scope::All, sources());
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
            let file = FoundFile {
                path: path.to_owned(),
                matched: Vec::new(),
                is_recent: false,
            };
            let sources = Sources {
                files: vec![file],
                ..sources()
            };
            let (_, sections) = ordered(query, Scope::All, sources);
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
        let meaning = (0..20).map(|row| place(Section::Meaning, "a.rs", row, "a"));
        let sources = Sources {
            meaning: meaning.collect(),
            ..Sources::default()
        };
        let count = |query, scope| ordered(query, scope, sources.clone()).0.len();
        assert_eq!(count("parse", Scope::All), 5);
        assert_eq!(count("how it parses", Scope::All), 9);
        assert_eq!(count("how it parses", Scope::Meaning), 20);
    }

    #[test]
    fn a_scope_shows_one_section() {
        let (rows, sections) = ordered("parse", Scope::Text, sources());
        assert_eq!(sections, [(0, Section::Text)]);
        assert!(matches!(&rows[..], [Found::Place(place)] if place.path == "src/lib.rs"));
    }
}
