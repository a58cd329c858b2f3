//! Files that are known by their names to hold secrets.
//!
//! One list for everything that reads files by itself: agents ask first, the index leaves them out.

/// Names of files that hold secrets, as globs over the last part of a path: a star at one end, or none.
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

/// Names that look like secrets and are made to be shared.
const SHARED: &[&str] = &[".env.example", ".env.sample", ".env.template", ".env.dist"];

/// Whether a file's name says that it holds secrets; capitals do not count. Parts of the path end with `/`.
pub fn is_secret(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path).to_lowercase();
    let is_like = |glob: &&str| match (glob.strip_prefix('*'), glob.strip_suffix('*')) {
        (Some(end), _) => name.ends_with(end),
        (_, Some(start)) => name.starts_with(start),
        _ => name == **glob,
    };
    SECRETS.iter().any(is_like) && !SHARED.contains(&name.as_str())
}

#[cfg(test)]
mod tests {
    use super::is_secret;

    #[test]
    fn names_tell_what_holds_secrets() {
        for path in [
            ".env",
            "a/.ENV.local",
            "deep/server.PEM",
            "id_rsa",
            "x/secrets.yml",
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
