//! Tests of answers over small, hand-made views.

use super::*;
use crate::prepare::prepare;
use crate::store::{ChunkStore, FoldPolicy, Persistence};
use crate::view::ViewedFile;
use crate::words::each_word;

/// Returns a store and a view of these files.
fn seen(files: &[(&str, &str)]) -> (std::sync::Arc<ChunkStore>, WorktreeView) {
    let store = ChunkStore::of(None, [0; 8]);
    let mut view = WorktreeView::default();
    for (ix, (path, text)) in files.iter().enumerate() {
        let record = prepare([ix as u8; 20], path, text, EmbeddingTable::shipped());
        let entry = store.add(vec![record], Persistence::Durable)[0];
        let contents = store.contents();
        view.change(&contents, path, |seen| {
            *seen = ViewedFile {
                entry: Some(entry),
                ..ViewedFile::default()
            };
        });
    }
    store.persist(FoldPolicy::Now);
    (store, view)
}

fn with_sight<R>(files: &[(&str, &str)], ask: impl FnOnce(&SearchContext<'_>) -> R) -> R {
    let (store, view) = seen(files);
    let contents = store.contents();
    ask(&SearchContext {
        contents: &contents,
        view: &view,
        table: EmbeddingTable::shipped(),
        weights: &RankWeights::default(),
        prefix: "",
    })
}

const FILES: [(&str, &str); 4] = [
    ("a/one.txt", "retry the request after a pause, retry again"),
    ("a/two.txt", "the cart and its total price"),
    (
        "b/three.txt",
        "request and response of the socket, and much more of what nobody asked about at all",
    ),
    ("b/four.txt", "nothing of it"),
];

#[test]
fn word_scores_match_the_bm25_formula() {
    let question = "retry the request request";
    let lists: Vec<Vec<String>> = FILES
        .iter()
        .map(|(path, text)| {
            let mut words = Vec::new();
            let place = crate::prepare::PathParts::of(path);
            let names = [place.stem, place.stem, place.folders[0]];
            for text in [*text].into_iter().chain(names) {
                each_word(text, 1_000, |word| words.push(word.to_owned()));
            }
            words
        })
        .collect();
    let average = lists.iter().map(Vec::len).sum::<usize>() as f32 / 4.0;
    let expected = |list: &[String]| {
        let mut score = 0.0;
        each_word(question, 100, |word| {
            let holding = lists
                .iter()
                .filter(|list| list.iter().any(|it| it == word))
                .count() as f32;
            let count = list.iter().filter(|it| *it == word).count() as f32;
            let rarity = (1.0 + (4.0 - holding + 0.5) / (holding + 0.5)).ln();
            score +=
                rarity * count * 2.5 / (count + 1.5 * (0.25 + 0.75 * list.len() as f32 / average));
        });
        score
    };
    with_sight(&FILES, |context| {
        let scores = WordScores::of(context, &QueryTraits::of(question).words);
        for (chunk, list) in lists.iter().enumerate() {
            let (score, expected) = (scores.score(chunk as u32), expected(list));
            assert!(
                (score - expected).abs() < 1e-4,
                "{chunk}: {score} {expected}"
            );
        }
        drop(scores);
        let none = WordScores::of(context, &QueryTraits::of("unheard").words);
        assert_eq!(
            (0..4).map(|chunk| none.score(chunk)).sum::<f32>(),
            0.0,
            "nothing is left of it"
        );
    });
}

#[test]
fn a_folder_query_returns_only_its_files() {
    with_sight(&FILES, |context| {
        let query = |folder: &str| IndexQuery {
            folder: Some(folder.into()),
            ..IndexQuery::new("request", 10)
        };
        let paths = |folder: &str| -> Vec<&str> {
            let answer = context.answer(&query(folder));
            let mut paths: Vec<&str> = answer.iter().map(|one| one.candidate.path).collect();
            paths.sort_unstable();
            paths
        };
        assert_eq!(paths("a"), ["a/one.txt", "a/two.txt"]);
        assert_eq!(paths("./b/"), ["b/four.txt", "b/three.txt"]);
        assert_eq!(
            paths("."),
            ["a/one.txt", "a/two.txt", "b/four.txt", "b/three.txt"]
        );
        assert_eq!(paths("c"), [""; 0]);
    });
}

#[test]
fn a_named_definition_is_always_a_candidate() {
    let many: Vec<(String, String)> = (0..120)
        .map(|ix| {
            (
                format!("use{ix}.rs"),
                "fn caller() { wanted_thing(); wanted_thing(); wanted_thing(); }".to_owned(),
            )
        })
        .collect();
    let filler = "    let other = something_else();\n".repeat(15);
    let text = format!("fn wanted_thing() {{\n{filler}}}\n");
    let mut files: Vec<(&str, &str)> = many
        .iter()
        .map(|(path, text)| (path.as_str(), text.as_str()))
        .collect();
    files.push(("place.rs", &text));
    with_sight(&files, |context| {
        let answer = context.answer(&IndexQuery::new("wanted_thing", 3));
        assert_eq!(answer[0].candidate.path, "place.rs");
        assert_eq!(answer.len(), 3);
    });
}

#[test]
fn the_top_chunks_are_kept() {
    let files: Vec<(String, &str)> = (0..40)
        .map(|ix| (format!("f{ix:02}.txt"), "word"))
        .collect();
    let files: Vec<(&str, &str)> = files
        .iter()
        .map(|(path, text)| (path.as_str(), *text))
        .collect();
    with_sight(&files, |context| {
        for most in [1, 3, 10, 39, 100] {
            let mut best = TopChunks::new(most);
            for chunk in (0..40).rev() {
                // Ties are broken by path and index.
                best.offer(context, (chunk % 4) as f32, chunk);
            }
            let mut chunks = best.chunks(context);
            chunks.sort_unstable();
            let mut expected: Vec<u32> = (0..40).collect();
            expected.sort_by_key(|chunk| (std::cmp::Reverse(chunk % 4), *chunk));
            expected.truncate(most);
            expected.sort_unstable();
            assert_eq!(chunks, expected, "{most}");
        }
    });
}

#[test]
fn standard_scores_are_computed() {
    let mut spread = ScoreSpread::default();
    spread.count = 4;
    for score in [1.0, 3.0] {
        spread.add(score);
    }
    // The mean of 0, 0, 1 and 3 is 1 and the variance 1.5.
    assert!((spread.z(3.0) - 2.0 / 1.5_f32.sqrt()).abs() < 1e-3);
    assert!((spread.z(1.0)).abs() < 1e-3);
    assert_eq!(ScoreSpread::default().z(5.0), 0.0);
}
