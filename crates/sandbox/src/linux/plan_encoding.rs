//! A plan encoded as one byte string, read by the launcher's children without allocating.
//!
//! Invariant: `PlanView` reads what `EncodedPlan` writes; an offset out of range yields `None`, and
//! the step that needed it fails.

use std::ffi::CStr;

use super::kernel::Attributes;

/// The kind of a setup step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SetupOp {
    /// Check that the path is still the same file: device `a`, inode `b`.
    Same = 1,
    /// Set flags `a` and clear flags `b` of the mounts at the path.
    Attributes,
    /// Copy the mount at the path into the slot, with flags `a` set and `b` cleared.
    Copy,
    /// Attach the slot's mount at the path.
    Place,
    /// Mount a file system of type `other` at the path, with flags `a` and the options `options`.
    Mount,
    /// Create a folder with mode `a`.
    Folder,
    /// Create an empty file.
    File,
    /// Create a symbolic link to `other`.
    Link,
    /// Limit the resource `a` to `b`.
    Limit,
}

const KINDS: [SetupOp; 9] = [
    SetupOp::Same,
    SetupOp::Attributes,
    SetupOp::Copy,
    SetupOp::Place,
    SetupOp::Mount,
    SetupOp::Folder,
    SetupOp::File,
    SetupOp::Link,
    SetupOp::Limit,
];

/// The step may fail without consequence.
pub(super) const OPTIONAL: u32 = 1;
/// Include all mounts beneath.
pub(super) const RECURSIVE: u32 = 2;
/// Create missing parent folders and the path itself as a folder.
pub(super) const MAKE_FOLDER: u32 = 4;
/// Create the path as an empty file if it is missing.
pub(super) const MAKE_FILE: u32 = 8;

/// A setup step; its strings are offsets into the text.
#[derive(Clone, Copy, Debug)]
pub(super) struct SetupStep {
    pub(super) kind: SetupOp,
    pub(super) flags: u32,
    pub(super) path: u32,
    pub(super) other: u32,
    pub(super) options: u32,
    pub(super) slot: u32,
    pub(super) a: u64,
    pub(super) b: u64,
}

impl SetupStep {
    const WORDS: usize = 5;

    /// Encodes the step; `from` is the inverse.
    fn to_words(self) -> [u64; Self::WORDS] {
        let pair = |low: u32, high: u32| u64::from(low) | u64::from(high) << 32;
        [
            pair(self.kind as u32, self.flags),
            pair(self.path, self.other),
            pair(self.options, self.slot),
            self.a,
            self.b,
        ]
    }

    /// Decodes a step; `None` if its kind is unknown.
    fn from(words: [u64; Self::WORDS]) -> Option<Self> {
        let kind = words[0] as u32;
        Some(Self {
            kind: KINDS.into_iter().find(|known| *known as u32 == kind)?,
            flags: (words[0] >> 32) as u32,
            path: words[1] as u32,
            other: (words[1] >> 32) as u32,
            options: words[2] as u32,
            slot: (words[2] >> 32) as u32,
            a: words[3],
            b: words[4],
        })
    }

    /// Returns the mount attributes that this step changes.
    pub(super) fn attributes(self) -> Attributes {
        Attributes {
            set: self.a,
            clear: self.b,
            propagation: 0,
            is_recursive: self.flags & RECURSIVE != 0,
        }
    }
}

/// The fixed-size part of a plan.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PlanHeader {
    /// The flags of `clone`.
    pub(super) clone: u64,
    pub(super) switches: u64,
    pub(super) user: u64,
    pub(super) group: u64,
    pub(super) steps: u64,
    pub(super) rules: u64,
    pub(super) program: u64,
    pub(super) text: u64,
    /// The access rights that Landlock's ruleset handles.
    pub(super) handled: [u64; 3],
    /// Landlock's rights on the streams of a command.
    pub(super) stream: u64,
    /// The highest process id in the namespace; 0 keeps the default.
    pub(super) pid_max: u64,
    /// Loopback ports that are forwarded to the machine, four per word, IPv4 first; 0 is none.
    pub(super) ports: [u64; PORT_WORDS],
}

const PORT_WORDS: usize = 8;

/// The bits of `PlanHeader::switches`.
pub(super) const LANDLOCK: u64 = 1;
pub(super) const SECCOMP: u64 = 2;
pub(super) const NO_NEW_PRIVS: u64 = 4;
pub(super) const WARM: u64 = 8;
pub(super) const PROXY: u64 = 16;
pub(super) const NAMESPACES: u64 = 32;
pub(super) const NETWORK: u64 = 64;
pub(super) const MOUNTS: u64 = 128;

const HEAD_WORDS: usize = 13 + PORT_WORDS;

impl PlanHeader {
    /// Encodes the header; `from` is the inverse.
    fn to_words(self) -> [u64; HEAD_WORDS] {
        let [files, network, scopes] = self.handled;
        let [a, b, c, d, e, f, g, h] = self.ports;
        [
            self.clone,
            self.switches,
            self.user,
            self.group,
            self.steps,
            self.rules,
            self.program,
            self.text,
            files,
            network,
            scopes,
            self.stream,
            self.pid_max,
            a,
            b,
            c,
            d,
            e,
            f,
            g,
            h,
        ]
    }

