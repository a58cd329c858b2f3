//! The flags of a file (`chflags`), which macOS has in addition to the mode.

/// Not to be dumped.
const NODUMP: u32 = 0x1;
/// May not be changed, or only be appended to: for the owner, and for the superuser.
const IMMUTABLE: [u32; 4] = [0x2, 0x4, 0x2_0000, 0x4_0000];
/// Hidden in Finder.
const HIDDEN: u32 = 0x8000;
/// The flags to copy. They describe the file rather than its storage: setting the flag does not
/// compress or track a file, and other flags require the superuser.
const COPIED: u32 = NODUMP | HIDDEN;

/// The treatment of an old file's flags on the file that replaces it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FlagCopy {
    /// The new file has them.
    Same,
    /// The new file must be given these flags.
    Set(u32),
    /// Only the old file can have them.
    Impossible,
}

/// Decides how to copy flags, given those of the old and the new file.
pub(super) fn copied_flags(old: u32, new: u32) -> FlagCopy {
    if IMMUTABLE.iter().any(|flag| old & flag != 0) {
        return FlagCopy::Impossible;
    }
    let wanted = new & !COPIED | old & COPIED;
    if wanted == new {
        FlagCopy::Same
    } else {
        FlagCopy::Set(wanted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_descriptive_flags_are_copied() {
        /// Flags that the system sets itself.
        const COMPRESSED: u32 = 0x20;
        const RESTRICTED: u32 = 0x8_0000;
        for (old, new, wanted) in [
            (0, 0, FlagCopy::Same),
            (HIDDEN, 0, FlagCopy::Set(HIDDEN)),
            (HIDDEN, HIDDEN, FlagCopy::Same),
            (0, HIDDEN, FlagCopy::Set(0)),
            (COMPRESSED | RESTRICTED, 0, FlagCopy::Same),
            (COMPRESSED | NODUMP, 0, FlagCopy::Set(NODUMP)),
            (0, RESTRICTED, FlagCopy::Same),
            (0x2, 0, FlagCopy::Impossible),
            (0x4_0000 | HIDDEN, HIDDEN, FlagCopy::Impossible),
        ] {
            assert_eq!(copied_flags(old, new), wanted, "{old:#x} {new:#x}");
        }
    }
}
