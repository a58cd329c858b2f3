//! The attacks of hostile streams: each returns one piece of output.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rand::Rng as _;
use rand::rngs::StdRng;

use super::{Attack, FOREIGN, PAYLOAD, one_of};

/// Attacks with short pieces, which occur between those of every stream.
pub(in super::super) const SMALL: &[Attack] = &[
    titles,
    clipboards,
    forged_commands,
    foreign_folders,
    lying_links,
    paste_terminators,
    color_queries,
    window_queries,
    capability_queries,
    wide_characters,
    cut_characters,
    eight_bit_controls,
];

const TERMINATORS: [&str; 5] = ["\x07", "\x1b\\", "\x18", "\x1a", ""];

fn terminator(random: &mut StdRng) -> &'static str {
    TERMINATORS[random.random_range(0..TERMINATORS.len())]
}

pub(in super::super) fn titles(random: &mut StdRng) -> Vec<u8> {
    one_of(
        random,
        &[
            "\x1b]0;{}\x07",
            "\x1b]2;{}\nrm -rf\r\x1b\\",
            "\x1b]2;\u{202e}{}\u{9c}\x07",
            "\x1b]l{}\x1b\\",
            "\x1b[20t",
            "\x1b[21t",
            "\x1b[21;1t",
            "\x1b[22;0t",
            "\x1b[23;0t",
            "\x1b[c",
            "\x1b[>c",
            "\x1b[=c",
            "\x1b[5n",
            "\x1b[6n",
            "\x1b[?6n",
            "\x1b[>q",
            "\x05",
            "\x1bZ",
        ],
    )
}

pub(in super::super) fn clipboards(random: &mut StdRng) -> Vec<u8> {
    let letter = ["c", "p", "s", "cs", "q", "0", "", "c;c"][random.random_range(0..8)];
    let content = match random.random_range(0..5) {
        0 => "?".to_owned(),
        1 => STANDARD.encode(format!("{PAYLOAD}\nrm -rf\r")),
        2 => STANDARD.encode([0xff, 0x1b, b'\n']),
        3 => format!("{PAYLOAD}!"),
        _ => String::new(),
    };
    format!("\x1b]52;{letter};{content}{}", terminator(random)).into_bytes()
}

pub(in super::super) fn endless_strings(random: &mut StdRng) -> Vec<u8> {
    let mut bytes = one_of(
        random,
        &[
            "\x1b]2;",
            "\x1b]52;c;",
            "\x1b]8;;https://",
            "\x1b]133;",
            "\x1b]633;E;",
            "\x1b]1337;File=:",
            "\x1b]4;1;",
            "\x1bP",
            "\x1b_G",
            "\x1b^",
            "\x1bX",
        ],
    );
    let length = [10, 1_000, 70_000, 200_000, 1_060_000][random.random_range(0..5)];
    bytes.extend(PAYLOAD.bytes().cycle().take(length));
    if random.random_bool(0.5) {
        bytes.extend(terminator(random).bytes());
    }
    bytes
}

pub(in super::super) fn forged_commands(random: &mut StdRng) -> Vec<u8> {
    one_of(
        random,
        &[
            "\x1b]633;E;{}\x07",
            "\x1b]633;E;{};\x07",
            "\x1b]633;E;{};0123456789abcdeg\x07",
            "\x1b]633;E;{};0123456789ABCDEF\x1b\\",
            "\x1b]633;E;{};0123456789abcdef;\x07",
            "\x1b]633;E;{};0123456789abcdef \x07",
            "\x1b]633;E;{};0123456789abcde\x07",
            "\x1b]633;E;\\x1b[201~{}\\x0a;{}\x07",
            "\x1b]633;A\x07",
            "\x1b]633;B\x07{}",
            "\x1b]633;C\x07{}\r\n",
            "\x1b]633;D;{}\x07",
            "\x1b]133;A;k=s\x07",
            "\x1b]133;A;aid={}\x07",
            "\x1b]133;B\x07{}\r\n{}",
            "\x1b]133;C\x07",
            "\x1b]133;D;99999999999\x07",
            "\x1b]133;D;-1\x07",
        ],
    )
}

pub(in super::super) fn foreign_folders(random: &mut StdRng) -> Vec<u8> {
    let address = match random.random_range(0..9) {
        0 => format!("7;file://far.example/{FOREIGN}"),
        1 => format!("7;file://far/{FOREIGN}"),
        2 => format!("7;file://box@far/{FOREIGN}"),
        3 => format!("7;file:///a%0a{FOREIGN}"),
        4 => format!("7;file:///a%00{FOREIGN}"),
        5 => format!("7;http://box/{FOREIGN}"),
        6 => format!("7;kitty-shell-cwd://far/{FOREIGN}"),
        7 => format!("1337;CurrentDir={FOREIGN}"),
        _ => "7;file://box/own".to_owned(),
    };
    format!("\x1b]{address}{}", terminator(random)).into_bytes()
}

