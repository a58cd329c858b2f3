//! The file of the running program: its path, its build, its place in memory, and whether a package replaced it.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::ops::Range;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use base::AbsPath;

use crate::files::Files;
use crate::stat::Stamp;

/// Maximum size of the notes of a program that are read, in bytes.
const MAX_NOTES: u64 = 64 << 10;
/// Size of the header of an ELF file of 64 bits, and of an entry of its program table.
const HEADER: usize = 64;
const TABLE_ENTRY: usize = 56;
/// Type of a segment with notes, and of the note with the build id.
const SEGMENT_OF_NOTES: u32 = 4;
const NOTE_OF_BUILD: u32 = 3;

/// The end of the path that Linux reports for a program whose file was replaced or removed.
const DELETED: &[u8] = b" (deleted)";

/// Returns the path of this program, also after an update has replaced its file: then the newer program has this path.
/// `None` if the path is unknown.
pub fn own_program() -> Option<AbsPath> {
    let path = std::env::current_exe().ok()?;
    AbsPath::new(without_mark(path, Path::exists))
}

/// Returns the path without the mark of a replaced file. A file may also have a name that ends with the mark.
fn without_mark(path: PathBuf, exists: impl Fn(&Path) -> bool) -> PathBuf {
    if exists(&path) {
        return path;
    }
    let bytes = path.as_os_str().as_bytes().strip_suffix(DELETED);
    bytes.map_or(path.clone(), |bytes| {
        PathBuf::from(std::ffi::OsStr::from_bytes(bytes))
    })
}

/// The identity of the running program, with which addresses in it can be resolved later.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProgramImage {
    /// The build id, in hexadecimal digits, if the linker wrote one. The same sources give the same id.
    pub build_id: Option<String>,
    /// The addresses at which the program is in memory. Empty if the system does not tell.
    pub addresses: Range<u64>,
}

impl ProgramImage {
    /// Returns the image of this process. Reads two files of the system, where there are such.
    pub fn of_this_process() -> Self {
        // Opens the file of this process even if another one has replaced it.
        let file = File::open("/proc/self/exe");
        let build_id = file.and_then(|mut file| read_build_id(&mut file)).ok();
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
        let target = std::fs::read_link("/proc/self/exe").unwrap_or_default();
        Self {
            build_id: build_id.flatten(),
            addresses: mapped_addresses(&maps, &target.to_string_lossy()),
        }
    }
}

/// Returns the addresses from the first to the last part of a program in a table of mapped files.
fn mapped_addresses(maps: &str, program: &str) -> Range<u64> {
    let rows = maps.lines().filter(|row| row.ends_with(program));
    let ranges = rows.filter_map(|row| {
        let (start, end) = row.split(' ').next()?.split_once('-')?;
        let number = |digits| u64::from_str_radix(digits, 16).ok();
        Some(number(start)?..number(end)?)
    });
    let all = ranges.reduce(|all, it| all.start.min(it.start)..all.end.max(it.end));
    all.filter(|_| !program.is_empty()).unwrap_or_default()
}

/// Reads the build id from the notes of an ELF file of 64 bits; `None` if there is no such note.
fn read_build_id(file: &mut File) -> io::Result<Option<String>> {
    let mut header = [0; HEADER];
    file.read_exact(&mut header)?;
    if !header.starts_with(b"\x7fELF\x02\x01") {
        return Ok(None);
    }
    let offset = number_at(&header, 32, 8);
    let count = number_at(&header, 56, 2);
    file.seek(SeekFrom::Start(offset))?;
    let mut table = vec![0; usize::try_from(count).unwrap_or_default() * TABLE_ENTRY];
    file.read_exact(&mut table)?;
    for entry in table.chunks_exact(TABLE_ENTRY) {
        if number_at(entry, 0, 4) != u64::from(SEGMENT_OF_NOTES) {
            continue;
        }
        file.seek(SeekFrom::Start(number_at(entry, 8, 8)))?;
        let size = number_at(entry, 32, 8).min(MAX_NOTES);
        let mut notes = vec![0; usize::try_from(size).unwrap_or_default()];
        file.read_exact(&mut notes)?;
        if let Some(id) = build_id(&notes) {
            return Ok(Some(id));
        }
    }
    Ok(None)
}

/// Returns the build id among the notes of a segment.
fn build_id(mut notes: &[u8]) -> Option<String> {
    /// Sizes of name and content, and the type.
    const NOTE_HEADER: usize = 12;
    while notes.len() > NOTE_HEADER {
        let size = |at| usize::try_from(number_at(notes, at, 4)).ok();
        let (name, content) = (size(0)?, size(4)?);
        let kind = number_at(notes, 8, 4);
        let content_start = NOTE_HEADER + name.next_multiple_of(4);
        let content_end = content_start.checked_add(content)?;
        let found = notes.get(content_start..content_end)?;
        if kind == u64::from(NOTE_OF_BUILD) && notes[NOTE_HEADER..].starts_with(b"GNU\0") {
            return Some(found.iter().map(|byte| format!("{byte:02x}")).collect());
        }
        notes = notes.get(content_end.next_multiple_of(4)..)?;
    }
    None
}

