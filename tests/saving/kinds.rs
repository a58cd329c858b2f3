//! Twelve kinds of files, each with its own obstacle to saving.

use std::fs;
use std::os::unix::fs::{MetadataExt, chown, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use host::TempFolder;

use crate::agent::{Agent, NOBODY, Way, mode};

/// A kind of file.
pub(super) struct Kind {
    pub(super) name: &'static str,
    pub(super) old: Vec<u8>,
    pub(super) new: Vec<u8>,
    /// Turns the file with the old content into this kind; receives the folder and the file.
    prepare: fn(&Path, &Path),
    /// Whether saving it means overwriting in place.
    pub(super) is_overwritten: bool,
    /// Whether the saving user owns nothing.
    pub(super) is_nobody: bool,
    pub(super) needs_root: bool,
    pub(super) is_long: bool,
}

pub(super) fn kinds() -> Vec<Kind> {
    let plain = || Kind {
        name: "plain",
        old: "the old text\n".repeat(50).into_bytes(),
        new: "the new text, which is longer\n".repeat(70).into_bytes(),
        prepare: |_, _| {},
        is_overwritten: false,
        is_nobody: false,
        needs_root: false,
        is_long: false,
    };
    let utf16 = |text: &str| -> Vec<u8> {
        let units = std::iter::once(0xFEFF).chain(text.encode_utf16());
        units.flat_map(u16::to_le_bytes).collect()
    };
    vec![
        Kind {
            name: "link",
            prepare: make_link,
            ..plain()
        },
        Kind {
            name: "hard link",
            prepare: make_hard_link,
            is_overwritten: true,
            ..plain()
        },
        Kind {
            name: "read-only folder",
            prepare: make_folder_read_only,
            is_overwritten: true,
            is_nobody: crate::agent::is_root(),
            ..plain()
        },
        Kind {
            name: "other owner",
            prepare: give_to_others,
            is_overwritten: true,
            is_nobody: true,
            needs_root: true,
            ..plain()
        },
        Kind {
            name: "attributes and list",
            prepare: set_attributes,
            ..plain()
        },
        Kind {
            name: "byte order mark",
            old: "\u{feff}old\n".into(),
            new: "\u{feff}new\n".into(),
            ..plain()
        },
        Kind {
            name: "carriage returns",
            old: "old\r\n".repeat(100).into_bytes(),
            new: "new\r\nlines\r\n".repeat(100).into_bytes(),
            ..plain()
        },
        Kind {
            name: "mixed line endings",
            old: b"a\r\nb\nc\rd\n".to_vec(),
            new: b"a\r\nB\nc\rD\n".to_vec(),
            ..plain()
        },
        Kind {
            name: "UTF-16",
            old: utf16("alt\n"),
            new: utf16("neu, länger\n"),
            ..plain()
        },
        Kind {
            name: "invalid UTF-8",
            old: b"\xff\xfeold\x80\n\xc3".to_vec(),
            new: b"new\x80\n\xc3\x28\xff".to_vec(),
            ..plain()
        },
        Kind {
            name: "empty",
            old: Vec::new(),
            ..plain()
        },
        Kind {
            name: "100 MB",
            old: long(1),
            new: long(2),
            is_long: true,
            ..plain()
        },
    ]
}

fn long(seed: u8) -> Vec<u8> {
    let line: Vec<u8> = (0..=99_u8)
        .map(|number| number.wrapping_mul(seed) % 90 + 32)
        .collect();
    line.repeat(1_000_000)
}

fn make_link(folder: &Path, file: &Path) {
    let target = folder.join("elsewhere");
    fs::create_dir(&target).expect("a folder");
    fs::rename(file, target.join("real")).expect("renamed");
    symlink("elsewhere/real", file).expect("a link");
}

fn make_hard_link(folder: &Path, file: &Path) {
    fs::hard_link(file, folder.join("other name")).expect("a second name");
}

fn make_folder_read_only(folder: &Path, file: &Path) {
    if crate::agent::is_root() {
        chown(file, Some(NOBODY), Some(NOBODY)).expect("another owner");
        chown(folder, Some(NOBODY), Some(NOBODY)).expect("another owner");
    }
    fs::set_permissions(folder, mode(0o555)).expect("a mode");
}

fn give_to_others(folder: &Path, file: &Path) {
    chown(file, Some(0), Some(NOBODY)).expect("another owner");
    fs::set_permissions(file, mode(0o664)).expect("a mode");
    chown(folder, Some(NOBODY), Some(NOBODY)).expect("another owner");
}

fn set_attributes(_: &Path, file: &Path) {
    fs::set_permissions(file, mode(0o750)).expect("a mode");
    for (program, arguments) in [
        ("setfattr", ["-n", "user.colour", "-v", "blue"].as_slice()),
        ("setfacl", ["-m", "u:12345:r"].as_slice()),
    ] {
        let done = Command::new(program).args(arguments).arg(file).status();
        if !done.is_ok_and(|status| status.success()) {
            eprintln!("attributes and list: {program} does not work here");
        }
    }
}

/// The content of the file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Content {
    Old,
    New,
    Neither,
}

