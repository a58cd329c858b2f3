//! How orders begin and end.

use super::*;

fn processes(mark: &str) -> usize {
    let is_marked = |entry: fs::DirEntry| {
        let line = fs::read(entry.path().join("cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains(mark)
    };
    fs::read_dir("/proc")
        .expect("processes")
        .flatten()
        .filter(|_| true)
        .map(is_marked)
        .filter(|is| *is)
        .count()
}

#[test]
fn codes_and_signals_come_back() {
    let home = Home::new();
    check(&home.policy(), "exit 7", 7);
    let outcome = run(&home.policy(), "kill -TERM $$");
    assert_eq!(outcome.finished.end, End::Signal(15));
}

#[test]
fn what_a_command_leaves_behind_ends_with_it() {
    let home = Home::new();
    let room = Room::open(&home.policy()).expect("a room");
    for script in [
        "setsid sleep 86401 & exit 0",
        "(setsid sh -c 'sleep 86401 & sleep 86401' &) & exit 0",
        "nohup sleep 86401 >/dev/null 2>&1 & exit 0",
    ] {
        let outcome = run_in(&room, &home.work(), script);
        assert_eq!(outcome.finished.end, End::Exit(0));
        assert_eq!(processes("86401"), 0, "{script}");
        check(&home.policy(), script, 0);
        assert_eq!(processes("86401"), 0, "{script}");
    }
}

#[test]
fn an_order_is_ended_from_elsewhere() {
    let home = Home::new();
    let room = Room::open(&home.policy()).expect("a room");
    for is_kept in [true, false] {
        let (order, reader) = shell(&home.work(), "setsid sleep 86402 & sleep 86402");
        let running = match is_kept {
            true => room.start(order),
            false => crate::start(&home.policy(), order),
        };
        let running = running.expect("an order");
        assert_ne!(running.id(), 0);
        let ender = running.ender();
        ender.end();
        assert_eq!(processes("86402"), 0);
        assert_eq!(running.wait().end, End::Signal(9));
        drop(reader);
    }
}

#[test]
fn a_signal_reaches_the_command() {
    let home = Home::new();
    let (order, mut reader) = shell(
        &home.work(),
        "trap 'exit 3' INT; echo up; while :; do sleep 0.01; done",
    );
    let running = crate::start(&home.policy(), order).expect("an order");
    let mut up = [0; 3];
    reader.read_exact(&mut up).expect("up");
    running.ender().signal(libc::SIGINT);
    assert_eq!(running.wait().end, End::Exit(3));
}

#[test]
fn orders_of_a_room_share_its_private_folder_and_nothing_else() {
    let home = Home::new();
    let room = Room::open(&home.policy()).expect("a room");
    let work = home.work();
    assert_eq!(
        run_in(&room, &work, "echo kept > /tmp/note").finished.end,
        End::Exit(0)
    );
    assert_eq!(run_in(&room, &work, "cat /tmp/note").text, "kept\n");
    assert_eq!(
        run_in(&room, &work, "echo $$; ls -d /proc/[0-9]* | wc -l")
            .text
            .lines()
            .next(),
        Some("2")
    );
    assert!(!Path::new("/tmp/note").exists());
    assert_eq!(
        run_in(&room, &work, "echo x > ../y").finished.denials.len(),
        1
    );
    assert_eq!(run_in(&room, &work, "true").finished.denials, []);
}

#[test]
fn many_orders_at_once() {
    let home = Home::new();
    let room = Arc::new(Room::open(&home.policy()).expect("a room"));
    let threads = (0..8).map(|number| {
        let (room, work) = (room.clone(), home.work());
        std::thread::spawn(move || {
            for round in 0..5 {
                let outcome = run_in(&room, &work, &format!("echo {number} {round}"));
                assert_eq!(outcome.text, format!("{number} {round}\n"));
            }
        })
    });
    for thread in threads.collect::<Vec<_>>() {
        thread.join().expect("a thread");
    }
}

#[test]
fn a_dropped_room_ends_what_runs_in_it() {
    let home = Home::new();
    let room = Room::open(&home.policy()).expect("a room");
    let (order, _reader) = shell(&home.work(), "sleep 86403");
    let running = room.start(order).expect("an order");
    drop(running);
    assert_eq!(processes("86403"), 0);
    drop(room);
}
