//! Files hold what the preview showed, in their encoding and with their line endings.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use base::{AbsPath, Row};
use host::FakeFiles;
use project::WalkBackend;
use project::search::{
    CaseSensitivity, FileMatches, MatchingRow, SearchEvent, SearchQuery, SearchScope, TextMatch,
    search,
};
use text::{Encoding, FileFormat, LineEndings, Snapshot, Timestamp};

use super::{
    DiskWriter, FileReplacement, ReplacedFile, Replacer, preview, replace_in_file,
    take_back_in_file,
};

fn path() -> AbsPath {
    AbsPath::new("/p/f").expect("absolute")
}

struct World {
    files: Arc<FakeFiles>,
    query: SearchQuery,
    replace: Replacer,
}

impl World {
    fn new(content: &[u8], query: SearchQuery, template: &str) -> Self {
        let files = FakeFiles::new();
        files.write(&path(), content);
        let replace = Replacer {
            matcher: query.matcher().expect("a pattern"),
            pattern: query.in_text().pattern,
            template: template.to_owned(),
        };
        Self {
            files: Arc::new(files),
            query,
            replace,
        }
    }

    fn content(&self) -> Vec<u8> {
        self.files.content(&path()).expect("the file").to_vec()
    }

    fn text(&self) -> String {
        text::decode(&self.content()).text.into_owned()
    }

    fn search(&self) -> Option<FileMatches> {
        let ground = WalkBackend::Listed(self.files.clone());
        let root = AbsPath::new("/p").expect("absolute");
        let (sender, events) = async_channel::unbounded();
        let scope = SearchScope::new(ground, root);
        search(&self.query, &scope, &AtomicBool::new(false), &sender).expect("a pattern");
        drop(sender);
        let mut found = std::iter::from_fn(|| events.try_recv().ok());
        found.find_map(|event| match event {
            SearchEvent::File(file) => Some(file),
            _ => None,
        })
    }

