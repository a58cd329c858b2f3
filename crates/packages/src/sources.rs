//! Pinned lists of packages with their licences.
//!
//! A list is beside the table that is trained on it. It gives each package's version, the SHA-256 of its archive, and its
//! licence. It contains only packages whose manifest states a permissive licence.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::archive;
use super::error::Error;

/// The registry of a package.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Registry {
    /// crates.io
    Cargo,
    /// Debian's packages
    Debian,
    /// npm
    Npm,
    /// PyPI
    Pypi,
}

impl Registry {
    /// All registries.
    pub const ALL: [Self; 4] = [Self::Cargo, Self::Debian, Self::Npm, Self::Pypi];

    /// Returns the registry's name in the list, which is also its folder below the inputs.
    pub fn name(self) -> &'static str {
        match self {
            Self::Cargo => "cargo",
            Self::Debian => "debian",
            Self::Npm => "npm",
            Self::Pypi => "pypi",
        }
    }
}

/// A pinned package: registry, name, version, archive, its SHA-256 and its licence.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Source {
    /// Registry that publishes it.
    pub registry: Registry,
    /// Name in the registry.
    pub name: String,
    /// Version.
    pub version: String,
    /// File name of the archive.
    pub file: String,
    /// SHA-256 of the archive, in hexadecimal.
    pub sha256: String,
    /// Licence as its manifest names it.
    pub licence: String,
}

impl Source {
    /// Returns the path of the archive: below `inputs`, or in Cargo's own cache.
    pub fn path(&self, inputs: &Path) -> PathBuf {
        match self.registry {
            Registry::Cargo => cargo_cache().join(&self.file),
            registry => inputs.join(registry.name()).join(&self.file),
        }
    }
}

/// Returns the folder of Cargo's cache of crate archives; its parent if there is none.
pub fn cargo_cache() -> PathBuf {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cargo")));
    let caches = home.unwrap_or_default().join("registry/cache");
    let mut found: Vec<_> = std::fs::read_dir(&caches)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .collect();
    found.sort();
    found.into_iter().next().unwrap_or(caches)
}

/// Reads the list at `path`.
pub fn read(path: &Path) -> Result<Vec<Source>, Error> {
    let text = std::fs::read_to_string(path).map_err(Error::io("read", path))?;
    let value: Value = serde_json::from_str(&text).map_err(|error| Error::format(path, error))?;
    let rows = value["packages"]
        .as_array()
        .ok_or_else(|| Error::format(path, "it has no packages"))?;
    rows.iter()
        .map(|row| {
            source(row).ok_or_else(|| {
                Error::format(path, format_args!("a package has missing fields: {row}"))
            })
        })
        .collect()
}

/// Parses a package of the list; `None` if a field is missing or the registry is unknown.
fn source(row: &Value) -> Option<Source> {
    let text = |key: &str| Some(row[key].as_str()?.to_owned());
    let registry = text("registry")?;
    Some(Source {
        registry: Registry::ALL
            .into_iter()
            .find(|known| known.name() == registry)?,
        name: text("name")?,
        version: text("version")?,
        file: text("file")?,
        sha256: text("sha256")?,
        licence: text("licence")?,
    })
}

/// Writes the list, one package a line. `set` returns the set that a package belongs to, for lists
/// that are divided.
pub fn write(
    path: &Path,
    sources: &[Source],
    set: impl Fn(&Source) -> Option<&'static str>,
) -> Result<(), Error> {
    let mut text = String::from("{\"packages\": [\n");
    for (number, source) in sources.iter().enumerate() {
        let mut row = json!({
            "registry": source.registry.name(), "name": source.name, "version": source.version,
            "file": source.file, "licence": source.licence, "sha256": source.sha256,
        });
        if let Some(set) = set(source) {
            row["set"] = set.into();
        }
        let comma = if number + 1 == sources.len() { "" } else { "," };
        text.push_str(&format!("{row}{comma}\n"));
    }
    text.push_str("]}\n");
    std::fs::write(path, text).map_err(Error::io("write", path))
}

/// Licences of the sources of Debian packages whose copyright files also cover test data, manuals
/// and build files.
const READ: &[(&str, &str)] = &[
    ("golang-1.19-src", "BSD-3-Clause"),
    ("golang-golang-x-net-dev", "BSD-3-Clause"),
    ("golang-golang-x-image-dev", "BSD-3-Clause"),
    ("golang-golang-x-tools-dev", "BSD-3-Clause"),
    ("golang-github-containerd-containerd-dev", "Apache-2.0"),
    ("googletest", "BSD-3-Clause"),
    ("libboost1.74-dev", "BSL-1.0"),
    ("libbullet-dev", "Zlib"),
    ("libcereal-dev", "BSD-3-Clause"),
    ("libopencv-core-dev", "Apache-2.0"),
    ("libopencv-imgproc-dev", "Apache-2.0"),
    ("libpcl-dev", "BSD-3-Clause"),
    ("libprotobuf-dev", "BSD-3-Clause"),
    ("libpython3.11-minimal", "PSF-2.0"),
    ("libpython3.11-stdlib", "PSF-2.0"),
    ("librange-v3-dev", "BSL-1.0"),
    ("libre2-dev", "BSD-3-Clause"),
    ("libsdl2-dev", "Zlib"),
    ("libuv1-dev", "MIT"),
    ("libvtk9-dev", "BSD-3-Clause"),
    ("libzstd-dev", "BSD-3-Clause"),
];