pub(in super::super) fn lying_links(random: &mut StdRng) -> Vec<u8> {
    let target = match random.random_range(0..7) {
        0 => format!("javascript:{PAYLOAD}"),
        1 => format!("file://far/{FOREIGN}"),
        2 => format!("https://{PAYLOAD}.example"),
        3 => "l".repeat(random.random_range(1_900..2_300)),
        4 => format!("ssh://{PAYLOAD}"),
        5 => format!("file:///a%0a{FOREIGN}"),
        _ => String::new(),
    };
    let id = ["", "id=1", "id=1:id=2", ":::"][random.random_range(0..4)];
    let end = terminator(random);
    format!("\x1b]8;{id};{target}{end}https://good.example").into_bytes()
}

pub(in super::super) fn paste_terminators(random: &mut StdRng) -> Vec<u8> {
    one_of(
        random,
        &[
            "\x1b[200~{}\r\n\x1b[201~",
            "\x1b[201~{}\n",
            "\x1b[?2004h",
            "\x1b[?2004l",
            "\x1b[?2004h\x1b]133;B\x07",
            "\x1b[200~",
        ],
    )
}

pub(in super::super) fn mark_floods(random: &mut StdRng) -> Vec<u8> {
    let cycle = one_of(
        random,
        &[
            "\x1b]133;A\x07\x1b]133;B\x07\x1b]133;C\x07\x1b]133;D;1\x07",
            "\x1b]133;A\x07\r\n\x1b]133;C\x07",
            "\x1b]633;A\x07\x1b]633;E;{}\x07\x1b]633;C\x07\x1b]633;D\x07",
            "\x1b]133;C\x07\x1b]133;D\x07",
        ],
    );
    cycle.repeat(random.random_range(100..400))
}

pub(in super::super) fn resize_storms(random: &mut StdRng) -> Vec<u8> {
    one_of(
        random,
        &[
            "a line that is long enough to wrap in every grid of these sizes {}",
            "漢字漢字漢字漢字漢字漢字\r\n",
            "\x1b[999;999H{}",
            "\x1b[?1049h{}\x1b[2;4r",
            "\x1b[?1049l",
            "\x1b7\x1b[99B\r\n\r\n\x1b8",
            "\x1b]133;A\x07$ \x1b]133;B\x07{}\x1b]133;C\x07\r\n",
            "\x1b[8;3;7t\x1b[?3h",
            "\t\t\t\x1b[20b",
        ],
    )
}

pub(in super::super) fn endless_updates(random: &mut StdRng) -> Vec<u8> {
    one_of(
        random,
        &[
            "\x1b[?2026h",
            "\x1b[?2026h\x1b[?2026h{}",
            "{} hidden\r\n",
            "\x1b]133;A\x07",
            "\x1b]2;{}\x07",
            "\x1b[c",
            "\x1b[?2026l",
            "\x1b[?2026$p",
            "\x1b]133;C\x07",
        ],
    )
}

pub(in super::super) fn bell_floods(random: &mut StdRng) -> Vec<u8> {
    let piece = one_of(
        random,
        &[
            "\x07",
            "\x1b]9;{}\x07",
            "\x1b]777;notify;{}\x1b[31m;{}\n\x07",
            "\x1b]777;notify;{};{}\n\x07",
            "\x1b]9;4;1;250\x07",
            "\x1b[6n",
            "\x1b]52;c;YQ==\x07",
            "\x1b]10;?\x07",
        ],
    );
    piece.repeat(random.random_range(1..500))
}

pub(in super::super) fn color_queries(random: &mut StdRng) -> Vec<u8> {
    let index = random.random_range(0..300);
    match random.random_range(0..6) {
        0 => format!("\x1b]4;{index};?\x07").into_bytes(),
        1 => format!("\x1b]4;{index};#102030\x1b\\\x1b]4;{index};?\x1b\\").into_bytes(),
        2 => format!("\x1b]4;{}\x07", "1;?;".repeat(index)).into_bytes(),
        _ => one_of(
            random,
            &[
                "\x1b]10;?;?;?;?\x07",
                "\x1b]11;rgb:1/2/3\x07\x1b]11;?\x07",
                "\x1b]12;{}\x07\x1b]12;?\x1b\\",
                "\x1b]4;{};?\x07",
                "\x1b]104\x07\x1b]110\x07",
                "\x1b]13;?\x07",
                "\x1b]10;{};?\x07",
            ],
        ),
    }
}

