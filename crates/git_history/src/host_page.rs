//! The web page of a commit, from the address of a remote.
//!
//! Pure. Addresses that are not of the web or of ssh have no page.

/// Returns the address of the page of commit `id`; `None` if the remote is no server with pages.
pub fn commit_page(remote: &str, id: &str) -> Option<String> {
    let is_hex = !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_hexdigit());
    let (host, path) = host_and_path(remote).filter(|_| is_hex)?;
    let path = path.trim_matches('/');
    let path = path.strip_suffix(".git").unwrap_or(path);
    let is_plain = |text: &str| {
        let is_allowed = |letter: char| letter.is_ascii_alphanumeric() || "-._~/+".contains(letter);
        !text.is_empty() && text.chars().all(is_allowed)
    };
    if !is_plain(host) || !is_plain(path) {
        return None;
    }
    let middle = if host.contains("gitlab") {
        "-/commit"
    } else if host.contains("bitbucket") {
        "commits"
    } else {
        "commit"
    };
    Some(format!("https://{host}/{path}/{middle}/{id}"))
}

/// Splits `https://user@host:port/path`, `ssh://…` or `user@host:path`.
fn host_and_path(remote: &str) -> Option<(&str, &str)> {
    if let Some((scheme, rest)) = remote.split_once("://") {
        if !matches!(scheme, "http" | "https" | "ssh" | "git") {
            return None;
        }
        let (authority, path) = rest.split_once('/')?;
        let host = authority.rsplit('@').next()?;
        return Some((host.split(':').next()?, path));
    }
    let (authority, path) = remote.split_once(':')?;
    // A path of this machine has a slash before the colon.
    let is_host = !authority.contains('/') && !path.starts_with('\\');
    is_host.then(|| (authority.rsplit('@').next().unwrap_or(authority), path))
}

#[cfg(test)]
mod tests {
    use super::commit_page;

    #[test]
    fn remotes_of_servers_have_pages() {
        for (remote, page) in [
            (
                "https://github.com/a/b.git",
                "https://github.com/a/b/commit/1f",
            ),
            ("git@github.com:a/b.git", "https://github.com/a/b/commit/1f"),
            (
                "ssh://git@gitlab.example.org:2222/a/b/c.git",
                "https://gitlab.example.org/a/b/c/-/commit/1f",
            ),
            (
                "https://me:secret@bitbucket.org/a/b/",
                "https://bitbucket.org/a/b/commits/1f",
            ),
        ] {
            assert_eq!(commit_page(remote, "1f").as_deref(), Some(page));
        }
    }

    #[test]
    fn other_remotes_have_none() {
        for remote in [
            "/srv/git/a.git",
            "../a",
            "file:///srv/a",
            "ext::sh -c x",
            "https://h/a b",
            "",
        ] {
            assert_eq!(commit_page(remote, "1f"), None, "{remote}");
        }
        assert_eq!(commit_page("git@github.com:a/b", "--x"), None);
    }
}
