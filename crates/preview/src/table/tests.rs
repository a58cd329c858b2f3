//! Tests of tables.

use std::sync::Arc;

use base::AbsPath;
use host::FakeFiles;
use rand::rngs::StdRng;
use rand::{Rng as _, SeedableRng as _};

use super::{CsvError, Delimiter, MAX_FIELD, STRIDE, TableIndex, TableReader};
use crate::FileBytes;

fn open(name: &str, content: &[u8]) -> Result<TableReader, CsvError> {
    let path = AbsPath::new("/p").expect("absolute").join(name);
    let files = FakeFiles::new();
    files.write(&path, content);
    let bytes = FileBytes::open(Arc::new(files), path).expect("a file");
    TableReader::open(bytes)
}

fn indexed(reader: &TableReader) -> TableIndex {
    let mut index = TableIndex::new(reader.delimiter());
    while reader.index_more(&mut index).expect("readable") {}
    assert!(index.is_whole());
    index
}

/// Returns all rows of a table.
fn rows(name: &str, content: &[u8]) -> Vec<Vec<String>> {
    let reader = open(name, content).expect("a table");
    let index = indexed(&reader);
    let rows = reader.read_rows(&index, 0..u64::MAX).expect("readable");
    assert_eq!(rows.len() as u64, index.rows());
    rows.into_iter().map(|row| row.fields).collect()
}

#[test]
fn quoted_fields_hold_delimiters_quotes_and_line_breaks() {
    let content = b"\xef\xbb\xbfa,b\r\n\"x,\"\"y\"\"\r\nz\",2\n\n\"\",last";
    assert_eq!(
        rows("t.csv", content),
        [vec!["a", "b"], vec!["x,\"y\"\r\nz", "2"], vec!["", "last"]]
    );
    assert_eq!(rows("t.csv", b""), [] as [Vec<String>; 0]);
    assert_eq!(rows("t.csv", b"\n\n"), [] as [Vec<String>; 0]);
    assert_eq!(rows("t.csv", b"\xef\xbb\xbf"), [] as [Vec<String>; 0]);
    assert_eq!(rows("t.csv", b"a,\xff"), [["a", "\u{fffd}"]]);
}

#[test]
fn the_delimiter_is_guessed_from_whole_rows() {
    let check = |name: &str, content: &[u8], expected| {
        let reader = open(name, content).expect("a table");
        assert_eq!(reader.delimiter(), expected, "{name}");
    };
    check("a.csv", b"a,b\n1,2\n", Delimiter::Comma);
    check("b.csv", b"a;b\n1,5;2,5\n2,5;1\n", Delimiter::Semicolon);
    check("c.csv", b"a|b\n1|2\n", Delimiter::Pipe);
    check("d.txt", b"a\tb\n1\t2\n", Delimiter::Tab);
    check("e.tsv", b"a,b\n1,2\n", Delimiter::Tab);
    check("f.csv", b"one\ntwo\n", Delimiter::Comma);
    check("g.csv", b"", Delimiter::Comma);
    let long = format!("{};\"{}", "x", "y".repeat(100_000));
    check("h.csv", long.as_bytes(), Delimiter::Semicolon);
}

#[test]
fn utf_16_is_refused_with_a_sentence() {
    let refused = open("t.csv", b"\xff\xfea\0,\0").expect_err("refused");
    assert_eq!(refused, CsvError::Utf16);
    assert!(refused.to_string().contains("save it as UTF-8"));
}

/// Rows at any distance are the same as those of a parse from the start, in whatever pieces the file is read.
#[test]
fn rows_from_the_index_equal_a_whole_parse() {
    let mut random = StdRng::seed_from_u64(7);
    for round in 0..20 {
        let mut content = Vec::new();
        for _ in 0..random.random_range(0..3_000) {
            for _ in 0..random.random_range(0..4) {
                let part: &[u8] = match random.random_range(0..8) {
                    0 => b"\"",
                    1 => b"\r",
                    2 => b"\"a\nb\"",
                    3 => b"\n\n",
                    4 => b"\"\"",
                    _ => b"x",
                };
                content.extend_from_slice(part);
                content.push(b',');
            }
            content.push(b'\n');
        }
        let reader = open("t.csv", &content).expect("a table");
        let index = indexed(&reader);
        let mut split = TableIndex::new(reader.delimiter());
        let mut rest = &content[..];
        while !rest.is_empty() {
            let piece = random.random_range(1..=5_000).min(rest.len());
            split.feed(&rest[..piece]);
            rest = &rest[piece..];
        }
        split.finish();
        assert_eq!(split.rows(), index.rows(), "round {round}");
        let all = reader.read_rows(&index, 0..u64::MAX).expect("readable");
        assert_eq!(all.len() as u64, index.rows(), "round {round}");
        for _ in 0..20 {
            let start = random.random_range(0..=index.rows());
            let end = start + random.random_range(0..2 * STRIDE);
            let rows = reader.read_rows(&index, start..end).expect("readable");
            let expected = &all[start as usize..end.min(index.rows()) as usize];
            assert!(rows == expected, "round {round}: {start}..{end}");
        }
    }
}

#[test]
fn long_fields_and_rows_are_cut_and_say_so() {
    let mut content = b"a,".to_vec();
    content.resize(content.len() + 2 * MAX_FIELD, b'x');
    content.extend_from_slice(b"\nshort\n");
    content.resize(content.len() + 20_000, b',');
    content.extend_from_slice(b"\n\"never closed,");
    content.resize(content.len() + (40 << 20), b'y');
    let reader = open("t.csv", &content).expect("a table");
    let index = indexed(&reader);
    assert_eq!(index.rows(), 4);
    let rows = reader.read_rows(&index, 0..9).expect("readable");
    let shape = rows.iter().map(|row| {
        let longest = row.fields.iter().map(String::len).max();
        (row.fields.len(), longest, row.is_cut)
    });
    let shape: Vec<_> = shape.collect();
    assert_eq!(
        shape,
        [
            (2, Some(MAX_FIELD), true),
            (1, Some(5), false),
            (10_000, Some(0), true),
            (1, Some(MAX_FIELD), true),
        ]
    );
}

#[test]
fn a_file_that_became_shorter_is_reported() {
    let path = AbsPath::new("/p/t.csv").expect("absolute");
    let files = FakeFiles::new();
    files.write(&path, "a,b\n1,2\n");
    let bytes = FileBytes::open(Arc::new(files.clone()), path.clone()).expect("a file");
    let reader = TableReader::open(bytes).expect("a table");
    files.write(&path, "");
    let mut index = TableIndex::new(reader.delimiter());
    assert_eq!(reader.index_more(&mut index), Err(CsvError::Changed));
}
