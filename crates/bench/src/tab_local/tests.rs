//! Hunks, keystroke counts and peers of the replay.

use text::{Buffer, EditOrigin, Timestamp};

use super::asker::{Asker, Names, at_caret};
use super::baselines::{Keywords, next_use, removed_name};
use super::control::{self, KINDS, Kind};
use super::fixture::{LANGUAGES, changed_files};
use super::hunks::hunks;
use super::local_tier::OpenFile;
use super::probe::{self, Extent};
use super::typing::{agrees, one_key};
use super::wrong::{self, Caret};
use crate::interleave::Dice;
use crate::samples::is_balanced;
use replay::ChangedFile;

#[test]
fn hunks_made_one_after_the_other_give_the_new_text() {
    let texts = [
        "a\nb\nc\nd\ne\nf\ng\nh\n",
        "a\nB\nc\nd\nx\ny\ne\ng\nh\ni\n",
        "b\nc\nd d\ne\nf\ng",
        "",
        "größe\na\n\nb\n",
    ];
    for (old, new) in texts.iter().flat_map(|old| texts.map(|new| (*old, new))) {
        let mut buffer = Buffer::new(old);
        for hunk in hunks(old, new) {
            buffer.replace(hunk.old, &hunk.new, &EditOrigin::user(Timestamp(0)));
        }
        assert_eq!(buffer.snapshot().to_string(), new, "from {old:?}");
    }
}

#[test]
fn rows_that_changed_are_told_by_the_tokens_that_differ() {
    let hunks = hunks("x\nf(a, b);\ny\n", "x\nf(a, c.d);\ny\n");
    let changes = hunks[0].row_changes();
    let words = |words: &[&str]| words.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>();
    assert_eq!(changes, [(words(&["b"]), words(&["c", ".", "d"]))]);
    assert_eq!(hunks[0].rows, (1, 2));
}

#[test]
fn keywords_cost_their_letters_or_the_keys_that_complete_them() {
    let keys = |text: &str, typed: &str| Keywords::new(text, text.len(), &[]).keys(typed);
    // A letter and one key; of two words with that letter the second takes one press more.
    assert_eq!(keys("reader", "reader"), (6, 2, 2));
    assert_eq!(keys("render reader", "reader"), (6, 2, 3));
    assert_eq!(keys("render", "reader"), (6, 6, 6));
    // A typed word can be completed from then on; a line end includes the indentation of the next row.
    assert_eq!(keys("", "reader\n    reader"), (13, 9, 9));
    assert_eq!(one_key("\n    x"), 5);
}

#[test]
fn a_suggestion_is_right_up_to_the_end_of_a_word() {
    assert!(agrees("reader.next()", "reader"));
    assert!(!agrees("readers", "reader"));
    assert!(!agrees("read", "reader"));
}

#[test]
fn the_simple_guesses_look_for_whole_words_around_the_end_of_the_text() {
    assert_eq!(
        removed_name("f ( old )", "f ( new )"),
        Some("old".to_owned())
    );
    assert_eq!(removed_name("( 1 )", "( 2 )"), None);
    assert_eq!(next_use("old\nolder\nold\n", "old", 0), Some(2));
    assert_eq!(next_use("old\nolder\n", "old", 1), Some(0));
    assert_eq!(next_use("older\n", "old", 0), None);
}

/// Returns a Rust file with the caret between two texts.
fn open_at(before: &str, behind: &str) -> OpenFile {
    let file = ChangedFile {
        path: base::AbsPath::new("/project/a.rs").expect("absolute"),
        language: syntax::language_named("Rust").expect("a grammar"),
        old: format!("{before}{behind}"),
        new: String::new(),
    };
    let mut open = OpenFile::new(&file);
    open.caret = base::ByteOffset(before.len());
    open
}

#[test]
fn wrong_text_is_made_from_what_is_around_the_caret() {
    let above = "fn run(total: usize) {\n    first(total);\n    second(total);\n";
    let behind = "\n    third(total);\n    fourth(total);\n    fifth(total);\n}\n";
    let open = open_at(&format!("{above}    call("), behind);
    let caret = Caret::new(&open, "total, other);");
    let dice = &mut Dice::new(7);
    let joined = wrong::joined_wrongly(&caret);
    assert_eq!(joined.as_deref(), Some("call(total, other);"));
    let closed = wrong::duplicated_closer(&caret);
    assert_eq!(closed, Some(("total, other)".to_owned(), ")".to_owned())));
    for seed in 1..20 {
        let unbalanced = wrong::unbalanced(&caret, &mut Dice::new(seed)).expect("code");
        assert_eq!(unbalanced.len(), "total, other);".len() + 1);
        assert!(!is_balanced(&format!("call({unbalanced}")), "{unbalanced}");
    }
    let cut = wrong::cut_in_word(&caret, dice).expect("long words");
    let rest = "total, other);".strip_prefix(&cut).expect("its beginning");
    assert!(cut.ends_with(char::is_alphabetic) && rest.starts_with(char::is_alphabetic));
    let repeated = wrong::repeats_suffix(&caret, dice).expect("rows behind");
    assert!(
        repeated.starts_with("total, other);\n    third(total);"),
        "{repeated}"
    );
    assert_eq!(wrong::repeats_above(&caret, dice), None, "a row has begun");
    let open = open_at(&format!("{above}    "), behind);
    let caret = Caret::new(&open, "call(total);");
    let repeated = wrong::repeats_above(&caret, dice).expect("rows above");
    assert!(repeated.ends_with("second(total);"), "{repeated}");
    let open = open_at(above, &behind[1..]);
    let caret = Caret::new(&open, "    call(total);\n");
    let repeated = wrong::repeats_suffix(&caret, dice).expect("rows behind");
    assert!(
        repeated.starts_with("    call(total);\n    third(total);\n"),
        "{repeated}"
    );
    let open = open_at(&format!("{above}    /* "), " */\n}\n");
    let caret = Caret::new(&open, "call(total);");
    assert_eq!(wrong::unbalanced(&caret, dice), None, "a comment");
}

