//! Tests of tables: packing, parsing, damage and encoding.

use super::{DIMS, EmbeddingTable, TableError, Vector, pack};

/// Row `i` points along axis `i`.
fn small() -> Vec<u8> {
    let tokens = ["##er", "parse", "parse_header", "read", "write"];
    let mut rows = vec![0.0; tokens.len() * DIMS];
    for token in 0..tokens.len() {
        rows[token * DIMS + token] = 2.0;
    }
    pack(&tokens, &rows).expect("as many rows as tokens")
}

fn complaint(bytes: Vec<u8>) -> String {
    EmbeddingTable::parse(bytes)
        .expect_err("it is damaged")
        .to_string()
}

#[test]
fn a_packed_table_round_trips() {
    let table = EmbeddingTable::parse(small()).expect("sound");
    let spelt: Vec<_> = (0..6)
        .map(|token| table.vocabulary().spelling(token))
        .collect();
    assert_eq!(
        spelt,
        ["##er", "parse", "parse_header", "read", "write", ""]
    );
    assert_eq!(
        table.hash(),
        EmbeddingTable::parse(small()).expect("sound").hash()
    );
    assert_ne!(table.hash(), [0; 8]);
}

#[test]
fn an_embedding_is_the_normalized_sum_of_token_rows() {
    let table = EmbeddingTable::parse(small()).expect("sound");
    let both = table.encode("read write");
    assert_eq!((both.values[3], both.values[4]), (127, 127));
    assert!((both.cosine(&both) - 1.0).abs() < 0.01, "{both:?}");
    assert!((both.cosine(&table.encode("read")) - 0.5_f32.sqrt()).abs() < 0.01);
    assert_eq!(table.encode("write").cosine(&table.encode("read")), 0.0);
}

#[test]
fn repeated_tokens_count_less() {
    let table = EmbeddingTable::parse(small()).expect("sound");
    let vector = table.encode("read read write read read");
    assert_eq!((vector.values[3], vector.values[4]), (127, 62));
}

#[test]
fn leading_tokens_count_more() {
    let table = EmbeddingTable::parse(small()).expect("sound");
    let tokens = ["read"; 16].join(" ");
    let behind = table.encode(&format!("{tokens} write"));
    let before = table.encode(&format!("write {tokens}"));
    assert!(
        before.values[4] > behind.values[4],
        "{} {}",
        before.values[4],
        behind.values[4]
    );
}

#[test]
fn a_long_text_is_truncated() {
    let table = EmbeddingTable::parse(small()).expect("sound");
    let long = "read ".repeat(super::MAX_WORDS) + "write";
    assert_eq!(table.encode(&long).values[4], 0);
}

#[test]
fn a_text_without_known_words_has_the_zero_vector() {
    let table = EmbeddingTable::parse(small()).expect("sound");
    assert_eq!(table.encode("日本 zzz 12"), Vector::ZERO);
    assert_eq!(table.encode(""), Vector::ZERO);
    assert_eq!(EmbeddingTable::nothing().encode("read"), Vector::ZERO);
}

#[test]
fn damage_is_reported_with_a_reason() {
    assert!(complaint(Vec::new()).contains("not an embedding table"));
    assert!(complaint(b"PK\x03\x04 something else".to_vec()).contains("not an embedding table"));
    assert!(complaint(small()[..30].to_vec()).contains("ends within its header"));
    let mut version = small();
    version[8] = 9;
    assert!(complaint(version).contains("version 9"));
    let mut dims = small();
    dims[12] = 7;
    assert!(complaint(dims).contains("263 numbers"));
}

#[test]
fn every_torn_end_and_every_flipped_byte_is_found() {
    let whole = small();
    for end in 0..whole.len() {
        assert!(
            EmbeddingTable::parse(whole[..end].to_vec()).is_err(),
            "cut at {end}"
        );
    }
    // A text's vector does not depend on the name and the factor in the header.
    for at in (0..24).chain(32..36).chain(40..whole.len()) {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x10;
        assert!(EmbeddingTable::parse(bytes).is_err(), "flipped at {at}");
    }
}

#[test]
fn invalid_token_lengths_are_refused() {
    for (at, value) in [(40, 3), (41, 250), (46, 200)] {
        let mut bytes = small();
        bytes[at] = value;
        let sum = crc32fast::hash(&bytes[40..]).to_le_bytes();
        bytes[32..36].copy_from_slice(&sum);
        assert!(
            matches!(EmbeddingTable::parse(bytes), Err(TableError::Torn(_))),
            "{at}"
        );
    }
}

#[test]
fn rows_and_tokens_must_fit() {
    assert!(pack(&["a"], &[0.0; 3]).is_err());
    assert!(pack(&["a".repeat(300)], &[0.0; DIMS]).is_err());
}

