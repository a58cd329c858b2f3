//! A table of embeddings of any bytes, whose length and checksum are right, is used or refused.
#![no_main]

use index::embedding::{DIMS, EmbeddingTable};
use libfuzzer_sys::fuzz_target;

/// The first byte is the number of rows; the rest is the vocabulary, and the rows are made from it too.
fuzz_target!(|data: &[u8]| {
    let Some((rows, vocabulary)) = data.split_first() else {
        return;
    };
    let rows = usize::from(*rows);
    let mut body = vocabulary.to_vec();
    let numbers = vocabulary.iter().copied().chain(std::iter::repeat(1));
    body.extend(numbers.take(rows * DIMS));
    let mut bytes = b"BURINEMB".to_vec();
    for number in [1, DIMS as u32, rows as u32, vocabulary.len() as u32] {
        bytes.extend_from_slice(&number.to_le_bytes());
    }
    bytes.extend_from_slice(b"the name");
    bytes.extend_from_slice(&crc32fast::hash(&body).to_le_bytes());
    bytes.extend_from_slice(&1.0_f32.to_le_bytes());
    bytes.extend_from_slice(&body);
    let Ok(table) = EmbeddingTable::parse(bytes) else {
        return;
    };
    assert_eq!(table.vocabulary().len(), rows);
    let vector = table.encode(&String::from_utf8_lossy(vocabulary));
    assert!(vector.scale.is_finite());
    let itself = vector.cosine(&vector);
    assert!(vector.scale == 0.0 || (itself - 1.0).abs() < 0.05, "{itself}");
});
