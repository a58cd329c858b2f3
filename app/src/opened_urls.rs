//! Files and folders that the system asks the program to open: from Finder, by a drop on the icon in the Dock, or with
//! the command `open`. macOS sends them as URLs; on Linux they come as arguments.

use std::sync::Arc;

use base::{AbsPath, Platform};
use futures::StreamExt as _;
use futures::channel::mpsc::{UnboundedReceiver, UnboundedSender, unbounded};
use gpui_kit::{App, Application};
use host::{FileKind, Files};
use url::Url;
use workbench::windows::{self, OpenRequest};

/// URLs in the order in which the system sent them. Unbounded, since each comes from an action of
/// the user.
pub(crate) struct OpenedUrls(UnboundedReceiver<Vec<String>>);

/// Registers with the system what macOS sends to the program: URLs, and clicks on its icon in the Dock. Call before
/// the application runs, because macOS sends the first URLs while it starts.
pub(crate) fn register(platform: Platform, application: &Application) -> Option<OpenedUrls> {
    if platform == Platform::Linux {
        return None;
    }
    let (sender, receiver) = unbounded();
    application.on_open_urls(move |urls| send(&sender, urls));
    application.on_reopen(windows::reopen);
    Some(OpenedUrls(receiver))
}

fn send(sender: &UnboundedSender<Vec<String>>, urls: Vec<String>) {
    // The receiver ends with the program.
    sender.unbounded_send(urls).ok();
}

impl OpenedUrls {
    /// Adds the URLs that the system has sent so far to `request`.
    pub(crate) fn take_into(&mut self, request: &mut OpenRequest, files: &dyn Files) {
        while let Ok(urls) = self.0.try_recv() {
            let more = resolve(&urls, files);
            request.folders.extend(more.folders);
            request.files.extend(more.files);
        }
    }

    /// Opens the URLs that the system sends from now on.
    pub(crate) fn listen(mut self, files: Arc<dyn Files>, cx: &mut App) {
        cx.spawn(async move |cx| {
            while let Some(urls) = self.0.next().await {
                let request = resolve(&urls, files.as_ref());
                if request != OpenRequest::default() {
                    cx.update(|cx| windows::open_request(request, cx));
                }
            }
        })
        .detach();
    }
}

/// Splits URLs into folders and files; those that do not name a file of this machine are omitted.
fn resolve(urls: &[String], files: &dyn Files) -> OpenRequest {
    let mut request = OpenRequest::default();
    for url in urls {
        let path = Url::parse(url).ok().filter(|url| url.scheme() == "file");
        let Some(path) = path.and_then(|url| AbsPath::new(url.to_file_path().ok()?)) else {
            log::warn!("{url} names no file to open");
            continue;
        };
        match files.stat(&path) {
            Ok(stat) if stat.kind == FileKind::Folder => request.folders.push(path),
            _ => request.files.push((path, None)),
        }
    }
    request
}

#[cfg(test)]
mod tests {
    use base::AbsPath;
    use futures::channel::mpsc::unbounded;
    use host::FakeFiles;
    use workbench::windows::OpenRequest;

    use super::{OpenedUrls, resolve, send};

    fn path(path: &str) -> AbsPath {
        AbsPath::new(path).expect("absolute")
    }

    fn disk() -> FakeFiles {
        let files = FakeFiles::new();
        files.write(&path("/w/a b/\u{fc} #1%.rs"), "");
        files
    }

    #[test]
    fn urls_of_files_become_paths() {
        let urls = [
            "file:///w/a%20b/%C3%BC%20%231%25.rs",
            "file://localhost/w/a%20b/",
            "file:///w/not-utf8-%FF",
            "https://example.org/a",
            "file://server/share",
            "/w/a",
        ];
        let request = resolve(&urls.map(str::to_owned), &disk());
        assert_eq!(request.folders, [path("/w/a b")]);
        let names: Vec<_> = request.files.iter().map(|(path, _)| path.clone()).collect();
        use std::os::unix::ffi::OsStrExt as _;
        let odd = std::ffi::OsStr::from_bytes(b"/w/not-utf8-\xff");
        let expected = [
            path("/w/a b/\u{fc} #1%.rs"),
            AbsPath::new(odd).expect("absolute"),
        ];
        assert_eq!(names, expected);
    }

    #[test]
    fn urls_that_came_first_join_the_first_request() {
        let (sender, receiver) = unbounded();
        let mut opened = OpenedUrls(receiver);
        send(&sender, vec!["file:///w/a%20b".to_owned()]);
        send(&sender, vec!["file:///w/c.rs".to_owned()]);
        let mut request = OpenRequest::default();
        opened.take_into(&mut request, &disk());
        assert_eq!(request.folders, [path("/w/a b")]);
        assert_eq!(request.files, [(path("/w/c.rs"), None)]);
        let mut later = OpenRequest::default();
        opened.take_into(&mut later, &disk());
        assert_eq!(later, OpenRequest::default(), "once");
    }
}
