//! Reads published packages in place: zip, gzipped tar and Debian archives.

use std::io::Read;
use std::path::Path;
use std::process::Command;

use flate2::read::{DeflateDecoder, GzDecoder};

use super::error::Error;

/// Larger files in an archive are not used, in bytes.
const LARGEST: usize = 4 << 20;

/// Reads a package (wheel, zip, Debian package or gzipped tar, by its extension) and calls `each`
/// with the path and the content of every file that `wants` accepts. Files that are not UTF-8 or
/// larger than 4 MiB are left out.
pub fn each_file(
    archive: &Path,
    wants: &dyn Fn(&str) -> bool,
    each: &mut dyn FnMut(&str, String),
) -> Result<(), Error> {
    let bytes = std::fs::read(archive).map_err(Error::io("read", archive))?;
    let damaged = |problem: &str| Error::format(archive, problem);
    let mut take = |name: &str, content: Vec<u8>| {
        if let Ok(text) = String::from_utf8(content) {
            each(name, text);
        }
    };
    match archive.extension().and_then(|extension| extension.to_str()) {
        Some("whl" | "zip") => {
            unzip(&bytes, LARGEST, wants, &mut take).ok_or_else(|| damaged("it is damaged"))
        }
        Some("deb") => untar(&data_of_deb(archive)?, wants, &mut take).map_err(damaged),
        _ => {
            let mut tar = Vec::new();
            GzDecoder::new(&bytes[..])
                .read_to_end(&mut tar)
                .map_err(Error::io("read", archive))?;
            untar(&tar, wants, &mut take).map_err(damaged)
        }
    }
}

/// Returns the content of the file `name` in a zip, of any size; an error if the zip does not
/// contain it.
pub fn member(archive: &Path, name: &str) -> Result<Vec<u8>, Error> {
    let bytes = std::fs::read(archive).map_err(Error::io("read", archive))?;
    let mut found = None;
    let read = unzip(
        &bytes,
        usize::MAX,
        &|path| path == name,
        &mut |_, content| found = Some(content),
    );
    read.and(found)
        .ok_or_else(|| Error::format(archive, format_args!("it holds no {name}")))
}

/// Returns the files of a Debian package as a tar, unpacked by `dpkg-deb`. Returns an error if that
/// program is missing or fails.
fn data_of_deb(archive: &Path) -> Result<Vec<u8>, Error> {
    let output = Command::new("dpkg-deb")
        .arg("--fsys-tarfile")
        .arg(archive)
        .output();
    let output = output.map_err(|error| Error::ToolMissing {
        program: "dpkg-deb",
        error,
    })?;
    if output.status.success() {
        Ok(output.stdout)
    } else {
        Err(Error::ToolFailed {
            program: "dpkg-deb",
            task: format!("read {}", archive.display()),
        })
    }
}

/// Reads a zip by the directory at the end of the file.
fn unzip(
    bytes: &[u8],
    largest: usize,
    wants: &dyn Fn(&str) -> bool,
    take: &mut dyn FnMut(&str, Vec<u8>),
) -> Option<()> {
    let short = |at: usize| {
        Some(usize::from(u16::from_le_bytes(
            *bytes.get(at..)?.first_chunk()?,
        )))
    };
    let long = |at: usize| Some(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?) as usize);
    let end = bytes.windows(4).rposition(|mark| mark == b"PK\x05\x06")?;
    let mut at = long(end + 16)?;
    for _ in 0..short(end + 10)? {
        let (method, packed, size) = (short(at + 10)?, long(at + 20)?, long(at + 24)?);
        let (name, more, note, place) = (
            short(at + 28)?,
            short(at + 30)?,
            short(at + 32)?,
            long(at + 42)?,
        );
        let path = String::from_utf8_lossy(bytes.get(at + 46..at + 46 + name)?);
        at += 46 + name + more + note;
        if size > largest || !wants(&path) {
            continue;
        }
        let start = place + 30 + short(place + 26)? + short(place + 28)?;
        let packed = bytes.get(start..start + packed)?;
        let mut content = Vec::with_capacity(size);
        match method {
            0 => content.extend_from_slice(packed),
            _ => {
                DeflateDecoder::new(packed).read_to_end(&mut content).ok()?;
            }
        }
        take(&path, content);
    }
    Some(())
}

const BLOCK: usize = 512;

/// Passes the name and content of each regular file that `wants` accepts, up to `LARGEST` bytes, to
/// `take`. Returns the defect of a damaged tar as an error.
fn untar(
    bytes: &[u8],
    wants: &dyn Fn(&str) -> bool,
    take: &mut dyn FnMut(&str, Vec<u8>),
) -> Result<(), &'static str> {
    let mut rest = bytes;
    let mut long_name = None;
    while let Some((head, after)) = rest.split_at_checked(BLOCK) {
        if head.iter().all(|byte| *byte == 0) {
            break;
        }
        let octal = text_of(&head[124..136]);
        let size = usize::from_str_radix(octal.trim(), 8).map_err(|_| "a size is not a number")?;
        let Some(content) = after.get(..size) else {
            return Err("it ends within a file");
        };
        let name = long_name
            .take()
            .unwrap_or_else(|| match text_of(&head[345..500]) {
                prefix if !prefix.is_empty() && head[257..262] == *b"ustar" => {
                    format!("{prefix}/{}", text_of(&head[..100]))
                }
                _ => text_of(&head[..100]),
            });
        match head[156] {
            b'L' => long_name = Some(text_of(content)),
            b'x' => long_name = pax_path(content),
            b'0' | 0 if size <= LARGEST && wants(&name) => take(&name, content.to_vec()),
            _ => {}
        }
        rest = after
            .get(size.next_multiple_of(BLOCK)..)
            .unwrap_or_default();
    }
    Ok(())
}

fn text_of(field: &[u8]) -> String {
    let end = field
        .iter()
        .position(|byte| *byte == 0)
        .unwrap_or(field.len());
    String::from_utf8_lossy(&field[..end]).into_owned()
}

/// Records are `LENGTH key=value` lines.
fn pax_path(content: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(content);
    let record = text.lines().find_map(|line| line.split_once(" path="))?;
    Some(record.1.to_owned())
}
