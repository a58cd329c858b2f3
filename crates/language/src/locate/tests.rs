//! Links to rustup.

use host::FakeFiles;

use super::*;

fn path(text: &str) -> AbsPath {
    AbsPath::new(text).expect("absolute")
}

#[test]
fn links_to_rustup_are_recognized() {
    let files = FakeFiles::new();
    files.write(&path("/cargo/bin/rustup"), "");
    files.write(&path("/cargo/bin/other"), "");
    files.link(&path("/cargo/bin/rust-analyzer"), "rustup");
    let check = |name: &str, expected: bool| {
        let path = path("/cargo/bin").join(name);
        assert_eq!(is_rustup_proxy(&files, &path), expected, "{name}");
    };
    check("rust-analyzer", true);
    check("other", false);
    check("rustup", false);
}