/// Returns the number in `size` bytes, the least significant first; zero beyond the end.
fn number_at(bytes: &[u8], at: usize, size: usize) -> u64 {
    let bytes = bytes.get(at..at + size).unwrap_or_default();
    let digits = bytes.iter().rev();
    digits.fold(0, |number, byte| (number << 8) | u64::from(*byte))
}

/// A program's file as it was when the program started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramFile {
    path: AbsPath,
    stamp: Stamp,
}

impl ProgramFile {
    /// Returns the file at `path` as it is now. `None` if there is none. Blocks on the disk.
    pub fn at(files: &dyn Files, path: AbsPath) -> Option<Self> {
        let stamp = files.stat(&path).ok()?.stamp;
        Some(Self { path, stamp })
    }

    /// Returns the path of the file.
    pub fn path(&self) -> &AbsPath {
        &self.path
    }

    /// Returns whether another file has this path now, as after an update. A file that was only removed was not
    /// replaced: there is nothing to start. Blocks on the disk.
    pub fn is_replaced(&self, files: &dyn Files) -> bool {
        let now = files.stat(&self.path);
        now.is_ok_and(|now| now.stamp != self.stamp)
    }
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use super::{ProgramFile, ProgramImage, build_id, mapped_addresses, without_mark};
    use crate::fake::FakeFiles;
    use crate::files::Files as _;
    use base::AbsPath;

    fn note(name: &[u8], kind: u32, content: &[u8]) -> Vec<u8> {
        let mut note = Vec::new();
        for number in [name.len() as u32, content.len() as u32, kind] {
            note.extend_from_slice(&number.to_le_bytes());
        }
        for part in [name, content] {
            note.extend_from_slice(part);
            note.resize(note.len().next_multiple_of(4), 0);
        }
        note
    }

    #[test]
    fn the_build_id_is_found_among_notes() {
        let others = [note(b"GNU\0", 1, &[0; 16]), note(b"Other\0", 3, b"abc")].concat();
        let id = note(b"GNU\0", 3, &[0x0a, 0xff, 0x10]);
        let found = |notes: &[u8]| build_id(notes);
        assert_eq!(
            found(&[&others[..], &id].concat()).as_deref(),
            Some("0aff10")
        );
        assert_eq!(found(&others), None);
        for cut in 0..id.len() - 1 {
            assert_eq!(found(&id[..cut]), None, "{cut} bytes");
        }
        let huge = [&u32::MAX.to_le_bytes()[..], &[0xff; 8], b"GNU\0"].concat();
        assert_eq!(found(&huge), None);
    }

    #[test]
    fn the_addresses_span_all_parts_of_the_program() {
        let maps = "5000-6000 r--p 00000000 fe:00 10  /usr/bin/burin\n\
                    6000-8000 r-xp 00001000 fe:00 10  /usr/bin/burin\n\
                    9000-a000 rw-p 00000000 00:00 0   [heap]\n";
        assert_eq!(mapped_addresses(maps, "/usr/bin/burin"), 0x5000..0x8000);
        assert_eq!(mapped_addresses(maps, "/usr/bin/other"), 0..0);
        assert_eq!(mapped_addresses(maps, ""), 0..0);
        assert_eq!(mapped_addresses("rubbish burin", "burin"), 0..0);
    }

    #[test]
    fn this_process_knows_its_own_place() {
        let image = ProgramImage::of_this_process();
        if image.addresses.is_empty() {
            return test_support::skip("the system has no table of mapped files");
        }
        let function = ProgramImage::of_this_process as fn() -> ProgramImage;
        let address = (function as *const ()).addr() as u64;
        assert!(image.addresses.contains(&address), "{image:?} {address:x}");
    }

    #[test]
    fn a_replaced_program_keeps_its_path() {
        let check = |path: &str, existing: &str, expected: &str| {
            let found = without_mark(PathBuf::from(path), |path| path == Path::new(existing));
            assert_eq!(found, Path::new(expected), "{path}");
        };
        check("/bin/burin", "/bin/burin", "/bin/burin");
        check("/bin/burin (deleted)", "/bin/burin", "/bin/burin");
        check("/bin/burin (deleted)", "", "/bin/burin");
        check("/bin/x (deleted)", "/bin/x (deleted)", "/bin/x (deleted)");
        check("/bin/burin", "", "/bin/burin");
    }

    #[test]
    fn a_replaced_program_is_noticed() {
        let files = FakeFiles::new();
        let path = AbsPath::new("/bin/burin").expect("absolute");
        files.folder(&AbsPath::new("/bin").expect("absolute"));
        assert_eq!(ProgramFile::at(&files, path.clone()), None);
        files.write(&path, "one");
        let program = ProgramFile::at(&files, path.clone()).expect("a program");
        assert!(!program.is_replaced(&files));
        files.remove(&path).expect("removed");
        assert!(!program.is_replaced(&files), "nothing can be started");
        files.write(&path, "newer");
        assert!(program.is_replaced(&files));
        assert_eq!(program.path(), &path);
    }
}
