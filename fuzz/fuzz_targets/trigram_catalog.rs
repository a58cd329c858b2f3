//! A catalog of any bytes with a valid checksum never makes a search miss a match.
#![no_main]

use std::fs;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use host::TempFolder;
use libfuzzer_sys::fuzz_target;
use project::WalkBackend;
use project::search::{SearchQuery, SearchScope, search};
use trigram::Trigrams;

fuzz_target!(|data: &[u8]| {
    let folder = TempFolder::new().expect("a folder");
    let (root, store) = (folder.path().join("root"), folder.path().join("store"));
    for place in [&root, &store] {
        fs::create_dir(place.as_path()).expect("a folder");
    }
    fs::write(root.join("a").as_path(), "needle").expect("a file");
    let name = root.to_string();
    let mut catalog = b"BURICAT3".to_vec();
    catalog.push(name.len() as u8);
    catalog.extend_from_slice(name.as_bytes());
    catalog.extend_from_slice(data);
    catalog.extend_from_slice(&crc32fast::hash(&catalog).to_le_bytes());
    fs::write(store.join("catalog").as_path(), &catalog).expect("a file");
    let Some(index) = Trigrams::open_kept(root.clone(), store) else {
        return;
    };
    let scope = SearchScope::new(WalkBackend::Disk, root).with_prefilter(Some(Arc::new(index)));
    let (events, _receiver) = async_channel::unbounded();
    let query = SearchQuery::literal("needle");
    let summary = search(&query, &scope, &AtomicBool::new(false), &events).expect("a sound query");
    assert_eq!(summary.files_matched, 1);
});
