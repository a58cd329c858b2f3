//! Hooks in a real sandbox.

use host::{Dirs, Files as _, RealFiles, TempFolder};

use super::*;
use crate::sandbox_policy::{Confinement, SessionRoot};

const PATIENCE: Duration = Duration::from_secs(60);

struct Setup {
    folder: TempFolder,
    root: AbsPath,
    hooks: SandboxedHooks,
}

impl Setup {
    fn new() -> Self {
        let folder = TempFolder::new().expect("a folder");
        let root = folder.path().join("tree");
        RealFiles.create_folder(&root).expect("a folder");
        let root = RealFiles.canonicalize(&root).expect("it exists");
        let dirs = Dirs::under(&folder.path().join("own"));
        dirs.create().expect("folders");
        let ground = SessionRoot::for_user_folder(&root);
        let (sandbox, problems) = sandbox_policy::sandbox(&dirs, ground, &Confinement::default());
        assert_eq!(problems, Vec::<String>::new());
        Self {
            folder,
            hooks: SandboxedHooks::new(
                sandbox.expect("a sandbox"),
                sandbox_policy::command_variables(&dirs),
            ),
            root,
        }
    }

    async fn run(&self, command: &str, input: &str) -> HookOutput {
        let ran = self
            .hooks
            .run(command, &self.root, input.as_bytes().to_vec(), PATIENCE);
        ran.await.expect("it runs")
    }
}

fn ran(code: i32, output: &str, errors: &str) -> HookOutput {
    HookOutput {
        code: Some(code),
        output: output.to_owned(),
        errors: errors.to_owned(),
    }
}

#[tokio::test]
async fn input_both_outputs_and_the_exit_code_pass_the_sandbox() {
    let setup = Setup::new();
    assert_eq!(
        setup.run("cat", "{\"a\": 1}").await,
        ran(0, "{\"a\": 1}", "")
    );
    let blocked = setup.run("echo why >&2; echo out; exit 2", "").await;
    assert_eq!(blocked, ran(2, "out\n", "why"));
    let folder = setup
        .run("printf %s \"$CLAUDE_PROJECT_DIR\"; pwd >&2", "")
        .await;
    let root = setup.root.to_string();
    assert_eq!(folder, ran(0, &root, &root));
    let long = "öäü\n".repeat(MAX_INPUT / 16);
    assert_eq!(
        setup.run("wc -c", &long).await.output.trim(),
        long.len().to_string()
    );
}

#[tokio::test]
async fn hook_changes_nothing_outside_of_its_folder() {
    let setup = Setup::new();
    let outside = setup.folder.path().join("outside");
    // The sandbox has its own /tmp, so that the second may succeed and leave nothing here.
    setup
        .run(&format!("echo x > inside; echo x > {outside}"), "")
        .await;
    assert!(RealFiles.exists(&setup.root.join("inside")));
    assert!(!RealFiles.exists(&outside));
}

#[tokio::test]
async fn hook_that_takes_too_long_is_ended() {
    let setup = Setup::new();
    let ran = setup.hooks.run(
        "sleep 1000",
        &setup.root,
        Vec::new(),
        Duration::from_millis(50),
    );
    assert_eq!(ran.await.expect("it began").code, None);
}

#[tokio::test]
async fn too_much_input_is_refused() {
    let setup = Setup::new();
    let input = vec![b'a'; MAX_INPUT + 1];
    let refused = setup.hooks.run("cat", &setup.root, input, PATIENCE).await;
    let refused = refused.expect_err("refused").to_string();
    assert!(refused.contains("larger than"));
}
