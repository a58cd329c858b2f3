//! Tests of the records made from files.

use super::*;
use crate::record::{ONLY_REEXPORTS, RecordLayout, each_term};

fn terms(record: &[u8]) -> Vec<(String, Vec<(u32, u16)>)> {
    let layout = RecordLayout::of(record).expect("a record");
    let mut terms = Vec::new();
    each_term(&layout, record, |term, places| {
        terms.push((term.to_owned(), places.collect()))
    });
    terms
}

#[test]
fn a_file_becomes_words_and_vectors() {
    let text = "/// Adds up.\nfn total_price() -> u64 { 1 }\n";
    let record = prepare(
        [1; 20],
        "shop/src/cart_lines.rs",
        text,
        EmbeddingTable::shipped(),
    );
    let terms = terms(&record);
    let count = |word: &str| {
        let found = terms.iter().find(|(term, _)| term == word);
        found.map_or(0, |(_, places)| places[0].1)
    };
    assert_eq!(count("total_price"), 1);
    assert_eq!(count("total"), 1);
    assert_eq!(count("cart"), 2, "the stem counts twice");
    assert_eq!(count("shop"), 1);
    assert_eq!(count(&format!("{DEFINES}total_price")), 1);
    assert_eq!(count(&format!("{STEM}cartline")), 1);
    let layout = RecordLayout::of(&record).expect("a record");
    assert_eq!(layout.count, 1);
    assert!(record[layout.values()].iter().any(|value| *value != 0));
    let again = prepare(
        [1; 20],
        "shop/src/cart_lines.rs",
        text,
        EmbeddingTable::shipped(),
    );
    assert_eq!(record, again, "the same file gives the same bytes");
}

#[test]
fn cached_tokens_give_the_same_embedding() {
    let long: String = (0..200)
        .map(|ix| format!("    parse_HTTPHeader(total_{ix}, parse, parse_httpheader, zqx_{ix});\n"))
        .collect();
    for text in [
        "",
        "fn a() { b(); b(); }",
        &format!("/// Adds.\nfn long() {{\n{long}}}\n"),
    ] {
        let path = "shop/src/cart_lines.rs";
        let record = prepare([1; 20], path, text, EmbeddingTable::shipped());
        let layout = RecordLayout::of(&record).expect("a record");
        let chunks = crate::chunk::chunks(text, syntax::language_named("rust"));
        assert_eq!(layout.count as usize, chunks.len());
        for (chunk, values) in chunks
            .iter()
            .zip(record[layout.values()].chunks(crate::embedding::DIMS))
        {
            let mut whole = String::new();
            put_head(&mut whole, chunk, &PathParts::of(path));
            whole.push_str(&text[chunk.span.clone()]);
            let expected = EmbeddingTable::shipped().encode(&whole).values;
            let expected: Vec<u8> = expected
                .iter()
                .map(|value| value.to_le_bytes()[0])
                .collect();
            assert_eq!(values, expected);
        }
    }
}

#[test]
fn re_exporting_files_are_marked() {
    let check = |path: &str, text: &str, expected: bool| {
        let record = prepare([0; 20], path, text, EmbeddingTable::shipped());
        let layout = RecordLayout::of(&record).expect("a record");
        let flags = record[layout.flags()].to_vec();
        assert!(!flags.is_empty(), "{path}");
        assert!(
            flags
                .iter()
                .all(|flag| (flag & ONLY_REEXPORTS != 0) == expected),
            "{path}: {text}"
        );
    };
    check(
        "src/mod.rs",
        "//! Doc.\n\nmod a;\npub use a::{\n    One,\n    Two,\n};\n",
        true,
    );
    check("src/mod.rs", "mod a;\npub fn one() {}\n", false);
    check("src/a.rs", "pub use a::One;\n", false);
    check(
        "src/index.ts",
        "export * from './a';\nimport { b } from './b';\n",
        true,
    );
    check("src/index.ts", "export function a() {}\n", false);
    check(
        "a/__init__.py",
        "\"\"\"Doc.\n\nMore.\n\"\"\"\nfrom .a import (\n    one,\n)\n__all__ = ['one']\n",
        true,
    );
    check(
        "a/__init__.py",
        "from .a import one\n\ndef two():\n    pass\n",
        false,
    );
}

#[test]
fn a_path_is_split_into_parts() {
    let check = |path: &str, stem: &str, folders: &[&str]| {
        let place = PathParts::of(path);
        assert_eq!(
            (place.stem, place.folders.as_slice()),
            (stem, folders),
            "{path}"
        );
    };
    check("a.rs", "a", &[]);
    check("a/b/c/d/e.test.ts", "e", &["b", "c", "d"]);
    check(".hidden.rs", "hidden", &[]);
    assert_eq!(plain_name("Http_Clients"), "httpclient");
    assert_eq!(plain_name("class"), "class");
}
