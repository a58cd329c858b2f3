//! Tests the matcher, the ranking and the list without a view.

use base::{ByteOffset, Revision};
use rand::rngs::StdRng;
use rand::{Rng as _, SeedableRng as _};
use text::Snapshot;

use super::matcher::{MatchQuality, letter_mask, match_quality, matched_bytes};
use super::{
    CompletionGroup, CompletionId, CompletionItem, CompletionKind, CompletionList, GroupItems,
    RankingMemory, nearby_words, word_items, word_start,
};

const SOURCE: CompletionGroup = CompletionGroup::Source(0);

fn item(id: u64, label: &str) -> CompletionItem {
    CompletionItem::new(CompletionId(id), label.to_owned(), CompletionKind::Function)
}

/// Numbers labels as items. `label/sort` sets the sort text, a leading `*` preselects.
fn items(labels: &[&str]) -> Vec<(CompletionItem, u32)> {
    let build = |(id, text): (u64, &&str)| {
        let (text, is_preselected) = match text.strip_prefix('*') {
            Some(text) => (text, true),
            None => (*text, false),
        };
        let (label, sort) = text.split_once('/').unwrap_or((text, text));
        let mut item = item(id, label);
        item.sort_text = sort.to_owned().into();
        item.is_preselected = is_preselected;
        (item, 0)
    };
    (0..).zip(labels).map(build).collect()
}

fn set_items(
    list: &mut CompletionList,
    group: CompletionGroup,
    items: impl IntoIterator<Item = (CompletionItem, u32)>,
    memory: &RankingMemory,
) {
    list.merge([GroupItems::new(group, items, memory)]);
}

fn list(query: &str, labels: &[&str]) -> CompletionList {
    let mut list = CompletionList::new(query);
    set_items(&mut list, SOURCE, items(labels), &RankingMemory::default());
    list
}

/// Formats the rows with the selected one in brackets.
fn rows(list: &CompletionList) -> String {
    let labels = list.labels();
    let format = |(row, label): (usize, &gpui_kit::SharedString)| {
        if row == list.selected_row() {
            format!("[{label}]")
        } else {
            label.to_string()
        }
    };
    labels
        .iter()
        .enumerate()
        .map(format)
        .collect::<Vec<_>>()
        .join(" ")
}

fn check_match(query: &str, text: &str, quality: Option<MatchQuality>) {
    assert_eq!(match_quality(query, text), quality, "{query:?} in {text:?}");
    let mask = letter_mask(query);
    let passes = letter_mask(text) & mask == mask;
    assert!(passes || quality.is_none(), "{query:?} in {text:?}: mask");
}

#[test]
fn a_match_has_its_quality() {
    use MatchQuality::*;
    check_match("foo", "foo", Some(Exact));
    check_match("fo", "fooBar", Some(CasePrefix));
    check_match("FO", "fooBar", Some(Prefix));
    check_match("", "fooBar", Some(CasePrefix));
    check_match("fb", "fooBar", Some(WordStarts));
    check_match("fb", "foo_bar", Some(WordStarts));
    check_match("fba", "foo-bar", Some(WordStarts));
    check_match("hr", "HTTPRequest", Some(WordStarts));
    // The first `b` belongs to no word start of the rest.
    check_match("abx", "ab_bx", Some(WordStarts));
    check_match("fr", "fooBar", Some(Subsequence));
    check_match("oa", "fooBar", None);
    check_match("fz", "fooBar", None);
    check_match("foobarx", "foobar", None);
    check_match("ÄR", "ärger", Some(Prefix));
    check_match("äg", "ärger", Some(Subsequence));
    check_match("gä", "großeÄpfel", Some(WordStarts));
}

#[test]
fn matched_letters_are_found_for_highlights() {
    assert_eq!(matched_bytes("fo", "fooBar"), [0, 1]);
    assert_eq!(matched_bytes("fB", "fooBar"), [0, 3]);
    assert_eq!(matched_bytes("fr", "fooBar"), [0, 5]);
    assert_eq!(matched_bytes("är", "Ärger"), [0, 2]);
    assert!(matched_bytes("", "fooBar").is_empty());
}

fn check_order(query: &str, labels: &[&str], expected: &str) {
    assert_eq!(rows(&list(query, labels)), expected, "{query:?} {labels:?}");
}

#[test]
fn rows_are_ranked_by_quality_then_sort_text_then_preselection() {
    check_order(
        "fb",
        &["fooBar", "FBa", "fxxb", "fbx", "none"],
        "[fbx] FBa fooBar fxxb",
    );
    check_order("f", &["fa/2", "fb/1", "fc/3"], "[fb] fa fc");
    check_order("f", &["fa/1", "*fb/1"], "[fb] fa");
    // A preselected row is selected where it is.
    check_order("f", &["fa/1", "*fb/2"], "fa [fb]");
    check_order("fa", &["fa/9", "*fab/1"], "[fa] fab");
}

