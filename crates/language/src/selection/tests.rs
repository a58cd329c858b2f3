//! The order of servers, their programs and roots, and trust.

use host::FakeFiles;
use settings::SettingsSource;

use super::*;

fn path(text: &str) -> AbsPath {
    AbsPath::new(text).expect("absolute")
}

/// A folder `/p` with files; those in a folder `bin` or `.bin` are programs. `/bin` is the `PATH`.
fn folder(names: &[&str], user: &str, is_trusted: bool) -> FolderServers {
    let files = FakeFiles::new();
    for name in names {
        let path = path(name);
        files.write(&path, "");
        let parent = path.parent().expect("a folder").name();
        if parent == "bin" || parent == ".bin" {
            files.set_mode(&path, 0o755);
        }
    }
    let (settings, problems) = settings::parse(&[(SettingsSource::User, "settings.json", user)]);
    assert_eq!(problems, []);
    let (table, problems) = ServerTable::builtin().with_settings(&settings.lsp);
    FolderServers {
        files: Arc::new(files),
        root: path("/p"),
        program_root: path("/p"),
        sandbox: ServerSandbox::Off,
        is_trusted,
        table,
        settings,
        installed: InstalledServers::new(path("/servers")),
        repository: None,
        variables: vec![
            ("PATH".into(), "/bin:bin:/p/bin".into()),
            ("HOME".into(), "/home".into()),
        ],
        problems,
    }
}

/// Checks the servers of `document` as `id:program` and `!id` for missing ones.
fn check(folder: &FolderServers, document: &str, expected: &[&str]) {
    let found = folder.for_document(&path(document)).expect("a language");
    let servers = found.servers.iter();
    let servers = servers.map(|it| format!("{}:{}", it.definition.id, it.program.path));
    let missing = found.missing.iter().map(|it| format!("!{}", it.id));
    assert_eq!(servers.chain(missing).collect::<Vec<_>>(), expected);
}

const PYTHON: &[&str] = &["/p/a.py", "/bin/ty", "/bin/ruff", "/bin/pyrefly"];

#[test]
fn a_document_has_one_primary_server_and_linters() {
    check(
        &folder(PYTHON, "", true),
        "/p/a.py",
        &["ty:/bin/ty", "ruff:/bin/ruff"],
    );
    check(
        &folder(&["/p/a.py"], "", true),
        "/p/a.py",
        &["!basedpyright"],
    );
}

#[test]
fn settings_choose_order_and_remove_servers() {
    let languages = |list: &str| {
        format!(r#"{{ "languages": {{ "Python": {{ "language_servers": {list} }} }} }}"#)
    };
    let with = |list: &str| folder(PYTHON, &languages(list), true);
    let named = with(r#"["pyrefly", "..."]"#);
    check(
        &named,
        "/p/a.py",
        &["pyrefly:/bin/pyrefly", "ruff:/bin/ruff"],
    );
    check(&with(r#"["!ruff", "..."]"#), "/p/a.py", &["ty:/bin/ty"]);
    check(&with(r#"["ruff"]"#), "/p/a.py", &["ruff:/bin/ruff"]);
    check(
        &with(r#"["zuban", "..."]"#),
        "/p/a.py",
        &["ruff:/bin/ruff", "!zuban"],
    );
    check(
        &with(r#"["ty", "pyrefly"]"#),
        "/p/a.py",
        &["ty:/bin/ty", "pyrefly:/bin/pyrefly"],
    );
}

#[test]
fn a_linter_with_a_config_file_runs_only_beside_it() {
    let programs = ["/p/a.ts", "/bin/biome", "/bin/vtsls"];
    check(
        &folder(&programs, "", true),
        "/p/a.ts",
        &["vtsls:/bin/vtsls"],
    );
    let with = [&programs[..], &["/p/biome.json"]].concat();
    check(
        &folder(&with, "", true),
        "/p/a.ts",
        &["vtsls:/bin/vtsls", "biome:/bin/biome"],
    );
}

#[test]
fn programs_of_the_project_need_trust() {
    let files = [
        "/p/a.ts",
        "/p/node_modules/.bin/vtsls",
        "/p/bin/biome",
        "/p/biome.json",
    ];
    let trusted = ["vtsls:/p/node_modules/.bin/vtsls", "biome:/p/bin/biome"];
    check(&folder(&files, "", true), "/p/a.ts", &trusted);
    check(&folder(&files, "", false), "/p/a.ts", &["!vtsls"]);
    let own = r#"{ "lsp": { "servers": { "vtsls": { "command": "./bin/biome" } } } }"#;
    check(&folder(&files, own, false), "/p/a.ts", &["!vtsls"]);
}

#[test]
fn a_command_of_the_settings_is_expanded() {
    let own = r#"{ "lsp": { "servers": { "ty": { "command": "~/bin/my-ty" } } } }"#;
    let folder = folder(&["/p/a.py", "/bin/ty", "/home/bin/my-ty"], own, true);
    check(&folder, "/p/a.py", &["ty:/home/bin/my-ty"]);
}

#[test]
fn the_topmost_marker_is_the_root_of_a_project() {
    let files = [
        "/p/w/Cargo.toml",
        "/p/w/a/Cargo.toml",
        "/p/w/a/m.rs",
        "/bin/rust-analyzer",
    ];
    let check = |files: &[&str], expected: &str| {
        let folder = folder(files, "", true);
        let found = folder.for_document(&path("/p/w/a/m.rs")).expect("Rust");
        assert_eq!(found.servers[0].root, path(expected));
    };
    check(&files, "/p/w");
    check(&files[2..], "/p");
}

#[test]
fn an_untrusted_folder_may_not_start_servers() {
    assert!(folder(&[], "", true).ensure_may_start().is_ok());
    let error = folder(&[], "", false)
        .ensure_may_start()
        .expect_err("refused");
    assert!(matches!(error, Error::Untrusted(_)));
    let off = r#"{ "lsp": { "enabled": false } }"#;
    let error = folder(&[], off, true).ensure_may_start().expect_err("off");
    assert!(matches!(error, Error::Disabled));
}

#[test]
fn a_cache_looks_each_program_up_once() {
    let folder = folder(PYTHON, "", true);
    let mut programs = ProgramCache::default();
    assert!(folder.serves_with(&path("/p/a.py"), &mut programs));
    for name in &PYTHON[1..] {
        folder.files.remove(&path(name)).expect("removed");
    }
    assert!(folder.serves_with(&path("/p/a.py"), &mut programs));
    assert!(!folder.serves(&path("/p/a.py")));
}
