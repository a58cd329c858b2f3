//! The reader of embeddings accepts any bytes and returns the requested number of vectors, all of
//! the same length, or an error.
#![no_main]

use libfuzzer_sys::fuzz_target;
use router::wire::read_embeddings;

fuzz_target!(|data: &[u8]| {
    let Some((count, body)) = data.split_first() else {
        return;
    };
    let count = usize::from(count % 8);
    if let Ok(vectors) = read_embeddings(body, count) {
        assert_eq!(vectors.len(), count);
        assert!(vectors.windows(2).all(|two| two[0].len() == two[1].len()));
    }
});
