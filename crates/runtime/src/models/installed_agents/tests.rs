//! Discovery of other agents.

use std::fs;
use std::os::unix::fs::PermissionsExt;

#[test]
fn agents_are_found_by_their_programs_alone() {
    let folder = host::TempFolder::new().expect("a temporary folder");
    let program = |name: &str, mode: u32| {
        let path = folder.path().join(name);
        let mut options = fs::OpenOptions::new();
        let made = options.create(true).truncate(true).write(true).open(&path);
        made.expect("a file");
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("a mode");
    };
    program("claude", 0o755);
    program("codex", 0o755);
    program("codex-acp", 0o755);
    program("opencode", 0o644);
    let found = super::find(folder.path().as_path().as_os_str());
    let told: Vec<_> = found
        .iter()
        .map(|agent| {
            (
                agent.name,
                agent.program.file_name().expect("a name"),
                agent.lacks.is_some(),
            )
        })
        .collect();
    assert_eq!(
        told,
        [
            ("Claude Code", "claude".as_ref(), true),
            ("Codex", "codex-acp".as_ref(), false),
        ]
    );
}
