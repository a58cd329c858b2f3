//! Makes the packages of a release: `cargo xtask package [FORMAT…]`.
//!
//! One build in the profile `dist` gives both programs. They, the manual pages and completions that they print, the icon in
//! all sizes, the bill of materials and the licences become the packages in `target/package`:
//!
//! - `deb`: for Debian 12, Ubuntu 22.04 and newer systems,
//! - `archive`: a tar with an install script that needs no root,
//! - `appimage`: one file that starts without an installation,
//! - `app`: the bundle `Burin.app`; on macOS also signed, in a disk image and a zip archive.
//!
//! Packages for Linux contain the programs without symbols, which are in an archive beside the packages. On macOS the names
//! of functions stay in the programs.
//!
//! Invariant: the same programs and the same release give the same bytes in every package.
//! Start at `make`; the files of each package are in `contents`.
#![expect(
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "a chore talks to the terminal and starts programs; none of it is linked into the product"
)]

mod appimage;
mod archive;
mod calendar;
mod changelog;
mod checks;
mod contents;
mod deb;
mod dependencies;
mod error;
#[cfg(test)]
mod fixture;
mod help_text;
mod icon;
mod licence_expression;
mod licence_texts;
mod linkage;
mod options;
mod package_tree;
mod programs;
mod release;
mod sbom;
mod symbols;
mod tools;
mod workspace;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use cargo_metadata::Metadata;
use sha2::{Digest as _, Sha256};

use contents::PackageContents;
use error::Error;
use linkage::ProgramLinkage;
use options::{PackageFormat, PackageOptions};
use package_tree::PackageTree;
use release::Release;

/// The script that signs and packs the bundle on macOS.
const MAKE_DMG: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../packaging/macos/make-dmg"
);

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match PackageOptions::parse(&arguments).and_then(|options| make(&options)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("{problem}");
            ExitCode::FAILURE
        }
    }
}

/// Makes the packages that the options name, and reports the sizes of programs and packages.
fn make(options: &PackageOptions) -> Result<(), Error> {
    let metadata = workspace::metadata(&[])?;
    let release = Release::read(&metadata)?;
    let crates = dependencies::linked_crates(&metadata)?;
    dependencies::check_licences(&crates)?;
    let programs = match &options.programs {
        Some(folder) => folder.clone(),
        None => programs::build(&metadata, &release)?,
    };
    let usual = || {
        metadata
            .target_directory
            .join("package")
            .into_std_path_buf()
    };
    let out = options.out.clone().unwrap_or_else(usual);
    fs::create_dir_all(&out).map_err(Error::io("make", &out))?;
    let work = WorkFolder::new(&out)?;
    let split = |name| symbols::split(&programs, name, std::env::consts::OS, &work.0);
    let (burin, agent) = (split("burin")?, split("burin-agent")?);
    let contents = PackageContents {
        burin: burin.program,
        agent: agent.program,
        texts: programs::texts(&programs, &release)?,
        bill: sbom::cyclonedx(&crates, &release),
        licences: licence_texts::report(&crates)?,
        release,
    };
    report_programs(&metadata, &contents);
    let run = PackageRun {
        contents,
        programs,
        work,
        out,
    };
    for notice in checks::check(&run.contents, &run.work.0.join("checks"))? {
        eprintln!("notice: {notice}");
    }
    let mut made = vec![run.write_bill()?];
    let symbols = [("burin", burin.symbols), ("burin-agent", agent.symbols)];
    made.extend(run.write_symbols(symbols)?);
    for format in &options.formats {
        made.extend(run.make_package(*format)?);
    }
    run.report_packages(&made)
}

/// Prints the sizes of the programs, and the paths of this machine in them.
fn report_programs(metadata: &Metadata, contents: &PackageContents) {
    for (name, program) in [("burin", &contents.burin), ("burin-agent", &contents.agent)] {
        eprintln!("{:>12} bytes  {name}", program.len());
        for sentence in programs::leaked_paths(metadata, name, program) {
            eprintln!("notice: {sentence}");
        }
    }
}

/// A folder for files that no package keeps; removed on drop.
struct WorkFolder(PathBuf);

impl WorkFolder {
    /// Makes an empty folder in `out`.
    fn new(out: &Path) -> Result<Self, Error> {
        let folder = out.join("work");
        match fs::remove_dir_all(&folder) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(Error::io("remove", &folder)(error));
            }
            _ => {}
        }
        fs::create_dir(&folder).map_err(Error::io("make", &folder))?;
        Ok(Self(folder))
    }
}

impl Drop for WorkFolder {
    fn drop(&mut self) {
        // If this fails, the next run removes it.
        fs::remove_dir_all(&self.0).ok();
    }
}

/// The making of packages from one set of contents.
struct PackageRun {
    contents: PackageContents,
    /// The folder of the programs.
    programs: PathBuf,
    /// The folder of the packages.
    out: PathBuf,
    work: WorkFolder,
}

impl PackageRun {
    fn write(&self, name: &str, bytes: &[u8]) -> Result<PathBuf, Error> {
        let path = self.out.join(name);
        fs::write(&path, bytes).map_err(Error::io("write", &path))?;
        Ok(path)
    }

