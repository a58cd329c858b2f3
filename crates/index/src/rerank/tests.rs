//! Tests of reranking with fake encoders.

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

use base::{ByteOffset, Span};

use super::*;
use crate::hit::ScoreParts;

/// An encoder that rates texts by whether they contain a word, and counts the texts it encodes.
struct Likes {
    word: &'static str,
    asked: AtomicUsize,
}

impl Encoder for Likes {
    fn name(&self) -> &str {
        self.word
    }

    fn vectors(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, RerankError> {
        self.asked.fetch_add(texts.len(), Ordering::Relaxed);
        let vector = |text: &&str| {
            if text.contains(self.word) {
                vec![1.0, 0.0]
            } else {
                vec![0.0, 1.0]
            }
        };
        Ok(texts.iter().map(vector).collect())
    }
}

/// An encoder that returns the same result for any input.
struct Gives(Result<Vec<Vec<f32>>, RerankError>);

impl Encoder for Gives {
    fn name(&self) -> &str {
        "somebody"
    }

    fn vectors(&self, _: &[&str]) -> Result<Vec<Vec<f32>>, RerankError> {
        self.0.clone()
    }
}

fn likes(word: &'static str) -> Likes {
    Likes {
        word,
        asked: AtomicUsize::new(0),
    }
}

fn hit(text: &str, score: f32) -> SearchHit {
    SearchHit {
        path: PathBuf::from("src/a.rs"),
        rows: 0..1,
        span: Span::at(ByteOffset(0)),
        symbol: None,
        kind: None,
        text: text.to_owned(),
        score,
        parts: ScoreParts::default(),
    }
}

fn reranker() -> Reranker {
    Reranker::new(|| Ok(None))
}

fn texts(hits: &[SearchHit]) -> Vec<&str> {
    hits.iter().map(|hit| hit.text.as_str()).collect()
}

#[test]
fn similar_hits_move_up() {
    let hits = || {
        vec![
            hit("one", 3.0),
            hit("two", 2.9),
            hit("the fox", 2.8),
            hit("four", 1.0),
        ]
    };
    let found = reranker().order(&likes("fox"), "where is the fox", hits());
    let found = found.expect("the encoder answers");
    assert_eq!(texts(&found), ["the fox", "one", "two", "four"]);
    assert_eq!(found[0].parts.rerank, Some(1.0));
    assert_eq!(found[1].parts.rerank, Some(0.0));
    assert!(found.windows(2).all(|two| two[0].score >= two[1].score));
    // If all similarities are equal, the original order stays.
    let found = reranker().order(&likes("nothing"), "where is the fox", hits());
    assert_eq!(
        texts(&found.expect("it answers")),
        ["one", "two", "the fox", "four"]
    );
}

#[test]
fn nothing_is_encoded_twice() {
    let (reranker, encoder) = (reranker(), likes("fox"));
    let ask = |question: &str, texts: &[&str]| {
        let hits = texts.iter().map(|text| hit(text, 1.0)).collect();
        reranker
            .order(&encoder, question, hits)
            .expect("it answers");
        encoder.asked.swap(0, Ordering::Relaxed)
    };
    assert_eq!(ask("one", &["a", "b"]), 3);
    assert_eq!(ask("two", &["a", "b", "c"]), 2);
    assert_eq!(ask("two", &["c", "a"]), 0);
    // Another encoder's vectors are not taken from the cache.
    let other = likes("hen");
    let hits = vec![hit("a", 1.0)];
    reranker.order(&other, "one", hits).expect("it answers");
    assert_eq!(other.asked.load(Ordering::Relaxed), 2);
    assert_eq!(ask("one", &["a"]), 2);
}

#[test]
fn invalid_vectors_are_refused() {
    let check = |given: Result<Vec<Vec<f32>>, RerankError>| {
        let hits = vec![hit("a", 2.0), hit("b", 1.0)];
        reranker().order(&Gives(given), "question", hits).is_err()
    };
    assert!(check(Err(RerankError::Encoder("it is closed".to_owned()))));
    assert!(check(Ok(Vec::new())), "too few");
    assert!(check(Ok(vec![vec![1.0]; 4])), "too many");
    assert!(check(Ok(vec![vec![]; 3])), "empty");
    assert!(
        check(Ok(vec![vec![1.0], vec![1.0, 2.0], vec![1.0]])),
        "of several lengths"
    );
    assert!(
        check(Ok(vec![vec![1.0], vec![f32::NAN], vec![1.0]])),
        "no numbers"
    );
    assert!(
        !check(Ok(vec![vec![0.0]; 3])),
        "without direction is like nothing"
    );
}

#[test]
fn vectors_of_another_length_clear_the_cache() {
    let reranker = reranker();
    let ask = |given: Vec<Vec<f32>>, texts: &[&str]| {
        let hits = texts.iter().map(|text| hit(text, 1.0)).collect();
        reranker.order(&Gives(Ok(given)), "question", hits).is_ok()
    };
    assert!(ask(vec![vec![1.0, 0.0]; 2], &["a"]));
    assert!(!ask(vec![vec![1.0]], &["a", "b"]), "the model was replaced");
    assert!(ask(vec![vec![1.0]; 3], &["a", "b"]));
}

#[test]
fn long_texts_are_cut_at_char_boundaries() {
    let text = "ä".repeat(MAX_TEXT_BYTES);
    let shown = text_of(&hit(&text, 1.0));
    assert!(shown.len() <= MAX_TEXT_BYTES + "a.rs \n".len());
    assert!(shown.ends_with('ä'));
}
