//! The corpus against a search through all files, while files are added, changed and removed.

use base::AbsPath;

use super::stream::{NEWLINE, PackedToken, TokenGap, items};
use super::{Corpus, CorpusView};
use crate::local::token::CodeTokens;

fn path(name: &str) -> AbsPath {
    AbsPath::new(format!("/project/{name}")).expect("an absolute path")
}

/// The words before `|` in a text, the nearest first, and what of them a view finds.
fn found(view: &CorpusView, before: &str, most: usize) -> Vec<(usize, String)> {
    let mut context: Vec<u32> = CodeTokens::new(before)
        .map(|token| {
            if token.text(before).starts_with('\n') {
                NEWLINE
            } else {
                view.word_number(token.text(before))
            }
        })
        .collect();
    context.reverse();
    let places = view.find_positions(&context, (most, 10_000), |_| true);
    let mut told: Vec<(usize, String)> = places
        .iter()
        .map(|place| {
            let item = view.item(place, 0).expect("something follows");
            (place.length, view.text(item.word_number()).to_owned())
        })
        .collect();
    told.sort();
    told.reverse();
    told
}

#[test]
fn the_longest_context_is_found_first() {
    let mut corpus = Corpus::new();
    corpus.insert(&path("a"), "let x = first(1);\nlet y = second(2);\n");
    corpus.insert(&path("b"), "var x = third(1);\n");
    let view = corpus.view();
    let told = found(&view, "let x =", 3);
    assert_eq!(
        told,
        [
            (3, "first".to_owned()),
            (2, "third".to_owned()),
            (1, "second".to_owned())
        ]
    );
    assert!(found(&view, "nowhere", 3).is_empty());
}

#[test]
fn indents_are_steps_and_gaps_are_kept() {
    let text = "a {\n    b\n\n        c = 1\n}\n";
    let mut words = Vec::new();
    let items = items(text, |word| {
        words.push(word.to_owned());
        words.len() as u32 + 2
    });
    let gaps: Vec<TokenGap> = items.iter().map(|item| item.gap()).collect();
    let line = |steps, is_blank| TokenGap::Line { steps, is_blank };
    let (none, one) = (TokenGap::Spaces(0), TokenGap::Spaces(1));
    assert_eq!(
        gaps,
        [
            none,
            one,
            line(1, false),
            none,
            line(1, true),
            none,
            one,
            one,
            line(-2, false),
            none,
            line(0, false)
        ]
    );
    assert_eq!(
        PackedToken::new(5, TokenGap::Spaces(300)).gap(),
        TokenGap::Odd
    );
}

/// The same question, answered by looking at every place of every file.
fn by_hand(files: &[(String, String)], before: &str) -> usize {
    let texts = |text: &str| -> Vec<String> {
        CodeTokens::new(text)
            .map(|token| {
                if token.text(text).starts_with('\n') {
                    "\n".to_owned()
                } else {
                    token.text(text).to_owned()
                }
            })
            .collect()
    };
    let mut context = texts(before);
    context.reverse();
    let longest = |text: &str| {
        let tokens = texts(text);
        (1..tokens.len())
            .map(|at| {
                let back = tokens[..at].iter().rev().zip(&context);
                back.take_while(|(ours, theirs)| ours == theirs).count()
            })
            .max()
    };
    files
        .iter()
        .filter_map(|(_, text)| longest(text))
        .max()
        .unwrap_or(0)
}

#[test]
fn the_corpus_finds_the_same_as_a_full_search() {
    let mut seed = 7_u64;
    let mut below = |bound: u64| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        seed % bound
    };
    let words = ["a", "b", "c", "(", ")", "\n", "\n    ", "=", "x1"];
    let mut text = |count: u64| -> String {
        let pick = (0..count).map(|_| words[below(words.len() as u64) as usize]);
        pick.collect::<Vec<_>>().join(" ")
    };
    let mut corpus = Corpus::new();
    let mut files: Vec<(String, String)> = Vec::new();
    for round in 0..120_usize {
        let name = format!("f{}", round * 7 % 31);
        let file = text(60);
        files.retain(|(known, _)| *known != name);
        if round % 5 == 4 {
            corpus.remove(&path(&name));
        } else {
            corpus.insert(&path(&name), &file);
            files.push((name, file));
        }
        let view = corpus.view();
        let before = text(8);
        let told = found(&view, &before, 50);
        let best = told.first().map_or(0, |(length, _)| *length);
        assert_eq!(best, by_hand(&files, &before), "round {round}: {before:?}");
        assert_eq!(corpus.file_count(), files.len());
    }
    let tokens: usize = files
        .iter()
        .map(|(_, text)| CodeTokens::new(text).count())
        .sum();
    assert_eq!(corpus.token_count(), tokens);
}

#[test]
fn a_budget_is_kept_by_forgetting_the_oldest_files() {
    let mut corpus = Corpus::new();
    for ix in 0..40 {
        corpus.insert(
            &path(&format!("f{ix}")),
            &format!("word{ix} = {ix};\n").repeat(500),
        );
        corpus.view();
    }
    let all = corpus.bytes();
    corpus.compact(all / 2);
    assert!(corpus.bytes() <= all / 2);
    assert!(corpus.file_count() > 0 && corpus.file_count() < 40);
    let view = corpus.view();
    assert!(!found(&view, "word39 =", 1).is_empty());
}

#[test]
fn generated_text_is_left_out() {
    let mut corpus = Corpus::new();
    corpus.insert(&path("min.js"), &"a=b;".repeat(1000));
    corpus.insert(&path("large"), &"a = b\n".repeat(100_000));
    assert_eq!(corpus.file_count(), 0);
}

#[test]
fn files_without_words_are_kept() {
    let mut corpus = Corpus::new();
    for ix in 0..20 {
        corpus.insert(&path(&format!("empty{ix}")), "");
        corpus.compact(usize::MAX);
    }
    assert_eq!(corpus.file_count(), 20);
    corpus.insert(&path("empty3"), "one = two;\n");
    assert!(!found(&corpus.view(), "one =", 1).is_empty());
    for ix in 0..20 {
        corpus.remove(&path(&format!("empty{ix}")));
        corpus.compact(usize::MAX);
    }
    assert_eq!((corpus.file_count(), corpus.token_count()), (0, 0));
}

#[test]
fn words_are_found_by_prefix_with_their_counts() {
    let mut corpus = Corpus::new();
    corpus.insert(&path("a"), "reader reader remainder red\nre(rest)\n");
    corpus.insert(&path("b"), "reader = remainder_of(other)\n");
    let view = corpus.view();
    let told = |prefix: &str| -> Vec<(String, u32)> {
        let found = view.words_with_prefix(prefix);
        let text = |(word, count): &(u32, u32)| (view.text(*word).to_owned(), *count);
        found.iter().map(text).collect()
    };
    let mut all = told("rem");
    all.sort();
    assert_eq!(
        all,
        [("remainder".to_owned(), 1), ("remainder_of".to_owned(), 1)]
    );
    assert_eq!(told("re").first(), Some(&("reader".to_owned(), 3)));
    assert_eq!(told("res"), [("rest".to_owned(), 1)]);
    assert_eq!(told("red"), [], "short words are cheap to type");
    assert_eq!(told("x"), []);
}