    fn from(words: [u64; HEAD_WORDS]) -> Self {
        Self {
            clone: words[0],
            switches: words[1],
            user: words[2],
            group: words[3],
            steps: words[4],
            rules: words[5],
            program: words[6],
            text: words[7],
            handled: [words[8], words[9], words[10]],
            stream: words[11],
            pid_max: words[12],
            ports: std::array::from_fn(|ix| words[13 + ix]),
        }
    }

    /// Sets the forwarded ports; ports beyond the capacity are dropped.
    pub(super) fn set_ports(&mut self, four: &[u16], six: &[u16]) {
        const HALF: usize = 2 * PORT_WORDS;
        let four = four.iter().take(HALF).enumerate();
        let six = six.iter().take(HALF).enumerate();
        for (ix, port) in four.chain(six.map(|(ix, port)| (HALF + ix, port))) {
            self.ports[ix / 4] |= u64::from(*port) << (16 * (ix % 4));
        }
    }

    /// Returns the forwarded ports, and whether each is an IPv6 port.
    pub(super) fn ports(self) -> impl Iterator<Item = (u16, bool)> {
        let port = move |ix: usize| {
            let port = (self.ports[ix / 4] >> (16 * (ix % 4))) as u16;
            (port, ix >= 2 * PORT_WORDS)
        };
        (0..4 * PORT_WORDS).map(port).filter(|(port, _)| *port != 0)
    }

    /// Returns whether a bit of `switches` is set.
    pub(super) fn has(self, switch: u64) -> bool {
        self.switches & switch != 0
    }
}

/// A plan being encoded.
#[derive(Debug, Default)]
pub(super) struct EncodedPlan {
    pub(super) head: PlanHeader,
    pub(super) steps: Vec<SetupStep>,
    /// Landlock's rights, and the offset of the path.
    pub(super) rules: Vec<(u64, u32)>,
    pub(super) program: Vec<u8>,
    pub(super) text: Vec<u8>,
}

impl EncodedPlan {
    /// Adds a string to the text and returns its offset; the string ends at its first NUL.
    pub(super) fn text(&mut self, text: &[u8]) -> u32 {
        let place = self.text.len() as u32;
        self.text.extend(text);
        self.text.push(0);
        place
    }

    pub(super) fn write(&self) -> Vec<u8> {
        let mut head = self.head;
        head.steps = self.steps.len() as u64;
        head.rules = self.rules.len() as u64;
        head.program = self.program.len() as u64;
        head.text = self.text.len() as u64;
        let mut words: Vec<u64> = head.to_words().into();
        words.extend(self.steps.iter().flat_map(|step| step.to_words()));
        let rules = self.rules.iter();
        words.extend(rules.flat_map(|(rights, path)| [*rights, u64::from(*path)]));
        let mut bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
        bytes.extend(&self.program);
        bytes.extend(&self.text);
        bytes
    }
}

/// A read-only view of an encoded plan.
#[derive(Clone, Copy)]
pub(super) struct PlanView<'a> {
    pub(super) head: PlanHeader,
    bytes: &'a [u8],
}

/// Returns the word at the index `ix`, counted in words of eight bytes; 0 beyond the end.
fn read_word(bytes: &[u8], ix: usize) -> u64 {
    let mut word = [0; 8];
    if let Some(found) = bytes.get(8 * ix..8 * ix + 8) {
        word.copy_from_slice(found);
    }
    u64::from_ne_bytes(word)
}

impl<'a> PlanView<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        let mut words = [0; HEAD_WORDS];
        for (ix, place) in words.iter_mut().enumerate() {
            *place = read_word(bytes, ix);
        }
        Self {
            head: PlanHeader::from(words),
            bytes,
        }
    }

    /// Returns the step at an index; `None` if there is none or its kind is unknown.
    pub(super) fn step(&self, ix: usize) -> Option<SetupStep> {
        let first = HEAD_WORDS + SetupStep::WORDS * ix;
        let mut words = [0; SetupStep::WORDS];
        for (offset, place) in words.iter_mut().enumerate() {
            *place = read_word(self.bytes, first + offset);
        }
        SetupStep::from(words)
    }

    /// Returns Landlock's rights and the path that they apply to.
    pub(super) fn rule(&self, ix: usize) -> Option<(u64, &'a CStr)> {
        let first = HEAD_WORDS + SetupStep::WORDS * self.head.steps as usize + 2 * ix;
        let rights = read_word(self.bytes, first);
        Some((rights, self.text(read_word(self.bytes, first + 1) as u32)?))
    }

    /// Returns the byte offset of the filter program, which follows header, steps and rules.
    fn program_start(&self) -> usize {
        let steps = SetupStep::WORDS * self.head.steps as usize;
        8 * (HEAD_WORDS + steps + 2 * self.head.rules as usize)
    }

    pub(super) fn program(&self) -> &'a [u8] {
        let start = self.program_start();
        let end = start + self.head.program as usize;
        self.bytes.get(start..end).unwrap_or_default()
    }

    /// Returns the string at an offset of the text; `None` if it is out of range or no NUL follows.
    pub(super) fn text(&self, place: u32) -> Option<&'a CStr> {
        let start = self.program_start() + self.head.program as usize + place as usize;
        CStr::from_bytes_until_nul(self.bytes.get(start..)?).ok()
    }
}
