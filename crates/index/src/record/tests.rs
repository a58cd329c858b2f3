//! Tests of records written and read, intact and damaged.

use super::*;

fn draft(text: &str) -> Vec<u8> {
    let chunks = crate::chunk::chunks(text, syntax::language_named("rust"));
    let vectors: Vec<Vector> = (0..chunks.len())
        .map(|ix| Vector {
            values: [ix as i8; DIMS],
            scale: 0.5,
        })
        .collect();
    let mut words = FileWords::default();
    words.push("alpha", [(0, 3)].into_iter());
    words.push("beta", (0..chunks.len() as u32).map(|ix| (ix, 1)));
    RecordDraft {
        blob: [7; 20],
        path: "src/a.rs",
        text: text.len(),
        chunks: &chunks,
        vectors: &vectors,
        lengths: &vec![9; chunks.len()],
        hands_on: true,
        words: &words,
    }
    .encode()
}

fn text() -> String {
    (0..40)
        .map(|ix| format!("/// Doc.\nfn f{ix}() {{ let x = {ix}; work(x); }}\n"))
        .collect()
}

#[test]
fn records_round_trip() {
    let text = text();
    let mut bytes = draft(&text);
    set_first(&mut bytes, 41);
    let layout = RecordLayout::of(&bytes).expect("a record");
    let chunks = crate::chunk::chunks(&text, syntax::language_named("rust"));
    assert!(chunks.len() > 2);
    assert_eq!((layout.first, layout.count as usize), (41, chunks.len()));
    assert_eq!(&bytes[layout.path()], b"src/a.rs");
    assert_eq!(layout.text as usize, text.len());
    assert!(
        bytes[layout.flags()]
            .iter()
            .all(|flags| *flags == ONLY_REEXPORTS)
    );
    assert_eq!(bytes[layout.values()][DIMS * 2], 2);
    let mut expected = chunks;
    expected.iter_mut().for_each(|chunk| chunk.doc.clear());
    assert_eq!(chunks_of(&layout, &bytes), expected);
    let mut terms = Vec::new();
    each_term(&layout, &bytes, |term, places| {
        terms.push((term.to_owned(), places.count()));
    });
    assert_eq!(
        terms,
        [("alpha".to_owned(), 1), ("beta".to_owned(), expected.len())]
    );
}

#[test]
fn damaged_bytes_are_refused_or_read_without_harm() {
    let bytes = draft(&text());
    for end in 0..bytes.len() {
        assert_eq!(RecordLayout::of(&bytes[..end]), None, "{end}");
    }
    let mut random = 5_u64;
    for _ in 0..5_000 {
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        let mut damaged = bytes.clone();
        let at = (random >> 20) as usize % damaged.len();
        damaged[at] ^= (random >> 50) as u8 | 1;
        if let Some(layout) = RecordLayout::of(&damaged) {
            assert!(chunks_of(&layout, &damaged).len() <= layout.count as usize);
            each_term(&layout, &damaged, |_, places| {
                places.for_each(|(chunk, _)| assert!(chunk < layout.count));
            });
        }
    }
}
