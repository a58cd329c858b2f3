//! The output of a language server ends its connection and nothing else, whatever it contains.
#![no_main]

use std::io::{Cursor, sink};
use std::time::Duration;

use base::AbsPath;
use libfuzzer_sys::fuzz_target;
use lsp::{ClientInfo, LanguageServer, ServerEvent, ServerOptions};
use text::Snapshot;

fuzz_target!(|data: &[u8]| {
    let options = ServerOptions {
        client: ClientInfo {
            name: "fuzz".to_owned(),
            version: "1".to_owned(),
        },
        process_id: None,
        folders: Vec::new(),
        initialization_options: Default::default(),
        configuration: Default::default(),
        log: None,
    };
    let output = Cursor::new(data.to_vec());
    let (server, events) = LanguageServer::connect(options, sink(), output).expect("threads");
    let path = AbsPath::new("/w/a.rs").expect("absolute");
    server.open_document(&path, "rust", &Snapshot::new("let é = 1;\r\n"));
    while !matches!(events.next(Duration::from_secs(10)).expect("the end"), ServerEvent::Ended(_)) {}
});
