//! Debian packages.

use md5::{Digest as _, Md5};

use crate::archive::{tar, xz};
use crate::error::Error;
use crate::linkage::ProgramLinkage;
use crate::package_tree::PackageTree;
use crate::release::Release;

/// Libraries that the programs load while they run, so that no table of the programs names them.
const OPENED_LATER: &[&str] = &["libvulkan1", "libxcb1"];
const RECOMMENDS: &str = "ca-certificates, git, libegl1, libwayland-client0, libwayland-egl1, \
                          mesa-vulkan-drivers | vulkan-icd, xdg-desktop-portal";
const DESCRIPTION: &str = "code editor with coding agents
 Burin is a native code editor that draws with the graphics card. It has language
 servers, tests, tasks, terminals, Git, completions and predicted edits that need
 no account, and search by meaning without a network.
 .
 Coding agents work in sandboxed Git worktrees beside the user, who reviews their
 changes hunk by hunk and lands them on a branch. The program burin-agent offers
 the same engines on the command line, without a display.
";

/// Returns the name that Debian gives to an architecture.
pub(crate) fn architecture(architecture: &'static str) -> &'static str {
    match architecture {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    }
}

/// Makes a package from the files that it installs, with paths from the root of the file system, and from what its programs
/// load.
pub(crate) fn deb(
    tree: &PackageTree,
    programs: &[ProgramLinkage],
    release: &Release,
) -> Result<Vec<u8>, Error> {
    let mut control = PackageTree::default();
    control.add("control", control_file(tree, programs, release)?);
    control.add("md5sums", checksums(tree));
    control.add_program(
        "postinst",
        include_str!("../../../packaging/linux/postinst"),
    );
    control.add_program("prerm", include_str!("../../../packaging/linux/prerm"));
    let packed = |tree: &PackageTree| tar(tree, "./", release.epoch).and_then(|tar| xz(&tar));
    let control = packed(&control).map_err(Error::pack("the control files"))?;
    let data = packed(tree).map_err(Error::pack("the files of the package"))?;
    let mut bytes = b"!<arch>\n".to_vec();
    for (name, content) in [
        ("debian-binary", &b"2.0\n"[..]),
        ("control.tar.xz", &control[..]),
        ("data.tar.xz", &data[..]),
    ] {
        append_member(&mut bytes, name, content, release.epoch);
    }
    Ok(bytes)
}

/// Appends a member to an `ar` archive.
fn append_member(archive: &mut Vec<u8>, name: &str, content: &[u8], epoch: u64) {
    let size = content.len();
    // Name, time, owner, group, mode and size in columns of fixed widths.
    let header = format!(
        "{name:<16}{epoch:<12}{:<6}{:<6}{:<8}{size:<10}`\n",
        0, 0, "100644"
    );
    archive.extend_from_slice(header.as_bytes());
    archive.extend_from_slice(content);
    if size % 2 == 1 {
        archive.push(b'\n');
    }
}

fn control_file(
    tree: &PackageTree,
    programs: &[ProgramLinkage],
    release: &Release,
) -> Result<String, Error> {
    let mut depends = ProgramLinkage::debian_packages(programs)?;
    depends.extend(OPENED_LATER.iter().map(|name| (*name).to_owned()));
    depends.sort_unstable();
    depends.dedup();
    Ok(format!(
        "Package: burin\n\
         Version: {version}\n\
         Section: editors\n\
         Priority: optional\n\
         Architecture: {architecture}\n\
         Maintainer: {maintainer}\n\
         Installed-Size: {size}\n\
         Depends: {depends}\n\
         Recommends: {RECOMMENDS}\n\
         Homepage: {homepage}\n\
         Description: {DESCRIPTION}",
        version = release.version,
        architecture = architecture(release.architecture),
        maintainer = release.maintainer,
        size = tree.installed_size(),
        depends = depends.join(", "),
        homepage = release.homepage,
    ))
}

fn checksums(tree: &PackageTree) -> String {
    let lines = tree.files().map(|(path, content)| {
        let sum = Md5::digest(content);
        let sum: String = sum.iter().map(|byte| format!("{byte:02x}")).collect();
        format!("{sum}  {path}\n")
    });
    lines.collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::process::Command;

    use super::{DESCRIPTION, append_member, deb};
    use crate::linkage::ProgramLinkage;
    use crate::package_tree::PackageTree;
    use crate::release::Release;

    fn tree() -> PackageTree {
        let mut tree = PackageTree::default();
        tree.add_program("usr/bin/burin", "program");
        tree.add("usr/share/doc/burin/copyright", "text\n");
        tree
    }

    fn package() -> Vec<u8> {
        let tables = "  NEEDED  libc.so.6\n x (GLIBC_2.34) dlopen\n";
        let programs = [ProgramLinkage::read("burin", tables)];
        deb(&tree(), &programs, &Release::for_tests()).expect("a package")
    }

    #[test]
    fn the_same_files_give_the_same_package() {
        assert_eq!(package(), package());
        let mut other = tree();
        other.add_program("usr/bin/burin", "another");
        let other = deb(&other, &[], &Release::for_tests()).expect("a package");
        assert_ne!(package(), other);
    }

    #[test]
    fn members_have_headers_of_sixty_bytes_and_even_sizes() {
        let mut bytes = Vec::new();
        append_member(&mut bytes, "debian-binary", b"odd", 1_796_008_113);
        let header = "debian-binary   1796008113  0     0     100644  3         `\n";
        assert_eq!(header.len(), 60);
        assert_eq!(bytes, format!("{header}odd\n").into_bytes());
    }

    #[test]
    fn the_description_fits_the_columns_of_debian() {
        for text in DESCRIPTION.lines() {
            assert!(text.len() <= 81, "{text}");
        }
        assert!(
            DESCRIPTION
                .lines()
                .skip(1)
                .all(|text| text.starts_with(' '))
        );
    }

    /// Runs `dpkg-deb` on a package; `None` if there is no such program.
    fn dpkg(option: &str, package: &Path) -> Option<String> {
        let output = Command::new("dpkg-deb")
            .env("TZ", "UTC")
            .arg(option)
            .arg(package)
            .output()
            .ok()?;
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{option}: {errors}");
        Some(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    #[test]
    fn dpkg_reads_the_package() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("burin.deb");
        std::fs::write(&path, package()).expect("written");
        let Some(contents) = dpkg("--contents", &path) else {
            return test_support::skip("dpkg-deb is not installed");
        };
        for expected in [
            "-rwxr-xr-x root/root         7 2026-11-30",
            " ./usr/bin/burin\n",
            "-rw-r--r-- root/root         5 2026-11-30",
            " ./usr/share/doc/burin/copyright\n",
            "drwxr-xr-x root/root         0 2026-11-30",
            " ./usr/share/\n",
        ] {
            assert!(contents.contains(expected), "{expected}: {contents}");
        }
        let info = dpkg("--info", &path).unwrap_or_default();
        for expected in [
            " Package: burin\n",
            " Version: 1.2.3\n",
            " Architecture: amd64\n",
            " Installed-Size: 7\n",
            " Depends: libc6 (>= 2.34), libvulkan1, libxcb1\n",
            " Description: code editor with coding agents\n",
            "postinst",
            "prerm",
        ] {
            assert!(info.contains(expected), "{expected}: {info}");
        }
        let unpacked = folder.path().join("unpacked");
        let output = Command::new("dpkg-deb")
            .arg("--raw-extract")
            .arg(&path)
            .arg(&unpacked)
            .output();
        assert!(output.expect("dpkg-deb").status.success());
        let sums = Command::new("md5sum")
            .args(["--check", "--quiet", "DEBIAN/md5sums"])
            .current_dir(&unpacked)
            .output();
        assert!(sums.expect("md5sum").status.success());
    }
}