    fn disk<R>(&self, act: impl FnOnce(&DiskWriter<'_>) -> R) -> R {
        act(&DiskWriter {
            files: self.files.as_ref(),
            recovery: &AbsPath::new("/recovery").expect("absolute"),
            at: Timestamp(1),
        })
    }

    /// Replaces the matches of the rows that `takes` takes.
    fn replace(
        &self,
        file: &FileMatches,
        takes: impl Fn(&MatchingRow) -> bool,
    ) -> Result<ReplacedFile, crate::Error> {
        let of = |taken: bool| -> Vec<TextMatch> {
            let rows = file.rows.iter().filter(|row| takes(row) == taken);
            rows.flat_map(MatchingRow::matches).collect()
        };
        let target = FileReplacement {
            path: file.path.clone(),
            content: file.content,
            line_ending: file.line_ending,
            matches: of(true),
            rest: of(false),
            context_rows: self.query.context_rows,
        };
        self.disk(|disk| replace_in_file(&self.replace, &target, disk))
    }

    /// The text with the rows that `takes` takes as their previews show them.
    fn previewed(&self, file: &FileMatches, takes: impl Fn(&MatchingRow) -> bool) -> String {
        let mut text = self.text();
        for row in file.rows.iter().rev().filter(|row| takes(row)) {
            let end = row.start.0 + row.text.len() + row.ending.len();
            let shown = preview(&self.replace, file.line_ending, row);
            text.replace_range(row.start.0..end, &shown);
        }
        text
    }
}

#[track_caller]
fn check(content: &str, query: SearchQuery, template: &str, expect: &str) {
    let world = World::new(content.as_bytes(), query, template);
    let found = world.search().expect("a match");
    assert_eq!(world.previewed(&found, |_| true), expect);
    let replaced = world.replace(&found, |_| true).expect("replaced");
    assert_eq!(world.text(), expect);
    assert_eq!(replaced.rest, None);
    let taken_back = world.disk(|disk| take_back_in_file(&replaced, disk));
    assert!(taken_back.expect("taken back"));
    assert_eq!(world.text(), content);
    let again = world.disk(|disk| take_back_in_file(&replaced, disk));
    assert!(!again.expect("an unchanged file"));
}

#[test]
fn replacing_keeps_the_rows_that_the_preview_keeps() {
    let regex = SearchQuery::regex;
    check("a  \n\n\nb\t\n", regex(r"\s+$"), "", "a\n\n\nb\n");
    check("a  \r\n\r\nb\t\r\n", regex(r"\s+$"), "", "a\r\n\r\nb\r\n");
    check("b \n\nb\n  c\n", regex(r"b\s*"), "B", "B\n\nB\n  c\n");
    check("a\n\nb\n", regex("[^b]+"), "x", "x\n\nb\n");
    check(&"row x\n".repeat(4), regex(r"row x\n"), "", "");
    check(
        &"row x\r\n".repeat(4),
        regex(r"x\n"),
        "y ",
        "row y row y row y row y ",
    );
    check("a\r\nb\r\nc", regex(r"(\w)\n"), r"$1;\n", "a;\r\nb;\r\nc");
    check("a\nb\n", regex("^"), "// ", "// a\n// b\n");
    check("a\r\nb", regex("$"), ";", "a;\r\nb;");
    check("axb", regex("x*"), "-", "-a-b-");
    check("word words", regex(r"\b(w)ord\b"), "<$1>", "<w> words");
    check("ab\nab\n", regex(r"\A(a)|(b)\n\z"), "<$1$2>", "<a>b\na<b>");
    check("a.b axb", SearchQuery::literal("a.b"), "$0\\n", "$0\\n axb");
    check("(a)(b)", SearchQuery::literal("(b)"), "", "(a)");
    check("foo Foo", SearchQuery::literal("foo"), "x", "x x");
}

#[test]
fn a_file_changed_since_the_search_is_reported_unchanged() {
    let world = World::new(b"old one\nold two\n", SearchQuery::literal("old"), "new");
    let found = world.search().expect("a match");
    world.files.write(&path(), "another old one\nold two\n");
    let refused = world.replace(&found, |_| true).expect_err("it changed");
    let refused = refused.to_string();
    assert!(
        refused.contains("/p/f") && refused.contains("changed"),
        "{refused}"
    );
    assert_eq!(world.text(), "another old one\nold two\n");
}

#[test]
fn what_was_replaced_is_not_taken_back_over_later_changes() {
    let world = World::new(b"old\n", SearchQuery::literal("old"), "new");
    let replaced = world.replace(&world.search().expect("a match"), |_| true);
    world.files.write(&path(), "new and more\n");
    let refused = world
        .disk(|disk| take_back_in_file(&replaced.expect("replaced"), disk))
        .expect_err("it changed");
    let refused = refused.to_string();
    assert!(refused.contains("/p/f"), "{refused}");
    assert_eq!(world.text(), "new and more\n");
}

#[test]
fn rows_that_are_left_can_be_replaced_next() {
    let text = "x one\nx two x\nthree\nx four\n";
    let world = World::new(
        text.as_bytes(),
        SearchQuery::regex(r"x\s(\w+)\n?"),
        r"<$1>\n\n",
    );
    let mut found = world.search();
    for expect in [
        "<one>\n\nx two x\nthree\nx four\n",
        "<one>\n\n<two>\n\n <three>\n\nx four\n",
        "<one>\n\n<two>\n\n <three>\n\n<four>\n\n",
    ] {
        let file = found.expect("a match");
        let first = file.rows[0].row;
        let takes = |row: &MatchingRow| row.row == first;
        assert_eq!(world.previewed(&file, takes), expect);
        found = world.replace(&file, takes).expect("replaced").rest;
        assert_eq!(world.text(), expect);
    }
    assert_eq!(found, None);
}

#[test]
fn a_match_outside_the_shown_text_is_not_previewed() {
    let text = format!("{}old{}old\n", "-".repeat(500), "-".repeat(2_000));
    let world = World::new(text.as_bytes(), SearchQuery::literal("old"), "new");
    let file = world.search().expect("a match");
    let shown = preview(&world.replace, file.line_ending, &file.rows[0]);
    assert!(shown.contains("-new-") && !shown.contains("old"), "{shown}");
    world.replace(&file, |_| true).expect("replaced");
    assert_eq!(world.text(), text.replace("old", "new"));
}

#[test]
fn a_missing_file_is_a_sentence() {
    let world = World::new(b"old", SearchQuery::literal("old"), "");
    let file = world.search().expect("a match");
    let elsewhere = FileMatches {
        path: AbsPath::new("/gone").expect("absolute"),
        ..file
    };
    let refused = world.replace(&elsewhere, |row| row.row == Row(0));
    assert!(refused.is_err_and(|error| error.to_string().contains("/gone")));
}

/// A small generator, so that a seed gives the same run everywhere.
struct Random(u64);

impl Random {
    fn below(&mut self, count: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % count.max(1) as u64) as usize
    }

    fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }

    fn pattern(&mut self) -> String {
        let mut pattern = String::new();
        for _ in 0..1 + self.below(3) {
            let atom = self.pick(ATOMS);
            pattern.push_str(atom);
            if !matches!(atom, "^" | "$" | r"\b" | r"\A" | r"\z") {
                pattern.push_str(self.pick(&["", "", "*", "+", "?", "*?", "{2}"]));
            }
            if self.below(6) == 0 {
                pattern.push('|');
            }
        }
        pattern
    }
}