#[test]
fn unknown_members_are_refused_once_names_are_known() {
    let before = "enum Shape {\n    Circle,\n    Square,\n}\n\nfn area() {\n    measure(";
    let open = open_at(before, ");\n}\n");
    let mut asker = Asker::new();
    let refusals = |asker: &Asker, text: &str| {
        let suggestion = at_caret(&open, text);
        [Names::Unknown, Names::Known].map(|names| asker.refusal(&open, &suggestion, names))
    };
    assert_eq!(refusals(&asker, "Shape::Triangle"), [None, None]);
    asker.read_names(&open);
    let refused = Some("UnknownName".to_owned());
    assert_eq!(refusals(&asker, "Shape::Triangle"), [None, refused]);
    assert_eq!(refusals(&asker, "Shape::Circle"), [None, None]);
}

const EXTENTS: [Extent; 3] = [Extent::Word, Extent::Line, Extent::Hunk];
/// Right responses that are refused with this fixture, measured, by language: for the rest of the word, of the line and of
/// the hunk. Names make no difference in it.
const REFUSED_RIGHT: [(&str, [usize; 3]); LANGUAGES.len()] = [
    ("rust", [0, 19, 0]),
    ("python", [0, 3, 2]),
    ("javascript", [2, 3, 1]),
    ("typescript", [1, 1, 0]),
    ("go", [1, 19, 25]),
];
/// Further responses that may be refused in a language. The fixture is fixed, so only the checks and the grammars change a
/// count; a new version of a grammar can parse differently what a response or two contain.
const MORE_REFUSED: usize = 2;
/// The model is asked at one of this many carets.
const STEP: usize = 5;

#[test]
fn right_text_is_rarely_refused() {
    let mut problems = Vec::new();
    for (language, measured) in REFUSED_RIGHT {
        let mut tally = probe::Tally::new(STEP);
        for file in changed_files(language) {
            tally.commit(&[file]);
        }
        for (extent, measured) in EXTENTS.into_iter().zip(measured) {
            for names in [Names::Known, Names::Unknown] {
                let (asked, refused) = tally.count(extent, names);
                assert!(asked > 0, "{language}, {extent:?}: nothing was asked");
                let counts = format!("{refused} of {asked} are refused, {measured} were");
                println!("{language}, {extent:?}, names {names:?}: {counts}");
                if refused > measured + MORE_REFUSED {
                    problems.push(format!("{language}, {extent:?}, names {names:?}: {counts}"));
                }
            }
        }
    }
    assert!(problems.is_empty(), "{problems:#?}");
}

/// Wrong responses that are refused with this fixture, and all of them, measured, by kind; and by how many cases fewer may
/// be refused. The cases are drawn from a seed, so only the checks and the grammars change a count. Checks that compare
/// texts have no slack. Those that parse have the cases of one hunk, which a new version of a grammar can parse
/// differently: one at each of its five carets.
const REFUSED_WRONG: [(Kind, (usize, usize), usize); KINDS.len()] = [
    (Kind::Unbalanced, (183, 223), 5),
    (Kind::JoinedWrongly, (245, 245), 0),
    (Kind::RepeatsSuffix, (356, 390), 5),
    (Kind::RepeatsAbove, (88, 92), 0),
    (Kind::Deleted, (82, 82), 0),
    (Kind::Undone, (132, 132), 0),
    (Kind::Rejected, (372, 372), 0),
    (Kind::CutInWord, (141, 360), 5),
    (Kind::OtherLanguage, (381, 491), 5),
    (Kind::DuplicatedCloser, (37, 58), 5),
];

#[test]
fn wrong_text_is_refused() {
    let mut tally = control::Tally::new();
    tally.set_limit(control::CASES);
    for file in LANGUAGES.into_iter().flat_map(changed_files) {
        tally.commit(&[file]);
    }
    let mut problems = Vec::new();
    for (kind, (measured, cases), slack) in REFUSED_WRONG {
        let (count, refused) = tally.count_of(kind);
        assert!(count > 0, "{kind:?}: there are no cases");
        let counts = format!("{refused} of {count} are refused, {measured} of {cases} were");
        println!("{kind:?}: {counts}");
        // A change of the fixture can change the number of cases.
        if refused * cases < measured.saturating_sub(slack) * count {
            problems.push(format!("{kind:?}: {counts}"));
        }
    }
    assert!(problems.is_empty(), "{problems:#?}");
}
