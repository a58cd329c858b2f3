//! The reader of vectors takes any bytes, and gives as many of one length as were asked for or none.
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
