//! A table in the layout of model2vec, of any bytes, is used or refused.
#![no_main]

use index::embedding::EmbeddingTable;
use libfuzzer_sys::fuzz_target;

/// The tokenizer begins after this byte, the numbers of the tensors after another one.
const BREAK: u8 = 0xfe;

fuzz_target!(|data: &[u8]| {
    let mut parts = data.splitn(3, |byte| *byte == BREAK);
    let head = parts.next().unwrap_or_default();
    let tokenizer = String::from_utf8_lossy(parts.next().unwrap_or_default());
    let mut tensors = (head.len() as u64).to_le_bytes().to_vec();
    tensors.extend_from_slice(head);
    tensors.extend_from_slice(parts.next().unwrap_or_default());
    for bytes in [&tensors[..], data] {
        if let Ok(table) = EmbeddingTable::from_model2vec(bytes, &tokenizer) {
            assert!(table.encode(&tokenizer).scale.is_finite());
        }
    }
});