    fn write_bill(&self) -> Result<PathBuf, Error> {
        let name = format!("burin-{}.cdx.json", self.contents.release.version);
        self.write(&name, self.contents.bill.as_bytes())
    }

    /// Writes the symbols of the programs beside the packages, if there are any.
    fn write_symbols(
        &self,
        programs: [(&str, Option<Vec<u8>>); 2],
    ) -> Result<Option<PathBuf>, Error> {
        let mut tree = PackageTree::default();
        for (name, symbols) in programs {
            if let Some(symbols) = symbols {
                tree.add(format!("{name}.debug"), symbols);
            }
        }
        if tree.files().next().is_none() {
            return Ok(None);
        }
        let release = &self.contents.release;
        let name = format!("burin-{}-symbols-{}", release.version, release.architecture);
        let tar = archive::tar(&tree, &format!("{name}/"), release.epoch);
        let bytes = tar.and_then(|tar| archive::gzip(&tar));
        let bytes = bytes.map_err(Error::pack("the symbols"))?;
        Ok(Some(self.write(&format!("{name}.tar.gz"), &bytes)?))
    }

    /// Makes the packages of one format. Returns their paths.
    fn make_package(&self, format: PackageFormat) -> Result<Vec<PathBuf>, Error> {
        match format {
            PackageFormat::Deb => Ok(vec![self.make_deb()?]),
            PackageFormat::Archive => Ok(vec![self.make_archive()?]),
            PackageFormat::AppImage => Ok(vec![self.make_appimage()?]),
            PackageFormat::App => self.make_bundle(),
        }
    }

    fn make_deb(&self) -> Result<PathBuf, Error> {
        let release = &self.contents.release;
        let bytes = deb::deb(&self.contents.debian()?, &self.linkages()?, release)?;
        let architecture = deb::architecture(release.architecture);
        let name = format!("burin_{}_{architecture}.deb", release.version);
        self.write(&name, &bytes)
    }

    fn make_archive(&self) -> Result<PathBuf, Error> {
        self.linkages()?;
        let release = &self.contents.release;
        let name = format!("burin-{}-linux-{}", release.version, release.architecture);
        let tree = self.contents.archive()?;
        let tar = archive::tar(&tree, &format!("{name}/"), release.epoch);
        let bytes = tar.and_then(|tar| archive::gzip(&tar));
        let bytes = bytes.map_err(Error::pack("the archive"))?;
        self.write(&format!("{name}.tar.gz"), &bytes)
    }

    fn make_appimage(&self) -> Result<PathBuf, Error> {
        self.linkages()?;
        let release = &self.contents.release;
        let folder = self.work.0.join("appimage");
        fs::create_dir(&folder).map_err(Error::io("make", &folder))?;
        let bytes = appimage::appimage(&self.contents.app_dir()?, release, &folder)?;
        let name = format!(
            "Burin-{}-{}.AppImage",
            release.version, release.architecture
        );
        let path = self.write(&name, &bytes)?;
        package_tree::set_mode(&path, 0o755)?;
        Ok(path)
    }

    /// Returns the libraries and symbols of both programs. Fails if they do not start on the oldest supported systems.
    fn linkages(&self) -> Result<[ProgramLinkage; 2], Error> {
        let of = |name: &str| ProgramLinkage::of(&self.programs.join(name));
        Ok([of("burin")?, of("burin-agent")?])
    }

    /// Makes the bundle for macOS, and on macOS the signed disk image and zip archive.
    fn make_bundle(&self) -> Result<Vec<PathBuf>, Error> {
        let folder = self.work.0.join("bundle");
        fs::create_dir(&folder).map_err(Error::io("make", &folder))?;
        self.contents.app_bundle()?.write(&folder.join("tree"))?;
        let bundle = self.out.join("Burin.app");
        if bundle.exists() {
            fs::remove_dir_all(&bundle).map_err(Error::io("remove", &bundle))?;
        }
        let made = folder.join("tree/Burin.app");
        fs::rename(made, &bundle).map_err(Error::io("make", &bundle))?;
        if std::env::consts::OS != "macos" {
            let name = bundle.display();
            eprintln!("notice: {name} is not signed: packaging/macos/make-dmg does it on macOS");
            return Ok(Vec::new());
        }
        let Release {
            version,
            architecture,
            ..
        } = &self.contents.release;
        let image = self.out.join(format!("Burin-{version}-{architecture}.dmg"));
        let mut pack = tools::command(MAKE_DMG);
        tools::run(pack.arg(&bundle).arg(&image), "It is in the repository")?;
        let zip = image.with_extension("zip");
        Ok(vec![image, zip])
    }

    /// Prints the sizes of packages and writes their hashes to `SHA256SUMS`.
    fn report_packages(&self, paths: &[PathBuf]) -> Result<(), Error> {
        let mut sums = String::new();
        for path in paths {
            let bytes = fs::read(path).map_err(Error::io("read", path))?;
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let hash = Sha256::digest(&bytes);
            let hash: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
            eprintln!("{:>12} bytes  {name}", bytes.len());
            sums.push_str(&format!("{hash}  {name}\n"));
        }
        self.write("SHA256SUMS", sums.as_bytes())?;
        eprintln!("The packages are in {}.", self.out.display());
        Ok(())
    }
}
