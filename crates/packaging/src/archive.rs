//! Archives whose bytes depend on the files alone: tar with gzip or xz.

use std::io::{self, Write as _};

use flate2::{Compression, GzBuilder};
use lzma_rust2::{XzOptions, XzWriter};
use tar::{Builder, EntryType, Header};

use crate::package_tree::{PackageEntry, PackageTree};

/// The longest path that fits into the header of an entry.
const SHORT_PATH: usize = 100;
/// The dictionary of `xz -9`, in bytes: unpacking takes as much memory.
const LARGEST_DICTIONARY: usize = 64 << 20;
const SMALLEST_DICTIONARY: usize = 64 << 10;

/// Packs a tree below `root`, which ends with `/`, as a tar. All entries belong to root and have the time `epoch`, in
/// seconds since 1970.
pub(crate) fn tar(tree: &PackageTree, root: &str, epoch: u64) -> io::Result<Vec<u8>> {
    let mut builder = Builder::new(Vec::new());
    append(&mut builder, root, None, epoch)?;
    for (path, entry) in tree.walk() {
        let end = if entry.is_none() { "/" } else { "" };
        append(&mut builder, &format!("{root}{path}{end}"), entry, epoch)?;
    }
    builder.into_inner()
}

/// Appends an entry; `None` is a folder.
fn append(
    builder: &mut Builder<Vec<u8>>,
    path: &str,
    entry: Option<&PackageEntry>,
    epoch: u64,
) -> io::Result<()> {
    let mut header = Header::new_gnu();
    header.set_mtime(epoch);
    header.set_uid(0);
    header.set_gid(0);
    header.set_username("root")?;
    header.set_groupname("root")?;
    header.set_mode(entry.map_or(0o755, PackageEntry::mode));
    let content: &[u8] = match entry {
        None => {
            header.set_entry_type(EntryType::Directory);
            &[]
        }
        Some(PackageEntry::Link(target)) => {
            header.set_entry_type(EntryType::Symlink);
            header.set_link_name(target)?;
            &[]
        }
        Some(PackageEntry::File { content, .. }) => {
            header.set_entry_type(EntryType::Regular);
            content
        }
    };
    header.set_size(content.len() as u64);
    if path.len() > SHORT_PATH {
        return builder.append_data(&mut header, path, content);
    }
    // Packages of Debian begin every path with `./`, which the crate removes from paths that it writes itself.
    if let Some(header) = header.as_gnu_mut() {
        header.name[..path.len()].copy_from_slice(path.as_bytes());
    }
    header.set_cksum();
    builder.append(&header, content)
}

/// Compresses with gzip, without a time or a name in the header.
pub(crate) fn gzip(content: &[u8]) -> io::Result<Vec<u8>> {
    let mut encoder = GzBuilder::new().write(Vec::new(), Compression::best());
    encoder.write_all(content)?;
    encoder.finish()
}

/// Compresses with xz.
pub(crate) fn xz(content: &[u8]) -> io::Result<Vec<u8>> {
    let mut options = XzOptions::with_preset(9);
    let dictionary = content.len().next_power_of_two();
    let dictionary = dictionary.clamp(SMALLEST_DICTIONARY, LARGEST_DICTIONARY);
    options.lzma_options.dict_size = u32::try_from(dictionary).unwrap_or(u32::MAX);
    let mut writer = XzWriter::new(Vec::new(), options)?;
    writer.write_all(content)?;
    writer.finish()
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::process::{Command, Stdio};

    use super::{gzip, tar, xz};
    use crate::package_tree::PackageTree;

    fn tree() -> PackageTree {
        let mut tree = PackageTree::default();
        tree.add_program("bin/burin", "program");
        tree.add_link("bin/link", "burin");
        tree.add(format!("share/{}text", "deep/".repeat(30)), "text");
        tree
    }

    /// Lists a tar as `mode owner time path target`.
    fn list(bytes: &[u8]) -> Vec<String> {
        let mut archive = tar::Archive::new(bytes);
        let entries = archive.entries().expect("entries");
        let shown = entries.map(|entry| {
            let entry = entry.expect("an entry");
            let header = entry.header();
            let target = entry.link_name_bytes();
            format!(
                "{:o} {}:{} {} {} {}",
                header.mode().expect("a mode"),
                header.uid().expect("a user"),
                header.gid().expect("a group"),
                header.mtime().expect("a time"),
                String::from_utf8_lossy(&entry.path_bytes()),
                String::from_utf8_lossy(&target.unwrap_or_default()),
            )
        });
        shown.collect()
    }

    #[test]
    fn tars_list_folders_modes_and_owners() {
        let bytes = tar(&tree(), "./", 12).expect("a tar");
        let listed = list(&bytes);
        let expected = [
            "755 0:0 12 ./ ",
            "755 0:0 12 ./bin/ ",
            "755 0:0 12 ./bin/burin ",
            "777 0:0 12 ./bin/link burin",
            "755 0:0 12 ./share/ ",
        ];
        assert_eq!(listed[..5], expected.map(str::to_owned));
        let last = listed.last().expect("entries");
        assert!(last.ends_with("/deep/text "), "{last}");
        assert_eq!(bytes, tar(&tree(), "./", 12).expect("a tar"));
    }

    #[test]
    fn gzip_and_xz_give_back_the_content() {
        let contents: [Vec<u8>; 3] = [Vec::new(), vec![7; 200_000], (0..=255).collect()];
        for content in contents {
            let packed = gzip(&content).expect("gzip");
            let mut unpacked = Vec::new();
            flate2::read::GzDecoder::new(&packed[..])
                .read_to_end(&mut unpacked)
                .expect("gzip reads it");
            assert_eq!(unpacked, content);
            assert_eq!(packed[4..8], [0; 4], "the header has no time");
            let packed = xz(&content).expect("xz");
            assert_eq!(packed, xz(&content).expect("xz"));
            let mut unpacked = Vec::new();
            lzma_rust2::XzReader::new(&packed[..], false)
                .read_to_end(&mut unpacked)
                .expect("xz reads it");
            assert_eq!(unpacked, content);
        }
    }

    #[test]
    fn the_program_xz_reads_our_archives() {
        let content = b"text ".repeat(50_000);
        let child = Command::new("xz")
            .arg("--decompress")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn();
        let Ok(mut child) = child else {
            return test_support::skip("xz is not installed");
        };
        let mut input = child.stdin.take().expect("a pipe");
        // The packed text fits into the pipe.
        input
            .write_all(&xz(&content).expect("xz"))
            .expect("written");
        drop(input);
        let output = child.wait_with_output().expect("xz ends");
        assert!(output.status.success() && output.stdout == content);
    }
}
