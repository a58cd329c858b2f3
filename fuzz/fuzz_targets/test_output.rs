//! Any output of any test runner, in any pieces, gives the same bounded reports. The first byte chooses the runner.
#![no_main]

use base::AbsPath;
use libfuzzer_sys::fuzz_target;
use project::ManifestReader;
use test_runner::{OutputParser, TestProject, TestReport};

/// A manifest, its text, and a file with tests.
const PROJECTS: [(&str, &str, &str); 6] = [
    (
        "/p/Cargo.toml",
        "[package]\nname = \"a\"\n",
        "/p/src/lib.rs",
    ),
    (
        "/p/Cargo.toml",
        "[package]\nname = \"a\"\n# nextest\n",
        "/p/src/lib.rs",
    ),
    ("/p/pytest.ini", "", "/p/test_a.py"),
    (
        "/p/package.json",
        r#"{ "devDependencies": { "jest": "1" } }"#,
        "/p/a.test.ts",
    ),
    (
        "/p/package.json",
        r#"{ "devDependencies": { "vitest": "1" } }"#,
        "/p/a.test.ts",
    ),
    ("/p/go.mod", "module a\n", "/p/a_test.go"),
];

/// The only file of a project.
struct OneManifest(&'static str, &'static str);

impl ManifestReader for OneManifest {
    fn read(&self, path: &AbsPath) -> Option<String> {
        self.exists(path).then(|| self.1.to_owned())
    }

    fn exists(&self, path: &AbsPath) -> bool {
        *path == absolute(self.0)
    }
}

fn absolute(path: &str) -> AbsPath {
    AbsPath::new(path).expect("absolute")
}

fn run(project: &TestProject, output: &[u8], piece: usize) -> (Vec<TestReport>, String) {
    let mut parser = OutputParser::new(project);
    let mut reports = Vec::new();
    for piece in output.chunks(piece) {
        reports.extend(parser.feed(piece));
    }
    reports.extend(parser.finish());
    (reports, parser.tail())
}

fuzz_target!(|data: &[u8]| {
    let Some((choice, output)) = data.split_first() else {
        return;
    };
    let (manifest, text, file) = PROJECTS[usize::from(*choice) % PROJECTS.len()];
    let reader = OneManifest(manifest, text);
    let project = TestProject::of_file(&absolute(file), &absolute("/p"), &reader);
    let project = project.expect("a project");
    let whole = run(&project, output, usize::MAX);
    assert_eq!(whole, run(&project, output, usize::from(choice % 7) + 1));
    let (reports, tail) = whole;
    assert!(tail.lines().count() <= 30);
    for report in reports {
        assert!(report.outcome.message.len() <= 4 << 10);
        assert!(report.outcome.output.len() <= (64 << 10) + 100);
    }
});
