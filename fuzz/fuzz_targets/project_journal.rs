//! A journal of any entries, whose checksums are right, is recovered or refused.
#![no_main]

use base::AbsPath;
use host::FakeFiles;
use libfuzzer_sys::fuzz_target;
use text::Timestamp;

/// Entries begin after this byte.
const BREAK: u8 = 0xfe;

fuzz_target!(|data: &[u8]| {
    let mut journal = b"burin journal 1\n".to_vec();
    for entry in data.split(|byte| *byte == BREAK) {
        journal.extend_from_slice(&(entry.len() as u32).to_le_bytes());
        journal.extend_from_slice(&crc32fast::hash(entry).to_le_bytes());
        journal.extend_from_slice(entry);
    }
    let files = FakeFiles::new();
    let path = |text: &str| AbsPath::new(text).expect("it starts at the root");
    files.write(&path("/journals/1/lock"), "");
    files.write(&path("/journals/1/a.journal"), &journal);
    let recovery = project::recover(&files, &path("/journals"), Timestamp(1));
    for recovered in &recovery.documents {
        let snapshot = recovered.document.snapshot();
        assert_eq!(snapshot.to_string().len(), snapshot.len().0);
    }
});
