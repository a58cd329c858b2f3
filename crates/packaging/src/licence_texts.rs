//! The licences of everything in the programs, as one text for people.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::dependencies::LinkedCrate;
use crate::error::Error;

/// Beginnings of the names of licence files, in lower case.
const NAMES: &[&str] = &[
    "licence",
    "license",
    "copying",
    "copyright",
    "notice",
    "unlicense",
    "ofl",
];
/// Folders of a crate's source that are no part of the programs.
const OTHER_FOLDERS: &[&str] = &[
    "benches", "dotzlib", "examples", "icons", "minizip", "scripts", "target", "test", "tests",
    "winhttp",
];
/// Folders are read to this depth: sources of C libraries lie below the crate that builds them.
const DEPTH: usize = 4;

const HEADING: &str = "\
Burin is licensed under Apache-2.0 or MIT, at your choice. Its programs contain the following works of others.

The first part lists them with their licences, the second contains the texts. Works under MPL-2.0 are unchanged; their
source is in the registry of crates, https://crates.io, under the name and version given here. libgit2, which the crate
libgit2-sys contains, is under GPL-2.0 with a linking exception: programs linked with it may have any licence.
";

/// Works in the programs that are no crates, with their licences.
const ASSETS: &[(&str, &str)] = &[
    (
        "Inter (OFL-1.1)",
        include_str!("../../../assets/fonts/inter/OFL.txt"),
    ),
    (
        "JetBrains Mono (OFL-1.1)",
        include_str!("../../../assets/fonts/jetbrains-mono/OFL.txt"),
    ),
    (
        "Lucide icons (ISC)",
        include_str!("../../../assets/licenses/LUCIDE.txt"),
    ),
    (
        "AppImage runtime (in AppImages only)",
        include_str!("../../../packaging/appimage/LICENSE"),
    ),
];

/// Texts for crates whose package contains none.
const STANDARD: &[(&str, &str)] = &[
    ("Apache-2.0", include_str!("../../../LICENSE-APACHE")),
    ("MIT", include_str!("../../../LICENSE-MIT")),
];

/// Returns the list and the texts for the outside crates among `crates`. Reads the folders of their sources.
pub(crate) fn report(crates: &[LinkedCrate]) -> Result<String, Error> {
    let outside = crates.iter().filter(|it| it.checksum.is_some());
    let mut list = String::new();
    // The works by their text, without its blanks: many crates have the same one.
    let mut texts: BTreeMap<String, (String, Vec<String>)> = BTreeMap::new();
    let mut add = |name: String, text: String| {
        let key = text.split_whitespace().collect::<Vec<_>>().join(" ");
        texts
            .entry(key)
            .or_insert_with(|| (text, Vec::new()))
            .1
            .push(name);
    };
    for (name, text) in ASSETS {
        list.push_str(&format!("{name}\n"));
        add((*name).to_owned(), (*text).to_owned());
    }
    for it in outside {
        let name = format!("{} {}", it.name, it.version);
        let address = it.repository.as_deref().unwrap_or_default();
        list.push_str(format!("{name}: {}, {address}", it.licence).trim_end_matches([',', ' ']));
        list.push('\n');
        let files = licence_files(&it.folder, DEPTH)?;
        let is_silent = files.is_empty();
        for file in files {
            let bytes = fs::read(&file).map_err(Error::io("read", &file))?;
            add(name.clone(), String::from_utf8_lossy(&bytes).into_owned());
        }
        let standard = STANDARD.iter().filter(|(id, _)| it.licence.contains(id));
        for (_, text) in standard.filter(|_| is_silent) {
            add(format!("{name} (standard text)"), (*text).to_owned());
        }
    }
    // In the order of the first work, which does not change with the texts.
    let mut texts: Vec<(String, Vec<String>)> = texts.into_values().collect();
    texts.sort_by(|one, other| (&one.1, &one.0).cmp(&(&other.1, &other.0)));
    let texts = texts.into_iter().map(|(text, mut names)| {
        names.dedup();
        let rule = "=".repeat(78);
        format!(
            "\n{rule}\n{}\n{rule}\n\n{}\n",
            names.join(", "),
            text.trim_end()
        )
    });
    Ok(format!("{HEADING}\n{list}{}", texts.collect::<String>()))
}

/// Returns the licence files in a folder and `depth` levels below it, sorted. A folder that does not exist has none.
fn licence_files(folder: &Path, depth: usize) -> Result<Vec<PathBuf>, Error> {
    let mut found = Vec::new();
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(found),
        Err(error) => return Err(Error::io("list", folder)(error)),
    };
    for entry in entries {
        let path = entry.map_err(Error::io("list", folder))?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let name = name.to_lowercase();
        if path.is_dir() {
            if depth > 0 && !OTHER_FOLDERS.contains(&name.as_str()) {
                found.extend(licence_files(&path, depth - 1)?);
            }
        } else if is_licence(&name) {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// Returns whether a file with this name, in lower case, has a licence: code about licences has not.
fn is_licence(name: &str) -> bool {
    const CODE: &[&str] = &[".rs", ".svg", ".py", ".c", ".h", ".html", ".json", ".toml"];
    NAMES.iter().any(|start| name.starts_with(start))
        && !CODE.iter().any(|extension| name.ends_with(extension))
}

#[cfg(test)]
mod tests {
    use super::{is_licence, report};
    use crate::dependencies::LinkedCrate;

    #[test]
    fn equal_texts_are_given_once_with_all_their_works() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut crates = LinkedCrate::for_tests();
        let log = crates.pop().expect("a crate");
        for (name, text) in [("one", "Use it.\n"), ("two", "Use\nit.")] {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.join("tests")).expect("a folder");
            std::fs::create_dir_all(path.join("lib")).expect("a folder");
            std::fs::write(path.join("LICENSE-MIT"), text).expect("written");
            std::fs::write(path.join("tests/LICENSE"), "Another.").expect("written");
            std::fs::write(path.join("lib/COPYING"), format!("Part of {name}.")).expect("written");
            crates.push(LinkedCrate {
                name: name.to_owned(),
                folder: path,
                ..log.clone()
            });
        }
        crates.push(log);
        let text = report(&crates).expect("readable");
        assert!(text.contains("one 0.4.29: MIT OR Apache-2.0, https://github.com/rust-lang/log\n"));
        assert!(text.contains("\none 0.4.29, two 0.4.29\n"), "{text}");
        assert_eq!(
            text.matches("Use it.").count() + text.matches("Use\nit.").count(),
            1
        );
        assert!(text.contains("Part of one.") && !text.contains("Another."));
        assert!(
            text.contains("log 0.4.29 (standard text)"),
            "it has no file"
        );
        assert!(!text.contains("burin 1.2.3"), "it is ours");
        assert!(text.contains("Inter (OFL-1.1)") && text.contains("SIL OPEN FONT LICENSE"));
        assert_eq!(report(&crates).expect("readable"), text);
    }

    #[test]
    fn names_of_licence_files_are_known() {
        for (name, expected) in [
            ("license-mit", true),
            ("licence.md", true),
            ("copying.lib", true),
            ("unlicense", true),
            ("license.rs", false),
            ("copyright.svg", false),
            ("readme.md", false),
        ] {
            assert_eq!(is_licence(name), expected, "{name}");
        }
    }
}