/// Returns the licence of the package `name` by the list above, else by the manifest in its
/// archive; `None` if it is unknown or not permissive.
pub fn licence_of(registry: Registry, name: &str, archive: &Path) -> Result<Option<String>, Error> {
    let read = READ
        .iter()
        .find(|(known, _)| registry == Registry::Debian && *known == name);
    match read {
        Some((_, licence)) => Ok(Some((*licence).to_owned())),
        None => licence(registry, archive),
    }
}

/// Returns the licence that the manifest inside an archive names; `None` if it names none or is not
/// permissive.
fn licence(registry: Registry, archive: &Path) -> Result<Option<String>, Error> {
    let wants = |path: &str| match registry {
        Registry::Cargo => path.ends_with("/Cargo.toml") && path.matches('/').count() == 1,
        Registry::Pypi => path.ends_with(".dist-info/METADATA"),
        Registry::Npm => path.ends_with("/package.json") && path.matches('/').count() == 1,
        Registry::Debian => path.ends_with("/copyright"),
    };
    let mut said = None;
    archive::each_file(archive, &wants, &mut |_, text| {
        said = said.take().or_else(|| manifest(registry, &text))
    })?;
    Ok(said.filter(|licence| is_permissive(licence)))
}

/// Returns the licence that a manifest names, permissive or not; `None` if it names none. A Debian
/// manifest is the copyright file.
fn manifest(registry: Registry, text: &str) -> Option<String> {
    let field = |mark: &str| {
        text.lines()
            .find_map(|line| line.strip_prefix(mark))
            .map(|rest| rest.trim().to_owned())
    };
    match registry {
        Registry::Cargo => field("license = ").map(|licence| licence.trim_matches('"').to_owned()),
        Registry::Npm => {
            let value: Value = serde_json::from_str(text).ok()?;
            let licence = &value["license"];
            Some(
                licence
                    .as_str()
                    .or_else(|| licence["type"].as_str())?
                    .to_owned(),
            )
        }
        Registry::Pypi => field("License-Expression:").or_else(|| {
            let class = text
                .lines()
                .find_map(|line| line.strip_prefix("Classifier: License :: OSI Approved :: "));
            class
                .map(str::to_owned)
                .or_else(|| field("License:"))
                .filter(|licence| licence.len() < 80)
        }),
        Registry::Debian => debian(text),
    }
}

/// Returns the licences that a Debian copyright file names, joined by `AND`; `None` if it names
/// none.
fn debian(text: &str) -> Option<String> {
    let mut licences: Vec<&str> = text
        .lines()
        .filter_map(|line| line.strip_prefix("License:"))
        .map(str::trim)
        .collect();
    licences.retain(|licence| !licence.is_empty());
    licences.sort_unstable();
    licences.dedup();
    // Debian's own files may be under another licence; they are not in the archive.
    licences.retain(|licence| !(licence.starts_with("GPL") && text.contains("Files: debian/*")));
    (!licences.is_empty()).then(|| licences.join(" AND "))
}

/// Returns whether this licence allows any use that keeps its notice.
pub fn is_permissive(licence: &str) -> bool {
    let small = licence.to_ascii_lowercase();
    let is_choice = small.contains(" or ") || small.contains('/');
    let parts: Vec<&str> = if is_choice && !small.contains(" and ") {
        small
            .split(['/'])
            .flat_map(|part| part.split(" or "))
            .collect()
    } else {
        small
            .split(" and ")
            .flat_map(|part| part.split(", "))
            .collect()
    };
    let is_fine = |part: &&str| {
        let fine = [
            "mit",
            "apache",
            "bsd",
            "isc",
            "zlib",
            "unlicense",
            "cc0",
            "expat",
            "bsl-1",
            "boost",
            "psf",
            "python",
            "unicode",
            "public-domain",
            "public domain",
            "ncsa",
            "hpnd",
            "wtfpl",
            "libpng",
            "openssl",
            "curl",
            "x11",
        ];
        let strange = [
            "gpl",
            "mpl",
            "epl",
            "cddl",
            "eupl",
            "cc-by",
            "business",
            "sspl",
            "osl",
            "mozilla",
            "proprietary",
        ];
        fine.iter().any(|word| part.contains(word))
            && !strange.iter().any(|word| part.contains(word))
    };
    if is_choice && !small.contains(" and ") {
        parts.iter().any(is_fine)
    } else {
        parts.iter().all(is_fine)
    }
}

#[cfg(test)]
mod tests {
    use super::{debian, is_permissive};

    #[test]
    fn only_permissive_licences_are_taken() {
        for licence in [
            "MIT",
            "Apache-2.0 OR GPL-3.0",
            "MIT/Apache-2.0",
            "MIT OR Apache-2.0",
            "BSD License",
            "Expat",
        ] {
            assert!(is_permissive(licence), "{licence}");
        }
        for licence in [
            "GPL-3.0",
            "MPL-2.0",
            "MIT AND LGPL-2.1",
            "CC-BY-4.0",
            "",
            "Custom",
        ] {
            assert!(!is_permissive(licence), "{licence}");
        }
    }

    #[test]
    fn a_package_of_debian_is_under_all_its_licences() {
        let text = "Files: *\nLicense: Expat\n\nFiles: debian/*\nLicense: GPL-2+\n\nFiles: x/*\nLicense: BSD-3-clause\n";
        assert_eq!(debian(text).as_deref(), Some("BSD-3-clause AND Expat"));
        assert!(!is_permissive(
            &debian("Files: *\nLicense: LGPL-2\n").unwrap_or_default()
        ));
        assert_eq!(debian("This is free software."), None);
    }
}
