//! The addresses of remotes.

use crate::repository::Repository;

impl Repository {
    /// Returns the addresses from which the remotes are fetched, that of `origin` first.
    pub fn remote_urls(&self) -> Vec<String> {
        let Ok(remotes) = self.inner.remotes() else {
            return Vec::new();
        };
        let names = remotes.iter().filter_map(|name| name.ok().flatten());
        let mut names: Vec<&str> = names.collect();
        names.sort_by_key(|name| *name != "origin");
        let remotes = names.into_iter();
        remotes
            .filter_map(|name| {
                let remote = self.inner.find_remote(name).ok()?;
                Some(String::from_utf8_lossy(remote.url_bytes()).into_owned())
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use base::AbsPath;

    use crate::repository::Repository;

    #[test]
    fn the_address_of_origin_comes_first() {
        let temporary = tempfile::tempdir().expect("a folder");
        let created = git2::Repository::init(temporary.path()).expect("a repository");
        for (name, url) in [
            ("a", "https://example.org/a"),
            ("origin", "git@example.org:o"),
        ] {
            created.remote(name, url).expect("a remote");
        }
        let root = AbsPath::new(temporary.path()).expect("absolute");
        let repository = Repository::discover(&root).expect("a repository");
        let expected = ["git@example.org:o", "https://example.org/a"];
        assert_eq!(repository.remote_urls(), expected);
    }
}
