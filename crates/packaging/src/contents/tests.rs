//! The files of packages, with small programs in the places of the real ones.

use std::path::Path;
use std::process::{Command, Output};

use super::PackageContents;
use crate::package_tree::{PackageEntry, PackageTree};
use crate::release::Release;

/// A program that prints its name and arguments.
fn program(name: &str) -> Vec<u8> {
    format!("#!/bin/sh\necho {name} \"$@\"\n").into_bytes()
}

fn contents() -> PackageContents {
    let texts = [
        ("man/burin.1", ".TH burin 1\n"),
        ("man/burin-agent-run.1", ".TH burin-agent-run 1\n"),
        ("bash/burin", "complete burin\n"),
        ("zsh/_burin", "#compdef burin\n"),
        ("fish/burin.fish", "complete -c burin\n"),
    ];
    let texts = texts.map(|(name, text)| (name.to_owned(), text.to_owned()));
    PackageContents {
        burin: program("burin"),
        agent: program("burin-agent"),
        texts: texts.into(),
        bill: "{}\n".to_owned(),
        licences: "Licences.\n".to_owned(),
        release: Release::for_tests(),
    }
}

fn has(tree: &PackageTree, paths: &[&str]) {
    let all = tree.walk();
    for path in paths {
        assert!(
            all.contains_key(path),
            "{path} is missing: {:?}",
            all.keys()
        );
    }
}

#[test]
fn debian_packages_follow_the_layout_of_debian() {
    let tree = contents().debian().expect("the files");
    has(
        &tree,
        &[
            "usr/bin/burin",
            "usr/bin/burin-agent",
            "usr/share/man/man1/burin.1.gz",
            "usr/share/man/man1/burin-agent-run.1.gz",
            "usr/share/bash-completion/completions/burin",
            "usr/share/zsh/vendor-completions/_burin",
            "usr/share/fish/vendor_completions.d/burin.fish",
            "usr/share/applications/burin.desktop",
            "usr/share/metainfo/dev.burin.Burin.metainfo.xml",
            "usr/share/icons/hicolor/scalable/apps/burin.svg",
            "usr/share/icons/hicolor/48x48/apps/burin.png",
            "usr/share/icons/hicolor/512x512/apps/burin.png",
            "usr/share/doc/burin/changelog.gz",
            "usr/share/doc/burin/copyright",
            "usr/share/doc/burin/third-party-licenses.txt.gz",
            "usr/share/doc/burin/burin.cdx.json.gz",
            "usr/share/lintian/overrides/burin",
            "usr/share/burin/apparmor/burin",
        ],
    );
    assert!(tree.walk().keys().all(|path| path.starts_with("usr")));
}

#[test]
fn packing_again_gives_the_same_bytes() {
    let deb = || {
        let tree = contents().debian().expect("the files");
        crate::deb::deb(&tree, &[], &Release::for_tests()).expect("a package")
    };
    assert!(deb() == deb());
    let archive = || {
        let tree = contents().archive().expect("the files");
        let tar = crate::archive::tar(&tree, "burin/", Release::for_tests().epoch);
        crate::archive::gzip(&tar.expect("a tar")).expect("an archive")
    };
    assert!(archive() == archive());
    assert!(contents().app_dir().ok() == contents().app_dir().ok());
    assert!(contents().app_bundle().ok() == contents().app_bundle().ok());
}

/// Every text of every package: a placeholder that was not replaced would reach users.
#[test]
fn no_placeholder_is_left_in_a_package() {
    let contents = contents();
    let trees = [
        contents.debian(),
        contents.archive(),
        contents.app_dir(),
        contents.app_bundle(),
    ];
    for tree in trees {
        let tree = tree.expect("the files");
        for (path, content) in tree.files() {
            let text = String::from_utf8_lossy(content);
            let parts: Vec<&str> = text.split('@').collect();
            let is_placeholder =
                |part: &&str| !part.is_empty() && part.chars().all(|it| it.is_ascii_uppercase());
            let inner = parts
                .get(1..parts.len().saturating_sub(1))
                .unwrap_or_default();
            let left: Vec<_> = inner.iter().filter(|part| is_placeholder(part)).collect();
            let is_text = ![".png", ".gz", ".icns"]
                .iter()
                .any(|end| path.ends_with(end));
            assert!(left.is_empty() || !is_text, "{path}: {left:?}");
        }
    }
}

