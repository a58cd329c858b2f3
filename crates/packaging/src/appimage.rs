//! AppImages: a small program, the runtime, followed by a compressed image of a folder.

use std::fs;
use std::path::Path;

use crate::error::Error;
use crate::package_tree::PackageTree;
use crate::release::Release;
use crate::tools;

/// The runtime, which mounts or unpacks the image and starts `AppRun` in it. `packaging/appimage/README.md` says where it
/// comes from. It reads images with xz or gzip.
const RUNTIME: &[u8] = include_bytes!("../../../packaging/appimage/runtime-x86_64");
const RUNTIME_ARCHITECTURE: &str = "x86_64";

/// Makes an AppImage from the files of its folder. Works in `folder`, which exists and is empty.
pub(crate) fn appimage(
    tree: &PackageTree,
    release: &Release,
    folder: &Path,
) -> Result<Vec<u8>, Error> {
    if release.architecture != RUNTIME_ARCHITECTURE {
        return Err(Error::NoRuntime {
            architecture: release.architecture,
        });
    }
    let (app_dir, image) = (folder.join("AppDir"), folder.join("image"));
    tree.write(&app_dir)?;
    let epoch = release.epoch.to_string();
    let mut squash = tools::command("mksquashfs");
    squash.arg(&app_dir).arg(&image);
    squash.args(["-comp", "xz", "-root-owned", "-noappend", "-no-xattrs"]);
    squash.args(["-no-progress", "-quiet", "-processors", "1"]);
    squash.args(["-mkfs-time", &epoch, "-all-time", &epoch]);
    // It refuses the variable together with the options.
    squash.env_remove("SOURCE_DATE_EPOCH");
    tools::output(
        &mut squash,
        "Install squashfs-tools (packaging/setup.sh package)",
    )?;
    let image = fs::read(&image).map_err(Error::io("read", &image))?;
    Ok([RUNTIME, &image[..]].concat())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;
    use std::process::Command;

    use sha2::{Digest as _, Sha256};

    use super::{RUNTIME, appimage};
    use crate::error::Error;
    use crate::fixture;
    use crate::package_tree::PackageTree;
    use crate::release::Release;
    use crate::tools;

    fn tree() -> PackageTree {
        let mut tree = PackageTree::default();
        tree.add_program("AppRun", include_str!("../../../packaging/appimage/AppRun"));
        tree.add_program(
            "usr/bin/burin",
            "#!/bin/sh\necho burin \"$1\" \"${ARGV0-none}\" \"${APPIMAGE_EXTRACT_AND_RUN-none}\"\n",
        );
        tree.add_program("usr/bin/burin-agent", "#!/bin/sh\necho agent\n");
        tree.add("burin.desktop", "[Desktop Entry]\n");
        tree
    }

    #[test]
    fn the_runtime_is_the_one_that_was_chosen() {
        assert_eq!(&RUNTIME[8..11], b"AI\x02");
        let hash = Sha256::digest(RUNTIME);
        let hash: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
        let readme = include_str!("../../../packaging/appimage/README.md");
        assert!(readme.contains(&hash), "{hash}");
    }

    #[test]
    fn another_processor_has_no_runtime() {
        let release = Release {
            architecture: "aarch64",
            ..Release::for_tests()
        };
        let folder = tempfile::tempdir().expect("a folder");
        let made = appimage(&tree(), &release, folder.path());
        assert!(matches!(
            made,
            Err(Error::NoRuntime {
                architecture: "aarch64"
            })
        ));
    }

    #[test]
    fn an_appimage_starts_and_has_the_same_bytes_again() {
        if tools::find("mksquashfs").is_none() {
            return test_support::skip("squashfs-tools is not installed");
        }
        let made = || {
            let folder = tempfile::tempdir().expect("a folder");
            appimage(&tree(), &Release::for_tests(), folder.path()).expect("an AppImage")
        };
        let bytes = made();
        assert!(bytes == made(), "the same bytes");
        if std::env::consts::ARCH != "x86_64" || std::env::consts::OS != "linux" {
            return test_support::skip_part("the runtime is for Linux on x86_64");
        }
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("Burin.AppImage");
        fixture::write_program(&path, &bytes);
        symlink("Burin.AppImage", folder.path().join("burin-agent")).expect("a link");
        let start = |name: &str| {
            let output = Command::new(folder.path().join(name))
                .args(["--appimage-extract-and-run", "word"])
                .env("TMPDIR", folder.path())
                .output()
                .expect("the AppImage");
            String::from_utf8_lossy(&output.stdout).into_owned()
        };
        assert_eq!(start("Burin.AppImage"), "burin word none 1\n");
        assert_eq!(start("burin-agent"), "agent\n");
    }
}
