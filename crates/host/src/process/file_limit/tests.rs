//! Tests of the limit and of the one that children get.

use super::*;
use crate::process::{LaunchRequest, ProcessRequest, run, spawn};
use crate::reexec::{is_reexec, reexec_test};
use crate::temp::TempFolder;

fn limit(current: Option<u64>, maximum: Option<u64>) -> Rlimit {
    Rlimit { current, maximum }
}

#[test]
fn the_limit_is_raised_to_the_lower_of_both() {
    let cases = [
        (limit(Some(256), None), Some(10_240), Some(Some(10_240))),
        (limit(Some(256), Some(4096)), Some(10_240), Some(Some(4096))),
        (limit(Some(1024), Some(1 << 20)), None, Some(Some(1 << 20))),
        (limit(Some(1024), None), None, Some(None)),
        (limit(Some(10_240), None), Some(10_240), None),
        (limit(Some(4096), Some(4096)), None, None),
        (limit(None, None), Some(10_240), None),
    ];
    for (inherited, most, expected) in cases {
        let set = raised(inherited, most).map(|limit| limit.current);
        assert_eq!(set, expected, "{inherited:?}");
    }
}

#[test]
fn children_get_the_limit_that_burin_was_started_with() {
    let test = "process::file_limit::tests::children_get_the_limit_that_burin_was_started_with";
    if !is_reexec() {
        let shell = ["sh", "-c", "ulimit -S -n 300; exec \"$@\"", "sh"];
        reexec_test(test, &shell, &[]).expect("sh");
        return;
    }
    raise_file_limit();
    let raised = getrlimit(Resource::Nofile);
    assert!(
        raised.current.is_none_or(|current| current > 300),
        "{raised:?}"
    );
    let folder = TempFolder::new().expect("a folder");
    // The limit of a process that was just started may be set a moment later.
    let script = "read -r line; ulimit -S -n";
    let mut request = ProcessRequest::new("sh", folder.path()).with_arguments(["-c", script]);
    request.input = b"go\n".to_vec();
    assert_eq!(run(&request).expect("sh").text(), "300\n");
    for terminal in [
        None,
        Some(crate::process::TerminalSize {
            rows: 9,
            columns: 9,
        }),
    ] {
        let heard = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
        let sink = heard.clone();
        let launch = LaunchRequest {
            program: "sh".into(),
            arguments: vec![
                "-c".into(),
                "until [ -e go ]; do sleep 0.01; done; ulimit -S -n".into(),
            ],
            folder: folder.path().clone(),
            variables: vec![("PATH".into(), "/usr/bin:/bin".into())],
            terminal,
            sandbox: None,
        };
        let sink = move |bytes: &[u8]| sink.lock().expect("no panic").extend_from_slice(bytes);
        let spawned = spawn(&launch, Box::new(sink)).expect("sh");
        std::fs::write(folder.path().join("go"), "").expect("a file");
        spawned.exit_receiver().recv_blocking().expect("its end");
        let text = String::from_utf8_lossy(&heard.lock().expect("no panic")).into_owned();
        assert_eq!(text.trim(), "300", "{terminal:?}");
        std::fs::remove_file(folder.path().join("go")).expect("a file");
    }
}

#[test]
fn a_restorer_without_a_raised_limit_changes_nothing() {
    let before = getrlimit(Resource::Nofile);
    restorer()().expect("no change");
    assert_eq!(getrlimit(Resource::Nofile), before);
}