/// A folder with one file of a kind, ready to be saved.
pub(super) struct Place {
    root: TempFolder,
    file: PathBuf,
    before: Metadata,
}

#[derive(Debug, PartialEq)]
struct Metadata {
    mode: u32,
    owner: (u32, u32),
    links: u64,
    link: Option<PathBuf>,
    attributes: Option<Vec<u8>>,
}

impl Place {
    pub(super) fn new(kind: &Kind) -> Self {
        // Uses a memory file system if there is one, because the test covers the calls, not the
        // disk.
        let root = TempFolder::inside(Path::new("/dev/shm")).or_else(|_| TempFolder::new());
        let root = root.expect("a temporary folder");
        let path = root.path().as_path();
        fs::set_permissions(path, mode(0o755)).expect("a mode");
        let (folder, state) = (path.join("folder"), path.join("state"));
        for made in [&folder, &state] {
            fs::create_dir(made).expect("a folder");
            if kind.is_nobody {
                chown(made, Some(NOBODY), Some(NOBODY)).expect("another owner");
            }
        }
        let file = folder.join("file");
        fs::write(&file, &kind.old).expect("a file");
        fs::write(path.join("input"), &kind.new).expect("a file");
        (kind.prepare)(&folder, &file);
        Self {
            before: Metadata::of(&file),
            root,
            file,
        }
    }

    pub(super) fn folder(&self) -> PathBuf {
        self.path("folder")
    }

    pub(super) fn trace(&self) -> PathBuf {
        self.path("trace")
    }

    pub(super) fn save(&self, agent: &Agent, way: Way<'_>) -> Output {
        let arguments = [Path::new("write"), &self.file];
        agent.run(way, &arguments, &self.path("input"), &self.path("state"))
    }

    pub(super) fn recover(&self, agent: &Agent, kind: &Kind) {
        let way = Way {
            is_nobody: kind.is_nobody,
            strace: &[],
        };
        let arguments = [Path::new("recover")];
        let output = agent.run(way, &arguments, Path::new("/dev/null"), &self.path("state"));
        assert!(output.status.success(), "{output:?}");
    }

    pub(super) fn content(&self, kind: &Kind) -> Content {
        let found = fs::read(&self.file).expect("the file");
        if found == kind.new {
            return Content::New;
        }
        if found == kind.old {
            return Content::Old;
        }
        let start = String::from_utf8_lossy(&found[..found.len().min(80)]).into_owned();
        eprintln!("{} bytes, from {start:?}", found.len());
        Content::Neither
    }

    pub(super) fn assert_metadata(&self, what: &str) {
        assert_eq!(Metadata::of(&self.file), self.before, "{what}");
    }

    /// Asserts that neither a temporary file nor a record is left.
    pub(super) fn assert_clean(&self, what: &str) {
        let names = |folder: &Path| -> Vec<_> {
            let entries = fs::read_dir(folder).into_iter().flatten().flatten();
            entries.map(|entry| entry.file_name()).collect()
        };
        let real = fs::canonicalize(&self.file).expect("the file");
        let beside = names(real.parent().expect("a folder"));
        let is_temporary =
            |name: &std::ffi::OsString| name.as_encoded_bytes().starts_with(b".burin-");
        assert!(!beside.iter().any(is_temporary), "{what}: {beside:?}");
        let records = names(&self.path("state").join("recovery"));
        let is_record =
            |name: &std::ffi::OsString| Path::new(name).extension() == Some("save".as_ref());
        assert!(!records.iter().any(is_record), "{what}: {records:?}");
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.path().as_path().join(name)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // Makes the folder removable.
        fs::set_permissions(self.folder(), mode(0o755)).ok();
    }
}

impl Metadata {
    fn of(file: &Path) -> Self {
        let metadata = fs::metadata(file).expect("the file");
        let dump = Command::new("getfattr")
            .args(["-d", "-m", "-", "--absolute-names"])
            .arg(file)
            .output();
        Self {
            mode: metadata.mode(),
            owner: (metadata.uid(), metadata.gid()),
            links: metadata.nlink(),
            link: fs::read_link(file).ok(),
            attributes: dump.ok().map(|output| output.stdout),
        }
    }
}
