//! The terminals of a window, with a real shell.

use std::fs;
use std::path::Path;

use crate::desk::Desk;

/// Returns the id of a process that a shell wrote to a file.
fn written_pid(file: &Path) -> Option<u32> {
    fs::read_to_string(file).ok()?.trim().parse().ok()
}

fn is_running(pid: u32) -> bool {
    Path::new(&format!("/proc/{pid}/stat")).exists()
}

#[test]
fn a_shell_in_the_window_ends_with_it_and_its_text_comes_back() {
    let Some(desk) = Desk::new() else {
        return test_support::skip("needs Xvfb, xdotool and git");
    };
    if !Path::new("/proc/self/stat").exists() {
        return test_support::skip("needs /proc");
    }
    let folder = desk.folder().join("project");
    fs::create_dir(&folder).expect("a folder");
    fs::write(folder.join("notes.txt"), "one\ntwo\n").expect("a file");
    let burin = desk.start(&[folder.as_os_str()]);

    desk.showing("the terminal", |desk| desk.keys(&["ctrl+grave"]));
    desk.type_text("pwd > where.txt");
    desk.keys(&["Return"]);
    let place = folder.join("where.txt");
    desk.until("the command", 30, || {
        let said = fs::read_to_string(&place).unwrap_or_default();
        said.trim_end() == folder.display().to_string()
    });

    // A key of the window works, all others are the shell's.
    desk.type_text("cat > typed.txt");
    desk.keys(&["Return"]);
    desk.type_text("braces {[|]} \\ ~ @");
    desk.keys(&["Return", "ctrl+d"]);
    desk.until("the typed text", 30, || {
        fs::read_to_string(folder.join("typed.txt")).is_ok_and(|it| it == "braces {[|]} \\ ~ @\n")
    });
    desk.picture("terminal-1-shell");

    // The program in the terminal ends with the window, however it ends.
    let pid = folder.join("pid.txt");
    desk.type_text("sh -c 'echo $$ > pid.txt; exec sleep 1000'");
    desk.keys(&["Return"]);
    desk.until("the program", 30, || written_pid(&pid).is_some());
    let pid = written_pid(&pid).expect("a process");
    assert!(is_running(pid));
    let saved = desk.folder().join("state/terminals");
    desk.until("the saved terminal", 30, || {
        fs::read_dir(&saved).is_ok_and(|mut it| it.next().is_some())
    });
    drop(burin);
    desk.until("the end of the program", 30, || !is_running(pid));

    // The text comes back, with a new shell in the same folder.
    let burin = desk.start(&[folder.as_os_str()]);
    desk.until("the restored window", 60, || desk.stands_still(3));
    desk.picture("terminal-2-restored");
    desk.keys(&["ctrl+grave"]);
    desk.until("the focus", 60, || desk.stands_still(3));
    desk.type_text("pwd > again.txt");
    desk.keys(&["Return"]);
    let again = folder.join("again.txt");
    desk.until("the new shell", 30, || {
        let said = fs::read_to_string(&again).unwrap_or_default();
        said.trim_end() == folder.display().to_string()
    });
    drop(burin);
}