#[test]
fn the_shipped_table_is_sound_small_and_fast_to_name() {
    let table = EmbeddingTable::shipped();
    assert!(
        table.vocabulary().len() > 20_000,
        "{}",
        table.vocabulary().len()
    );
    assert!(table.size() <= 10_000_000, "{} bytes", table.size());
    let query = table.encode("read a file into a string");
    let near =
        table.encode("fn read_to_string(path: &Path) -> String { let file = File::open(path); }");
    let far = table.encode("fn spawn_thread(pool: &Pool) { pool.workers.push(Worker::start()); }");
    assert!(query.cosine(&near) > query.cosine(&far) + 0.1);
}

/// If a text's vector changes, stored vectors no longer match it: a new table or weighting must
/// come with a new name.
#[test]
fn the_shipped_table_still_yields_its_recorded_vectors() {
    let table = EmbeddingTable::shipped();
    let vector = table.encode("Reads the whole file at path into a String, read_to_string.");
    let said = (
        u64::from_be_bytes(table.hash()),
        crc32fast::hash(&vector.values.map(|number| number as u8)),
    );
    assert_eq!(
        said,
        (0x4614_9c74_0a9c_f6c8, 0x119f_efa8),
        "{:#x} {:#x}",
        said.0,
        said.1
    );
    assert!((vector.cosine(&vector) - 1.0).abs() < 0.01);
}

fn tensors(kind: &str, weights: bool, numbers: &[u8]) -> Vec<u8> {
    let more = if weights {
        r#","weights":{"dtype":"F32","shape":[3],"data_offsets":[SIZE,END]}"#
    } else {
        ""
    };
    let more = more
        .replace("SIZE", &numbers.len().to_string())
        .replace("END", &(numbers.len() + 12).to_string());
    let head = format!(
        r#"{{"embeddings":{{"dtype":"{kind}","shape":[3,2],"data_offsets":[0,{}]}}{more}}}"#,
        numbers.len()
    );
    let mut bytes = (head.len() as u64).to_le_bytes().to_vec();
    bytes.extend(head.bytes());
    bytes.extend(numbers);
    bytes.extend(
        [0.5_f32, 0.0, 1.0]
            .iter()
            .flat_map(|weight| weight.to_le_bytes()),
    );
    bytes
}

const TOKENIZER: &str = r#"{"model":{"type":"WordPiece","vocab":{"read":0,"(":1,"write":2}}}"#;

#[test]
fn a_table_of_model2vec_can_be_dropped_in() {
    let numbers = [4.0_f32, 0.0, 9.0, 9.0, 0.0, 2.0];
    let floats: Vec<u8> = numbers
        .iter()
        .flat_map(|number| number.to_le_bytes())
        .collect();
    let halves: Vec<u8> = [0x4400_u16, 0, 0, 0, 0, 0x4000]
        .iter()
        .flat_map(|bits| bits.to_le_bytes())
        .collect();
    for (kind, bytes) in [
        ("F32", floats),
        ("F16", halves),
        ("I8", vec![4, 0, 0, 0, 0, 2]),
    ] {
        let plain =
            EmbeddingTable::from_model2vec(&tensors(kind, false, &bytes), TOKENIZER).expect(kind);
        let both = plain.encode("read write");
        assert_eq!((both.values[0], both.values[1]), (127, 64), "{kind}");
        let weighted =
            EmbeddingTable::from_model2vec(&tensors(kind, true, &bytes), TOKENIZER).expect(kind);
        let both = weighted.encode("read write");
        assert_eq!((both.values[0], both.values[1]), (127, 127), "{kind}");
    }
}

#[test]
fn unsupported_third_party_tables_are_refused_with_a_reason() {
    let check = |safetensors: &[u8], tokenizer: &str, expected: &str| {
        let error = EmbeddingTable::from_model2vec(safetensors, tokenizer)
            .expect_err(expected)
            .to_string();
        assert!(error.contains(expected), "{error}");
    };
    let sound = tensors("I8", false, &[1; 6]);
    check(&sound[..5], TOKENIZER, "no head");
    check(&sound[..sound.len() - 14], TOKENIZER, "beyond the end");
    check(
        &tensors("I8", false, &[1; 5]),
        TOKENIZER,
        "does not match its type",
    );
    check(&tensors("BF16", false, &[1; 12]), TOKENIZER, "type BF16");
    check(&sound, "nonsense", "not valid JSON");
    check(
        &sound,
        r#"{"model":{"type":"Unigram","vocab":[]}}"#,
        "not a WordPiece tokenizer",
    );
    check(
        &sound,
        r#"{"model":{"vocab":{"(":0}}}"#,
        "no lower-case word",
    );
    check(&sound, r#"{"model":{"vocab":{"read":7}}}"#, "no row");
}
