//! Applies a model's edits to a project: all of them or none, even if something fails in between.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Output;

use host::TempFolder;

use crate::agent::{Agent, Way, has, mode};

/// A project of four files, a folder beside it, and the environment for a run of the program.
struct Project {
    folder: TempFolder,
}

const EDITS: &str = "*** Begin Patch
*** Update File: src/main.rs
@@ fn main() {
-    one();
+    two();
*** Update File: windows.ini
@@
-key=old
+key=new
*** Update File: run.sh
*** Move to: bin/run.sh
@@
-echo old
+echo new
*** Delete File: gone.txt
*** Add File: docs/new.md
+# New
*** End Patch
";

impl Project {
    fn new() -> Self {
        let folder = TempFolder::new().expect("a temporary folder");
        let project = Self { folder };
        let root = project.root();
        fs::create_dir_all(root.join("src")).expect("a folder");
        fs::create_dir_all(project.path("outside")).expect("a folder");
        fs::write(root.join("src/main.rs"), "fn main() {\n    one();\n}\n").expect("written");
        fs::write(root.join("windows.ini"), b"\xef\xbb\xbf[a]\r\nkey=old\r\n").expect("written");
        fs::write(root.join("run.sh"), "echo old\n").expect("written");
        fs::write(root.join("gone.txt"), "gone\n").expect("written");
        fs::set_permissions(root.join("run.sh"), mode(0o755)).expect("a mode");
        symlink(project.path("outside"), root.join("way")).expect("a link");
        project
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().as_path().join(name)
    }

    fn root(&self) -> PathBuf {
        self.path("root")
    }

    fn apply(
        &self,
        agent: &Agent,
        strace: &[String],
        format: &str,
        flags: &[&str],
        edits: &str,
    ) -> Output {
        fs::write(self.path("edits"), edits).expect("written");
        let root = self.root();
        let mut arguments = vec![Path::new("apply"), Path::new("--root"), &root];
        arguments.extend(["--format", format].map(Path::new));
        arguments.extend(flags.iter().map(Path::new));
        let way = Way {
            strace,
            ..Way::default()
        };
        agent.run(way, &arguments, &self.path("edits"), &self.path("state"))
    }

    /// Returns every file of the project with its content and mode.
    fn files(&self) -> BTreeMap<String, (Vec<u8>, u32)> {
        let mut files = BTreeMap::new();
        collect(&self.root(), &self.root(), &mut files);
        files
    }
}

fn collect(root: &Path, folder: &Path, files: &mut BTreeMap<String, (Vec<u8>, u32)>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let kind = fs::symlink_metadata(&path).expect("there");
        if kind.is_dir() {
            collect(root, &path, files);
        } else if kind.is_file() {
            let name = path.strip_prefix(root).expect("within").to_string_lossy();
            let content = fs::read(&path).expect("readable");
            files.insert(
                name.into_owned(),
                (content, kind.permissions().mode() & 0o777),
            );
        }
    }
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

fn assert_all_is_new(project: &Project) {
    let files = project.files();
    let names: Vec<_> = files.keys().map(String::as_str).collect();
    assert_eq!(
        names,
        ["bin/run.sh", "docs/new.md", "src/main.rs", "windows.ini"]
    );
    assert_eq!(files["bin/run.sh"], (b"echo new\n".to_vec(), 0o755));
    assert_eq!(files["windows.ini"].0, b"\xef\xbb\xbf[a]\r\nkey=new\r\n");
    assert_eq!(files["src/main.rs"].0, b"fn main() {\n    two();\n}\n");
    assert_eq!(files["docs/new.md"].0, b"# New\n");
}

#[test]
fn a_patch_of_many_files_lands() {
    let (agent, project) = (Agent::new(), Project::new());
    let output = project.apply(&agent, &[], "apply-patch", &[], EDITS);
    assert!(output.status.success(), "{}", said(&output));
    assert_all_is_new(&project);
    // A second application finds no matching text.
    let before = project.files();
    let output = project.apply(&agent, &[], "apply-patch", &[], EDITS);
    assert!(!output.status.success());
    assert_eq!(project.files(), before);
}

#[test]
fn unmatched_hunk_blocks_all_without_partial() {
    let (agent, project) = (Agent::new(), Project::new());
    let before = project.files();
    let edits = EDITS.replace("-    one();", "-    three();");
    let output = project.apply(&agent, &[], "apply-patch", &["--json"], &edits);
    assert!(!output.status.success());
    assert_eq!(project.files(), before);
    let answer = said(&output);
    for part in [
        "\"outcome\": \"rejected\"",
        "\"nearest\"",
        "\"applied\": false",
    ] {
        assert!(answer.contains(part), "{answer}");
    }
    let output = project.apply(&agent, &[], "apply-patch", &["--partial"], &edits);
    assert!(!output.status.success());
    let files = project.files();
    assert_eq!(files["src/main.rs"], before["src/main.rs"]);
    assert_eq!(files["bin/run.sh"].0, b"echo new\n");
}

#[test]
fn nothing_is_written_through_a_link_that_leads_out() {
    let (agent, project) = (Agent::new(), Project::new());
    for path in ["way/new.txt", "../outside/new.txt"] {
        let edits = format!("*** Write File: {path}\nx\n*** End of File\n");
        let output = project.apply(&agent, &[], "whole", &[], &edits);
        assert!(!output.status.success(), "{}", said(&output));
    }
    assert_eq!(
        fs::read_dir(project.path("outside"))
            .expect("a folder")
            .count(),
        0
    );
}

#[test]
fn disk_failure_applies_all_edits_or_none() {
    if !has("strace") {
        return test_support::skip("strace is not installed");
    }
    let agent = Agent::new();
    let before = Project::new().files();
    let mut failed = 0;
    for call in ["renameat2", "fsync", "mkdir", "fchmod"] {
        for nth in 1..40 {
            let project = Project::new();
            let trace = project.path("trace");
            let strace = [
                "-f".to_owned(),
                "-o".to_owned(),
                trace.to_string_lossy().into_owned(),
                "-e".to_owned(),
                format!("trace={call}"),
                "-e".to_owned(),
                format!("inject={call}:error=EIO:when={nth}"),
            ];
            let output = project.apply(&agent, &strace, "apply-patch", &[], EDITS);
            let trace = fs::read_to_string(&trace).unwrap_or_default();
            if !trace.contains("(INJECTED)") {
                break;
            }
            if output.status.success() {
                assert_all_is_new(&project);
            } else {
                failed += 1;
                assert_eq!(project.files(), before, "{call} {nth}: {}", said(&output));
                assert!(
                    said(&output).contains("nothing was changed")
                        || said(&output).contains("cannot")
                );
            }
        }
    }
    assert!(failed > 5, "{failed} runs failed");
    eprintln!("{failed} runs failed and left everything as it was");
}