#[test]
fn desktop_entry_and_window_have_one_name() {
    let tree = contents().debian().expect("the files");
    let entry = tree
        .file("usr/share/applications/burin.desktop")
        .expect("an entry");
    let entry = String::from_utf8_lossy(entry);
    let windows = include_str!("../../../workbench/src/windows.rs");
    assert!(windows.contains("app_id: Some(\"burin\".to_owned())"));
    for row in [
        "StartupWMClass=burin\n",
        "Icon=burin\n",
        "Exec=burin %F\n",
        "Actions=new-window;\n",
        "[Desktop Action new-window]\n",
        "Exec=burin --new-window\n",
    ] {
        assert!(entry.contains(row), "{row}");
    }
    let types = entry.lines().find_map(|row| row.strip_prefix("MimeType="));
    let types = types.expect("types of files");
    assert!(types.ends_with(';') && types.contains("text/plain;"));
    // A desktop would open every folder in the editor.
    assert!(!types.contains("inode/directory"));
}

#[test]
fn metainfo_describes_the_release() {
    let tree = contents().debian().expect("the files");
    let text = tree.file("usr/share/metainfo/dev.burin.Burin.metainfo.xml");
    let text = std::str::from_utf8(text.expect("metainfo")).expect("UTF-8");
    let document = roxmltree::Document::parse(text).expect("XML");
    let value = |tag: &str| {
        let mut found = document.descendants().filter(|node| node.has_tag_name(tag));
        found.next().unwrap_or_else(|| panic!("{tag} is missing"))
    };
    assert_eq!(value("id").text(), Some("dev.burin.Burin"));
    assert_eq!(value("launchable").text(), Some("burin.desktop"));
    assert_eq!(value("release").attribute("version"), Some("1.2.3"));
    assert_eq!(value("release").attribute("date"), Some("2026-11-30"));
    assert_eq!(value("url").text(), Some("https://example.org"));
    assert!(
        value("summary")
            .text()
            .is_some_and(|text| !text.ends_with('.'))
    );
    let first = value("p").text().unwrap_or_default();
    assert!(first.len() >= 80, "{first}");
    for tag in [
        "content_rating",
        "metadata_license",
        "screenshot",
        "branding",
    ] {
        value(tag);
    }
}

/// Returns the value of a key in a property list, by the order of its elements.
fn plist_value(text: &str, key: &str) -> Option<String> {
    let document = roxmltree::Document::parse_with_options(
        text,
        roxmltree::ParsingOptions {
            allow_dtd: true,
            ..roxmltree::ParsingOptions::default()
        },
    );
    let document = document.expect("XML");
    let mut keys = document
        .descendants()
        .filter(|node| node.has_tag_name("key"));
    let key = keys.find(|node| node.text() == Some(key))?;
    let value = key.next_sibling_element()?;
    Some(
        value
            .text()
            .unwrap_or_else(|| value.tag_name().name())
            .to_owned(),
    )
}

#[test]
fn bundle_and_property_list_name_the_same_files() {
    let tree = contents().app_bundle().expect("the bundle");
    let text = tree.file("Burin.app/Contents/Info.plist").expect("a list");
    let text = std::str::from_utf8(text).expect("UTF-8");
    let value = |key: &str| plist_value(text, key).unwrap_or_else(|| panic!("{key} is missing"));
    let program = format!("Burin.app/Contents/MacOS/{}", value("CFBundleExecutable"));
    let icon = format!(
        "Burin.app/Contents/Resources/{}.icns",
        value("CFBundleIconFile")
    );
    has(
        &tree,
        &[
            program.as_str(),
            icon.as_str(),
            "Burin.app/Contents/PkgInfo",
        ],
    );
    has(&tree, &["Burin.app/Contents/Resources/man/man1/burin.1"]);
    for (key, expected) in [
        ("CFBundleIdentifier", "dev.burin.Burin"),
        ("CFBundlePackageType", "APPL"),
        ("CFBundleShortVersionString", "1.2.3"),
        ("CFBundleVersion", "1.2.3"),
        ("LSMinimumSystemVersion", "12.0"),
        ("NSHighResolutionCapable", "true"),
        ("LSHandlerRank", "Alternate"),
    ] {
        assert_eq!(value(key), expected, "{key}");
    }
    let main = include_str!("../../../../app/src/main.rs");
    assert!(
        main.contains("\"dev.burin.Burin\""),
        "the window's identity"
    );
    // Programs that agents start are confined by profiles, which the app sandbox forbids.
    let entitlements = include_str!("../../../../packaging/macos/burin.entitlements");
    assert_eq!(
        plist_value(entitlements, "com.apple.security.app-sandbox"),
        None
    );
    let programs = tree.walk().into_iter();
    let programs = programs.filter(|(path, _)| path.contains("/MacOS/"));
    let modes: Vec<u32> = programs
        .flat_map(|(_, entry)| entry)
        .map(PackageEntry::mode)
        .collect();
    assert_eq!(modes, [0o755, 0o755]);
}