#[test]
fn an_accepted_item_and_the_nearest_word_come_first() {
    let mut memory = RankingMemory::default();
    memory.note_accepted(&"gamma".into());
    memory.note_accepted(&"beta".into());
    let mut list = CompletionList::new("");
    let words = [("alpha", 9), ("beta", 50), ("gamma", 50), ("delta", 3)];
    let words = words.map(|(word, distance)| (word.to_owned(), distance));
    set_items(
        &mut list,
        CompletionGroup::Words,
        word_items(words.to_vec()),
        &memory,
    );
    assert_eq!(rows(&list), "[beta] gamma delta alpha");
}

#[test]
fn a_longer_query_filters_and_a_shorter_one_restores() {
    let mut list = list("f", &["fab", "fabric", "fig"]);
    list.set_query("fa");
    assert_eq!(rows(&list), "[fab] fabric");
    list.set_query("fabr");
    assert_eq!(rows(&list), "[fabric]");
    list.set_query("f");
    assert_eq!(rows(&list), "[fab] fabric fig");
}

#[test]
fn the_row_that_the_user_chose_stays_selected() {
    let mut list = list("f", &["fab", "fabric", "fig"]);
    list.cycle(true);
    list.set_query("fa");
    assert_eq!(rows(&list), "fab [fabric]");
    list.set_query("fab");
    assert_eq!(rows(&list), "fab [fabric]");
    list.cycle(true);
    assert_eq!(rows(&list), "[fab] fabric");
    list.cycle(false);
    assert_eq!(rows(&list), "fab [fabric]");
    list.page(12, false);
    assert_eq!(rows(&list), "[fab] fabric");
}

/// Merges the items of a second source into a list with rows `b` to `d`.
fn check_merge(moves: usize, labels: &[&str], expected: &str) {
    let mut list = list("", &["b", "c", "d"]);
    (0..moves).for_each(|_| list.cycle(true));
    let memory = RankingMemory::default();
    set_items(
        &mut list,
        CompletionGroup::Source(1),
        items(labels),
        &memory,
    );
    assert_eq!(rows(&list), expected, "{moves} {labels:?}");
}

#[test]
fn a_merge_keeps_the_rows_up_to_the_selected_one() {
    check_merge(0, &["a", "e"], "[b] a c d e");
    check_merge(1, &["a", "bb"], "b [c] a bb d");
    check_merge(2, &["a"], "b c [d] a");
    check_merge(1, &["b", "c"], "b [c] d");
}

/// Merges items into a clone of a list with rows `ab`, `acd` and `ad`, changes the list, and replaces it
/// with the clone.
fn check_take_over(change: impl FnOnce(&mut CompletionList), labels: &[&str], expected: &str) {
    let mut list = list("a", &["ab", "acd", "ad"]);
    let mut merged = list.clone();
    let memory = RankingMemory::default();
    let group = CompletionGroup::Source(1);
    merged.merge([GroupItems::new(group, items(labels), &memory)]);
    change(&mut list);
    list.take_over(merged).expect("the items are the same");
    assert_eq!(rows(&list), expected, "{labels:?}");
}

#[test]
fn a_list_merged_in_the_background_follows_the_word_and_the_selection() {
    check_take_over(|_| {}, &["aa", "ae"], "[ab] aa acd ad ae");
    check_take_over(|list| list.cycle(true), &["aa"], "ab [acd] aa ad");
    check_take_over(|list| list.set_query("ac"), &["aa", "acc"], "[acd] acc");
    check_take_over(|list| list.set_query("ax"), &["ab", "axy"], "[axy]");
}

#[test]
fn a_list_merged_in_the_background_does_not_undo_another_merge() {
    let memory = RankingMemory::default();
    let mut list = list("a", &["ab"]);
    let merge = |list: &CompletionList, group, labels: &[&str]| {
        let mut merged = list.clone();
        let group = CompletionGroup::Source(group);
        merged.merge([GroupItems::new(group, items(labels), &memory)]);
        merged
    };
    let (first, second) = (merge(&list, 1, &["ac"]), merge(&list, 2, &["ad"]));
    list.take_over(first).expect("nothing was merged before");
    let refused = list.take_over(second);
    refused.expect_err("the first merge would be undone");
    list.take_over(merge(&list, 2, &["ad"]))
        .expect("it is newer");
    assert_eq!(rows(&list), "[ab] ac ad");
}

