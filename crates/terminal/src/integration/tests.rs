//! The files of the integration and the variables that load them.

use host::FakeFiles;

use super::*;

fn folder() -> AbsPath {
    AbsPath::new("/state/shell").expect("a path")
}

fn set<'a>(integration: &'a ShellIntegration, name: &str) -> Option<&'a OsStr> {
    let found = integration.variables.iter().find(|(set, _)| set == name);
    found.map(|(_, value)| value.as_os_str())
}

#[test]
fn files_are_written_once_and_again_if_they_changed() {
    let files = FakeFiles::new();
    install_integration(&files, &folder()).expect("written");
    for (name, content) in FILES {
        assert_eq!(
            files.content(&folder().join(name)).as_deref(),
            Some(content.as_bytes())
        );
    }
    files.write(&folder().join(ZSH_FILE), "other");
    install_integration(&files, &folder()).expect("written");
    let content = files.content(&folder().join(ZSH_FILE)).expect("a file");
    assert_ne!(content, b"other");
}

#[test]
fn shells_are_known_by_their_names() {
    let kinds = [
        ("/usr/bin/bash", Some(ShellKind::Bash)),
        ("zsh", Some(ShellKind::Zsh)),
        ("/opt/fish", Some(ShellKind::Fish)),
        ("/bin/sh", None),
        ("", None),
    ];
    for (program, kind) in kinds {
        assert_eq!(ShellKind::of(OsStr::new(program)), kind, "{program}");
    }
}

#[test]
fn each_shell_gets_its_files_and_keeps_those_of_the_user() {
    let variables = [
        ("ZDOTDIR".into(), "/home/u/zsh".into()),
        ("XDG_DATA_DIRS".into(), "/a:/b".into()),
    ];
    let of = |kind| integrate(kind, &folder(), "nonce".to_owned(), &variables);
    let bash = of(ShellKind::Bash);
    assert_eq!(
        bash.arguments,
        ["--init-file", "/state/shell/bash/burin.bash"]
    );
    assert_eq!(set(&bash, "BURIN_SHELL_NONCE"), Some(OsStr::new("nonce")));
    let zsh = of(ShellKind::Zsh);
    assert_eq!(set(&zsh, "ZDOTDIR"), Some(OsStr::new("/state/shell/zsh")));
    assert_eq!(
        set(&zsh, "BURIN_USER_ZDOTDIR"),
        Some(OsStr::new("/home/u/zsh"))
    );
    let fish = of(ShellKind::Fish);
    let folders = set(&fish, "XDG_DATA_DIRS");
    assert_eq!(folders, Some(OsStr::new("/state/shell/fish:/a:/b")));
    let bare = integrate(ShellKind::Fish, &folder(), "nonce".to_owned(), &[]);
    let folders = set(&bare, "XDG_DATA_DIRS");
    assert_eq!(
        folders,
        Some(OsStr::new("/state/shell/fish:/usr/local/share:/usr/share"))
    );
    assert_eq!(set(&bare, "BURIN_HAD_DATA_DIRS"), Some(OsStr::new("")));
}
