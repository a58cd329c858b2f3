//! The readers of task files accept any text, locate each problem, and keep what they read bounded.
#![no_main]

use std::collections::HashSet;

use base::{AbsPath, Platform};
use host::FakeFiles;
use libfuzzer_sys::fuzz_target;
use tasks::TaskSet;

const FILES: [&str; 4] = [
    ".burin/tasks.jsonc",
    ".burin/tasks.json",
    ".vscode/tasks.json",
    ".zed/tasks.json",
];

fuzz_target!(|text: &str| {
    let root = AbsPath::new("/p").expect("absolute");
    for name in FILES {
        let files = FakeFiles::new();
        files.write(&root.join(name), text);
        for platform in [Platform::Linux, Platform::MacOs] {
            let set = TaskSet::read(&files, &root, platform);
            assert!(set.tasks.len() <= 500 && set.inputs.len() <= 500);
            assert!(set.problems.len() <= 200);
            for problem in &set.problems {
                assert!(problem.problem.line > 0 && problem.problem.column > 0);
            }
            let labels: HashSet<&str> = set.tasks.iter().map(|it| it.label.as_str()).collect();
            assert_eq!(labels.len(), set.tasks.len());
            assert!(set.tasks.iter().all(|it| it.matchers.len() <= 8));
            assert!(set.questions(&set.tasks).len() <= set.inputs.len());
            for file in &set.files {
                let commands = set.commands_of(file);
                assert_eq!(commands.is_empty(), set.tasks.is_empty());
            }
        }
    }
});
