//! Recognises files that hold secrets by their names.
//!
//! One list for everything that reads files automatically: agents ask first, the index skips them.

use base::names::widest_key;

/// Name patterns of secret files, for the last path component: at most one star, at either end.
pub const SECRETS: &[&str] = &[
    ".env",
    ".env.*",
    ".envrc",
    "*.pem",
    "*.key",
    "*.p12",
    "*.pfx",
    "*.jks",
    "*.keystore",
    "id_rsa",
    "id_dsa",
    "id_ecdsa",
    "id_ed25519",
    ".netrc",
    ".npmrc",
    ".pypirc",
    ".pgpass",
    ".git-credentials",
    "credentials.json",
    "secrets.json",
    "secrets.yaml",
    "secrets.yml",
    "*.kdbx",
    "*.ovpn",
];

/// Names that look like secrets but are meant to be shared.
const EXAMPLE_FILES: &[&str] = &[".env.example", ".env.sample", ".env.template", ".env.dist"];

/// Returns whether the last component of a path is, by its name, a file that holds secrets,
/// ignoring case. Path components are separated by `/`. Does not access the disk.
pub fn is_secret(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let name = widest_key(name.as_bytes());
    let name = String::from_utf8_lossy(&name);
    let is_like = |glob: &&str| match (glob.strip_prefix('*'), glob.strip_suffix('*')) {
        (Some(end), _) => name.ends_with(end),
        (_, Some(start)) => name.starts_with(start),
        _ => name == **glob,
    };
    SECRETS.iter().any(is_like) && !EXAMPLE_FILES.contains(&&*name)
}

#[cfg(test)]
mod tests {
    use super::is_secret;

    #[test]
    fn secret_file_names_are_recognised() {
        for path in [
            ".env",
            "a/.ENV.local",
            "deep/server.PEM",
            "id_rsa",
            "x/secrets.yml",
            "x/\u{17f}ecrets.yml",
            "conﬁg/credential\u{17f}.json",
        ] {
            assert!(is_secret(path), "{path}");
        }
        for path in [
            ".env.example",
            "env",
            "pem",
            "id_rsa.pub",
            "secrets.rs",
            "keys/readme",
        ] {
            assert!(!is_secret(path), "{path}");
        }
    }
}