#[test]
fn appimage_links_name_files_in_it() {
    let tree = contents().app_dir().expect("the files");
    has(
        &tree,
        &[
            "AppRun",
            "burin.desktop",
            "usr/bin/burin",
            "usr/bin/burin-agent",
        ],
    );
    let all = tree.walk();
    for link in [".DirIcon", "burin.png"] {
        let Some(Some(PackageEntry::Link(target))) = all.get(link) else {
            panic!("{link} is no link");
        };
        assert!(all.contains_key(target.as_str()), "{target}");
    }
    let entry = tree.file("burin.desktop").expect("an entry");
    assert!(!String::from_utf8_lossy(entry).contains("TryExec"));
}

/// Runs a script of an unpacked archive with another home.
fn run(home: &Path, script: &Path, arguments: &[&str]) -> Output {
    Command::new("/bin/sh")
        .arg(script)
        .args(arguments)
        .env_clear()
        .env("HOME", home)
        .env("PATH", "/usr/bin:/bin")
        .output()
        .expect("a shell")
}

fn names_below(folder: &Path) -> Vec<String> {
    let output = Command::new("find").arg(".").current_dir(folder).output();
    let output = output.expect("find");
    let mut names: Vec<String> = String::from_utf8_lossy(&output.stdout)
        .lines()
        .map(str::to_owned)
        .collect();
    names.sort();
    names
}

#[test]
fn the_install_script_removes_what_it_installed() {
    let folder = tempfile::tempdir().expect("a folder");
    let archive = folder.path().join("burin");
    contents()
        .archive()
        .expect("the files")
        .write(&archive)
        .expect("written");
    let home = folder.path().join("the home");
    let own = home.join(".local/share/applications");
    std::fs::create_dir_all(&own).expect("a folder");
    std::fs::write(own.join("other.desktop"), "").expect("written");
    let before = names_below(&home);
    for _ in 0..2 {
        let done = run(&home, &archive.join("install.sh"), &[]);
        assert!(
            done.status.success(),
            "{}",
            String::from_utf8_lossy(&done.stderr)
        );
    }
    let program = home.join(".local/bin/burin");
    let started = Command::new(&program)
        .arg("a")
        .output()
        .expect("the program");
    assert_eq!(started.stdout, b"burin a\n");
    let entry = std::fs::read_to_string(own.join("burin.desktop")).expect("an entry");
    assert!(
        entry.contains(&format!("Exec=\"{}\" %F\n", program.display())),
        "{entry}"
    );
    assert!(
        entry.contains(&format!("TryExec={}\n", program.display())),
        "{entry}"
    );
    assert!(home.join(".local/share/man/man1/burin.1.gz").is_file());
    let script = home.join(".local/share/burin/install.sh");
    let done = run(&home, &script, &["--uninstall"]);
    assert!(
        done.status.success(),
        "{}",
        String::from_utf8_lossy(&done.stderr)
    );
    assert_eq!(names_below(&home), before);
    let again = run(&home, &archive.join("install.sh"), &["--uninstall"]);
    assert!(!again.status.success());
    assert!(String::from_utf8_lossy(&again.stderr).contains("nothing is installed in"));
}

#[test]
fn a_newer_archive_removes_files_that_it_lacks() {
    let folder = tempfile::tempdir().expect("a folder");
    let prefix = folder.path().join("opt");
    let prefix_option = format!("--prefix={}", prefix.display());
    let mut newer = contents();
    newer.texts.remove("man/burin-agent-run.1");
    for (name, contents) in [("old", contents()), ("new", newer)] {
        let archive = folder.path().join(name);
        contents
            .archive()
            .expect("the files")
            .write(&archive)
            .expect("written");
        let script = archive.join("install.sh");
        let done = run(folder.path(), &script, &[prefix_option.as_str()]);
        assert!(
            done.status.success(),
            "{}",
            String::from_utf8_lossy(&done.stderr)
        );
    }
    assert!(prefix.join("share/man/man1/burin.1.gz").is_file());
    assert!(!prefix.join("share/man/man1/burin-agent-run.1.gz").exists());
}

#[test]
fn the_desktop_entry_is_valid() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("burin.desktop");
    std::fs::write(&path, super::DESKTOP_ENTRY).expect("written");
    match Command::new("desktop-file-validate").arg(&path).output() {
        Ok(output) => assert!(output.status.success(), "{output:?}"),
        Err(_) => test_support::skip("desktop-file-validate is not installed"),
    }
}
