//! Hunks, keystroke counts and peers of the replay.

use text::{Buffer, EditOrigin, Timestamp};

use super::baselines::{Keywords, next_use, removed_name};
use super::hunks::hunks;
use super::typing::{agrees, one_key};

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
