//! Tests with reference sentences. The weights are not part of the repository: without them the
//! tests report that they are skipped.

use std::path::PathBuf;

use super::{FILES, MiniLm, WIDTH};

/// Returns `BURIN_MINILM`, or the folder where the table's trainer stores the model.
fn folder() -> Option<PathBuf> {
    let named = std::env::var_os("BURIN_MINILM").map(PathBuf::from);
    let trained = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../target/embed/minilm");
    let folders = named.into_iter().chain([trained]);
    folders
        .into_iter()
        .find(|folder| FILES.iter().all(|file| folder.join(file).is_file()))
}

#[test]
fn vectors_match_the_published_ones() {
    let Some(folder) = folder() else {
        return test_support::skip(
            "the weights of MiniLM are not here; BURIN_MINILM can name their folder",
        );
    };
    let model =
        MiniLm::open(&folder.canonicalize().expect("it is there")).expect("the weights fit");
    let texts = [
        "This is an example sentence",
        "Each sentence is converted",
        "a",
    ];
    let vectors = model.encode(&texts, 256).expect("the weights fit");
    let expected = [
        [
            0.067_656_9,
            0.063_495_9,
            0.048_713_1,
            0.079_305_0,
            0.037_448_0,
            0.002_652_8,
        ],
        [
            0.086_438_6,
            0.102_762_7,
            0.005_394_5,
            0.002_044_5,
            -0.009_963_4,
            0.025_385_5,
        ],
    ];
    for (vector, expected) in vectors.iter().zip(expected) {
        assert_eq!(vector.len(), WIDTH);
        for (number, expected) in vector.iter().zip(expected) {
            assert!(
                (number - expected).abs() < 1e-4_f32,
                "{number} is not {expected}"
            );
        }
    }
    let cosine: f32 = vectors[0]
        .iter()
        .zip(&vectors[1])
        .map(|(one, other)| one * other)
        .sum();
    assert!((cosine - 0.40456).abs() < 1e-4, "{cosine}");
    let alone = model.encode(&texts[..1], 256).expect("the weights fit");
    let differs = alone[0]
        .iter()
        .zip(&vectors[0])
        .any(|(one, other)| (one - other).abs() > 1e-5);
    assert!(!differs, "what else is in the batch changed the vector");
}

#[test]
fn a_missing_model_is_reported() {
    let here = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let error = MiniLm::open(&here)
        .err()
        .expect("no model is here")
        .to_string();
    assert!(
        error.starts_with("cannot read the model MiniLM: "),
        "{error}"
    );
    let error = MiniLm::open(&PathBuf::from("here"))
        .err()
        .expect("not absolute")
        .to_string();
    assert!(error.contains("absolute"), "{error}");
}
