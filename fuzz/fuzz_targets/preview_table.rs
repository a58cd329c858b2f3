//! Any bytes are a table whose rows can all be read; the first byte chooses the name of the file.
#![no_main]

use std::sync::Arc;

use base::AbsPath;
use host::FakeFiles;
use libfuzzer_sys::fuzz_target;
use preview::{FileBytes, TableIndex, TableReader};

fuzz_target!(|data: &[u8]| {
    let Some((first, data)) = data.split_first() else {
        return;
    };
    let name = ["/p/a.csv", "/p/a.tsv"][usize::from(first % 2)];
    let path = AbsPath::new(name).expect("absolute");
    let files = FakeFiles::new();
    files.write(&path, data);
    let bytes = FileBytes::open(Arc::new(files), path).expect("a file");
    let Ok(reader) = TableReader::open(bytes) else {
        return;
    };
    let mut index = TableIndex::new(reader.delimiter());
    while reader.index_more(&mut index).expect("readable") {}
    let rows = reader.read_rows(&index, 0..u64::MAX).expect("readable");
    assert_eq!(rows.len() as u64, index.rows());
});