#[test]
fn an_item_of_a_source_replaces_the_word_in_its_row() {
    let memory = RankingMemory::default();
    let mut list = CompletionList::new("f");
    let words = vec![("foo".to_owned(), 1), ("far".to_owned(), 2)];
    set_items(
        &mut list,
        CompletionGroup::Words,
        word_items(words),
        &memory,
    );
    list.cycle(true);
    assert_eq!(rows(&list), "foo [far]");
    set_items(&mut list, SOURCE, items(&["fa", "far"]), &memory);
    assert_eq!(rows(&list), "foo [far] fa");
    let kind = list.selected().map(|(_, item)| item.kind);
    assert_eq!(kind, Some(CompletionKind::Function));
}

#[test]
fn a_lost_selection_returns_to_the_first_row() {
    let memory = RankingMemory::default();
    let mut list = list("", &["a", "b", "c"]);
    list.cycle(true);
    set_items(&mut list, SOURCE, items(&["c", "d"]), &memory);
    assert_eq!(rows(&list), "[c] d");
    assert!(!list.has_moved());
}

#[test]
fn a_list_of_only_the_typed_word_is_recognized() {
    assert!(list("foo", &["foo", "bar"]).is_only_the_word());
    assert!(!list("fo", &["foo"]).is_only_the_word());
    assert!(!list("foo", &["foo", "food"]).is_only_the_word());
    assert!(list("foo", &["foo", "food"]).has_exact_match());
}

#[test]
fn random_actions_leave_the_items_of_a_full_recompute() {
    let seed = rand::random();
    let mut rng = StdRng::seed_from_u64(seed);
    let parts = ["a", "B", "b", "_", "c", "A"];
    let memory = RankingMemory::default();
    let mut query = String::new();
    let mut list = CompletionList::new(&query);
    let mut groups: Vec<Vec<(CompletionItem, u32)>> = vec![Vec::new(); 3];
    for _ in 0..500 {
        match rng.random_range(0..6) {
            0 => list.cycle(rng.random()),
            1 => {
                query.pop();
            }
            2 | 3 if query.len() < 4 => query += parts[rng.random_range(0..parts.len())],
            _ => {
                let random_word = |rng: &mut StdRng| -> String {
                    let len = rng.random_range(1..5);
                    (0..len)
                        .map(|_| parts[rng.random_range(0..parts.len())])
                        .collect()
                };
                let count = rng.random_range(0..8);
                let labels: Vec<String> = (0..count).map(|_| random_word(&mut rng)).collect();
                let labels: Vec<&str> = labels.iter().map(String::as_str).collect();
                let group = rng.random_range(0..groups.len());
                groups[group] = items(&labels);
                set_items(
                    &mut list,
                    CompletionGroup::Source(group),
                    groups[group].clone(),
                    &memory,
                );
            }
        }
        let before = list.labels();
        list.set_query(&query);
        let mut full = CompletionList::new(&query);
        for (group, items) in groups.iter().enumerate() {
            set_items(
                &mut full,
                CompletionGroup::Source(group),
                items.clone(),
                &memory,
            );
        }
        let (mut rows, mut expected) = (list.labels(), full.labels());
        rows.sort();
        expected.sort();
        assert_eq!(rows, expected, "seed {seed}, {query:?}, before {before:?}");
        assert!(
            list.selected_row() < list.len().max(1),
            "seed {seed}: selected"
        );
    }
}

/// Collects the words around `|`.
fn check_words(marked: &str, min: usize, expected: &[&str]) {
    let offset = ByteOffset(marked.find('|').expect("the text has a mark"));
    let snapshot = Snapshot::new(&marked.replace('|', ""));
    let words = nearby_words(&snapshot, offset, min);
    let mut words: Vec<String> = words.into_iter().map(|(word, _)| word).collect();
    words.sort();
    assert_eq!(words, expected, "{marked:?}");
}

#[test]
fn words_of_the_text_are_collected_without_the_one_at_the_caret() {
    check_words("alpha be|ta gamma_1 alpha", 3, &["alpha", "gamma_1"]);
    check_words("ab abc 12ab éa éab |", 3, &["abc", "éab"]);
    check_words("beta be|ta", 3, &["beta"]);
    check_words("|", 1, &[]);
}

#[test]
fn only_a_window_of_a_long_text_is_read() {
    let text = "word ".repeat(100_000);
    let snapshot = Snapshot::new(&text);
    let (words, work) =
        base::counting(|| nearby_words(&snapshot, ByteOffset(text.len() / 2), 3).len());
    assert_eq!(words, 1);
    assert!(work.text_bytes < 100_000, "{work:?}");
}

#[test]
fn the_start_of_a_word_is_found() {
    let snapshot = Snapshot::new("foo.bär_1 x");
    assert_eq!(snapshot.revision(), Revision(0));
    assert_eq!(word_start(&snapshot, ByteOffset(10)), ByteOffset(4));
    assert_eq!(word_start(&snapshot, ByteOffset(4)), ByteOffset(4));
    assert_eq!(word_start(&snapshot, ByteOffset(2)), ByteOffset(0));
}