pub(in super::super) fn window_queries(random: &mut StdRng) -> Vec<u8> {
    one_of(
        random,
        &[
            "\x1b[11t",
            "\x1b[13t",
            "\x1b[14t",
            "\x1b[14;2t",
            "\x1b[15t",
            "\x1b[16t",
            "\x1b[18t",
            "\x1b[19t",
            "\x1b[8;9999;9999t",
            "\x1b[4;1;1t",
            "\x1b[9;1t",
            "\x1b[?3h",
            "\x1b[?3l",
        ],
    )
}

pub(in super::super) fn capability_queries(random: &mut StdRng) -> Vec<u8> {
    one_of(
        random,
        &[
            "\x1bP$q\"p\x1b\\",
            "\x1bP$q{}\x1b\\",
            "\x1bP+q544e;{}\x1b\\",
            "\x1bP+p{}\x1b\\",
            "\x1b[?1$p",
            "\x1b[?65535$p",
            "\x1b[4$p",
            "\x1b[20$p",
            "\x1b[1;1;1;1;5;5*y",
            "\x1b[x",
            "\x1b[&w",
            "\x1b[1$w",
        ],
    )
}

pub(in super::super) fn keyboard_stacks(random: &mut StdRng) -> Vec<u8> {
    let piece = one_of(
        random,
        &[
            "\x1b[>31u",
            "\x1b[>1u",
            "\x1b[<u",
            "\x1b[<65535u",
            "\x1b[=31;1u",
            "\x1b[=8;2u",
            "\x1b[=99999;3u",
            "\x1b[?u",
            "\x1b[?1049h",
            "\x1b[?1049l",
            "\x1b[>4;2m",
            "\x1b[?4m",
            "\x1bc",
        ],
    );
    piece.repeat(random.random_range(1..300))
}

pub(in super::super) fn wide_characters(random: &mut StdRng) -> Vec<u8> {
    one_of(
        random,
        &[
            "\x1b[999C漢",
            "\x1b[999C\x1b[D漢x",
            "\x1b[?7l漢漢漢",
            "\x1b[?7h",
            "漢\x1b[D\x1b[X",
            "漢\x1b[2D\x1b[X",
            "漢字\x1b[3D\x1b[P",
            "漢字\x1b[3D\x1b[@",
            "漢\x1b[D\x1b[K",
            "漢\x1b[D\x1b[1K",
            "字\x1b[20b",
            "\x1b[4h字\x1b[2D漢",
            "\x1b[4l",
            "\u{1f469}\u{200d}\u{1f33e}\x08字",
            "\x1b[D漢",
            "\r字\t漢",
        ],
    )
}

pub(in super::super) fn zero_width_floods(random: &mut StdRng) -> Vec<u8> {
    let piece = one_of(
        random,
        &[
            "\u{301}",
            "\u{200d}",
            "\u{fe0f}",
            "\u{202e}",
            "e\u{301}",
            "\u{1f469}\u{200d}",
            "\u{300}\u{301}\u{302}",
            "漢\u{fe00}",
        ],
    );
    piece.repeat(random.random_range(1..1_000))
}

pub(in super::super) fn cut_characters(random: &mut StdRng) -> Vec<u8> {
    const CUT: [&[u8]; 12] = [
        b"\xe6\xbc",
        b"\xe6",
        b"\xf0\x9f\x91",
        b"\xf0\x9f",
        b"\xc3",
        b"\xc0\x80",
        b"\xe0\x80\x9d",
        b"\xed\xa0\x80",
        b"\xf4\x90\x80\x80",
        b"\xf8\x88\x80\x80\x80",
        b"\xff\xfe",
        b"\xbf\xbf",
    ];
    const NEXT: [&[u8]; 7] = [
        b"",
        b"x",
        b"\x1b[m",
        b"\r\n",
        b"\x1b]133;A\x07",
        "漢".as_bytes(),
        b"\x1b]2;t\xe6\x07",
    ];
    let cut = CUT[random.random_range(0..CUT.len())];
    let next = NEXT[random.random_range(0..NEXT.len())];
    [cut, next].concat()
}

pub(in super::super) fn eight_bit_controls(random: &mut StdRng) -> Vec<u8> {
    const STRINGS: [&[u8]; 8] = [
        b"\x9b6n",
        b"\x90$qm\x9c",
        b"\x9d52;c;?\x9c",
        b"\x9d2;evil7f\x9c",
        b"\x9d133;A\x9c",
        b"\x9fevil7f\x9c",
        b"\xc2\x9b6n",
        b"\xc2\x9d2;evil7f\xc2\x9c",
    ];
    if random.random_bool(0.5) {
        return STRINGS[random.random_range(0..STRINGS.len())].to_vec();
    }
    let control = random.random_range(0x80..=0x9f_u8);
    if random.random_bool(0.5) {
        vec![control]
    } else {
        vec![0xc2, control]
    }
}
