//! Tasks as checks, in a real sandbox.

use host::{Dirs, TempFolder};
use tasks::TaskFile;

use super::*;

const TASKS: &str = r#"{
    "version": "2.0.0",
    "tasks": [
        {
            "label": "test",
            "command": "echo 'a.c:9:1: warning: odd'; echo 'a.c:3:5: error: it is wrong'; exit 1",
            "problemMatcher": "$gcc"
        },
        { "label": "all", "dependsOn": ["test"] },
        { "label": "quiet", "command": "echo nothing to see; exit 2" },
        { "label": "good", "command": "test -f a.c" },
        { "label": "watch", "command": "true", "isBackground": true }
    ]
}"#;

/// A trusted project whose file of tasks the user allowed.
struct World {
    _folder: TempFolder,
    dirs: Dirs,
    project: AbsPath,
}

impl World {
    fn new() -> Self {
        let folder = TempFolder::new().expect("a folder");
        let root = RealFiles.canonicalize(folder.path()).expect("it exists");
        let project = root.join("p");
        for folder in [&project, &project.join(".burin")] {
            RealFiles.create_folder(folder).expect("a folder");
        }
        let dirs = Dirs::under(&root.join("own"));
        dirs.create().expect("folders");
        trust::set_trusted(&RealFiles, &dirs, &project, true).expect("stored");
        let world = Self {
            _folder: folder,
            dirs,
            project,
        };
        world.write("a.c", "int main;\n");
        world.write(".burin/tasks.jsonc", TASKS);
        world.allow(TASKS);
        world
    }

    fn write(&self, name: &str, text: &str) {
        let written = RealFiles.write_private(&self.project.join(name), text.as_bytes());
        written.expect("a file");
    }

    fn allow(&self, text: &str) {
        let file = TaskFile {
            path: self.project.join(".burin/tasks.jsonc"),
            name: ".burin/tasks.jsonc",
            text: text.to_owned(),
        };
        task_permission::allow(&self.dirs, &self.project, &file).expect("stored");
    }

    fn check(&self, check: &str) -> Check {
        let tree = CheckedTree {
            dirs: &self.dirs,
            project: &self.project,
            folder: &self.project,
        };
        let (check, notices) = tree.run(check).expect("a result");
        assert_eq!(notices, Vec::<String>::new());
        assert_eq!(check.is_passed, check.detail.is_empty(), "{check:?}");
        check
    }

    /// Returns the detail of a check that fails, in lines.
    fn failure(&self, name: &str) -> Vec<String> {
        let check = self.check(name);
        assert!(!check.is_passed, "{name}");
        assert_eq!((check.name.as_str(), check.kind), (name, CheckKind::Task));
        check.detail.lines().map(str::to_owned).collect()
    }
}

#[test]
fn a_failed_task_names_its_problems_errors_first() {
    let world = World::new();
    let lines = world.failure("task:test");
    assert_eq!(
        lines[0],
        "the task “test” fails: a.c:3:5 it is wrong; a.c:9:1 odd"
    );
    assert_eq!(lines[1], "a.c:9:1: warning: odd");
    let lines = world.failure("task:all");
    assert!(
        lines[0].starts_with("the task “all” fails in “test”: a.c:3:5 it is wrong"),
        "{lines:?}"
    );
    let lines = world.failure("task:quiet");
    assert_eq!(lines, ["the task “quiet” fails", "nothing to see"]);
}

#[test]
fn a_task_that_succeeds_passes_and_a_command_is_no_task() {
    let world = World::new();
    let check = world.check("task:good");
    assert!(check.is_passed);
    let check = world.check("test -f a.c");
    assert_eq!((check.is_passed, check.kind), (true, CheckKind::Command));
}

#[test]
fn unknown_and_endless_tasks_fail_with_a_sentence() {
    let world = World::new();
    assert_eq!(
        world.failure("task:tests"),
        ["the task “tests” does not run: there is no task \"tests\""]
    );
    assert_eq!(
        world.failure("task:watch"),
        ["the task “watch” does not run: “watch” runs until it is stopped"]
    );
}

#[test]
fn untrusted_projects_and_changed_files_of_tasks_run_nothing() {
    let world = World::new();
    let changed = TASKS.replace("test -f a.c", "touch planted");
    world.write(".burin/tasks.jsonc", &changed);
    let lines = world.failure("task:good");
    assert_eq!(
        lines,
        [
            "the task “good” does not run: .burin/tasks.jsonc is new or changed: run one of its tasks in a window and \
             allow it there"
        ]
    );
    world.allow(&changed);
    trust::set_trusted(&RealFiles, &world.dirs, &world.project, false).expect("stored");
    assert_eq!(
        world.failure("task:good"),
        ["the task “good” does not run: the project is not trusted"]
    );
    assert!(!RealFiles.exists(&world.project.join("planted")));
    trust::set_trusted(&RealFiles, &world.dirs, &world.project, true).expect("stored");
    assert!(world.check("task:good").is_passed);
    assert!(RealFiles.exists(&world.project.join("planted")));
}
