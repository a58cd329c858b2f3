//! Downloads the pinned packages with the clients of their registries, and makes new pins.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use sha2::{Digest, Sha256};

use super::error::Error;
use super::sources::{self, Registry, Source};

/// Downloads the archives that are missing below `inputs` and checks that every archive has the
/// pinned SHA-256.
pub fn run(sources: &[Source], inputs: &Path) -> Result<(), Error> {
    for registry in Registry::ALL {
        let missing: Vec<&Source> = sources
            .iter()
            .filter(|source| source.registry == registry && !source.path(inputs).is_file())
            .collect();
        for round in rounds(missing) {
            download(registry, &round, &inputs.join(registry.name()))?;
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

/// Divides packages so that no part holds two versions of one package, which the clients refuse.
fn rounds(mut missing: Vec<&Source>) -> Vec<Vec<&Source>> {
    let mut rounds = Vec::new();
    while !missing.is_empty() {
        let mut round: Vec<&Source> = Vec::new();
        missing.retain(|source| {
            let is_free = round.iter().all(|it| it.name != source.name);
            if is_free {
                round.push(source);
            }
            !is_free
        });
        rounds.push(round);
    }
    rounds
}

/// Downloads the packages `missing` of one registry to `folder`; for crates, downloads all crates of
/// the lock file to Cargo's own folder. Returns an error if the registry's client is missing or fails.
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
pub fn sum(path: &Path) -> Result<String, Error> {
    let bytes = std::fs::read(path).map_err(Error::io("read", path))?;
    Ok(Sha256::digest(&bytes)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect())
}

/// Regenerates the list of packages from the archives below `inputs` and the crates of the lock file
/// in Cargo's cache. Packages without a permissive licence are left out with a message.
pub fn pin(inputs: &Path) -> Result<Vec<Source>, Error> {
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