const WORDS: &[&str] = &[
    "a", "b", "ab", "x", "Ab", " ", "\t", "  ", ".", "é", "_", "aab",
];
const ATOMS: &[&str] = &[
    "a", "b", ".", "[ab]", "[^a]", r"\w", r"\s", r"\n", r"\b", "^", "$", r"\W", "(a|b)", "(x)",
    "é", r"\S", r"\A", r"\z", "[^\n]", r"\r", r"(\s)",
];
const TEMPLATES: &[&str] = &[
    "", "y", "$1", "<$&>", r"\n", "$1-$2", r"$1\n$1", "// ", "$$", "xx\\t",
];

/// Returns the factor by which the usual rounds are multiplied: `BURIN_ROUNDS=50` for a longer search.
fn rounds() -> u64 {
    let asked = std::env::var("BURIN_ROUNDS").ok();
    asked.and_then(|asked| asked.parse().ok()).unwrap_or(1)
}

fn query(random: &mut Random) -> SearchQuery {
    let query = match random.below(4) {
        0 => SearchQuery::literal(random.pick(&["a", "b ", "ab", "\n", "a\nb", ".", "é"])),
        _ => SearchQuery::regex(random.pattern()),
    };
    SearchQuery {
        case: random.pick(&[
            CaseSensitivity::Smart,
            CaseSensitivity::Sensitive,
            CaseSensitivity::Insensitive,
        ]),
        whole_word: random.below(5) == 0,
        context_rows: random.below(3),
        ..query
    }
}

/// A text in one of many encodings.
fn content(random: &mut Random) -> Vec<u8> {
    let endings = random.pick(&[["\n"; 3], ["\r\n"; 3], ["\n", "\r\n", "\r"]]);
    let mut text = "some words of a text".to_owned();
    for _ in 0..random.below(30) {
        let word = match random.below(3) {
            0 => random.pick(&endings),
            _ => random.pick(WORDS),
        };
        text.push_str(word);
    }
    let (encoding, bom) = random.pick(&[
        (Encoding::UTF_8, false),
        (Encoding::UTF_8, true),
        (Encoding::UTF_16LE, false),
        (Encoding::UTF_16LE, true),
        (Encoding::UTF_16BE, false),
        (Encoding::UTF_16BE, true),
        (Encoding::named("latin1").expect("an encoding"), false),
    ]);
    encode(&text, encoding, bom)
}

fn encode(text: &str, encoding: Encoding, bom: bool) -> Vec<u8> {
    let format = FileFormat {
        encoding,
        bom,
        line_endings: LineEndings::Lf,
    };
    text::encode(&Snapshot::new(text), &format).expect("characters that it has")
}

#[test]
fn files_hold_what_the_preview_showed() {
    let seed = 0x5eed_0f1e;
    let (mut replaced_in, mut in_part) = (0, 0);
    for round in 0..3_000 * rounds() {
        let mut random = Random(seed + round * 7919);
        let content = content(&mut random);
        let (query, template) = (query(&mut random), random.pick(TEMPLATES));
        println!("seed {seed} round {round} {query:?} {template:?} {content:?}");
        let world = World::new(&content, query, template);
        let Some(file) = world.search() else { continue };
        let decoded = text::decode(&content);
        assert_eq!(decoded.read_only, None);
        let one_in = 1 + random.below(3) as u32;
        let takes = |row: &MatchingRow| row.row.0.is_multiple_of(one_in);
        let expect = world.previewed(&file, takes);
        let all = world.query.in_text();
        let replaced = world.replace(&file, takes).expect("replaced");
        let bytes = encode(&expect, decoded.format.encoding, decoded.format.bom);
        assert_eq!(world.content(), bytes, "{all:?}");
        in_part += usize::from(replaced.rest.is_some());
        replaced_in += 1;
        let left = replaced.rest.iter().flat_map(|file| &file.rows);
        for found in left.flat_map(MatchingRow::matches) {
            let old = file.rows.iter().flat_map(MatchingRow::matches);
            let mut same = old.filter(|old| old.groups == found.groups);
            let text = &expect[found.span.range()];
            assert!(same.any(|old| &decoded.text[old.span.range()] == text));
        }
        world
            .disk(|disk| take_back_in_file(&replaced, disk))
            .expect("nothing changed since");
        assert_eq!(world.content(), content);
    }
    assert!(
        replaced_in > 1_000 && in_part > 100,
        "{replaced_in} {in_part}"
    );
}

#[test]
fn undo_reads_the_encoding_that_was_written() {
    // With a line feed before its accented letter, the text looks like another encoding.
    let content = b"some words of a text  b.aab\n\xe9x\na .xAb\n";
    for one_in in 1..=3u32 {
        let world = World::new(content, SearchQuery::regex("^^"), "$1\\n$1");
        let found = world.search().expect("a match");
        let replaced = world.replace(&found, |row| row.row.0.is_multiple_of(one_in));
        let undone = world.disk(|disk| take_back_in_file(&replaced.expect("replaced"), disk));
        assert!(undone.expect("nothing changed since"));
        assert_eq!(world.content(), content);
    }
}
