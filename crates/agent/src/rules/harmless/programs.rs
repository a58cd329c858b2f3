//! Programs that only read, with the options that keep them from doing more.
//!
//! Excluded are options that write files, run programs, read a list of file names from a file, or
//! take a file whose contents are shown.

use super::options::{Operands, ReadOnlyOptions};

/// Looks up the options of a program by its exact name; `None` if it is not known to only read.
pub(super) fn named(name: &str) -> Option<&'static ReadOnlyOptions> {
    let found = PROGRAMS.iter().find(|(names, _)| {
        let mut names = names.split_whitespace();
        names.any(|other| other == name)
    });
    found.map(|(_, options)| options)
}

/// A program on files that only reads, whatever its options.
const fn tame(
    flags: &'static str,
    valued: &'static str,
    long: &'static [&'static str],
) -> ReadOnlyOptions {
    ReadOnlyOptions {
        flags,
        valued,
        long,
        is_tame: true,
        ..ReadOnlyOptions::NONE
    }
}

/// A program whose words do not name files.
const fn texts(
    flags: &'static str,
    valued: &'static str,
    long: &'static [&'static str],
) -> ReadOnlyOptions {
    ReadOnlyOptions {
        operands: Operands::Texts,
        ..tame(flags, valued, long)
    }
}

// tidy: table
const PROGRAMS: &[(&str, ReadOnlyOptions)] = &[
    (
        "ls dir vdir",
        tame(
            "aAbBcCdfFgGhHiklLmnNopqQrRsStuUvxXZ1",
            "ITw",
            &[
                "all almost-all author escape block-size= ignore-backups color? directory file-type format= full-time \
                 classify? group-directories-first no-group human-readable si dereference hide= hyperlink? inode \
                 ignore= kibibytes literal numeric-uid-gid quote-name quoting-style= reverse recursive size sort= \
                 time= time-style= tabsize= width= context zero",
            ],
        ),
    ),
    (
        "cat tac rev",
        tame(
            "AbeEnstTuvr",
            "",
            &[
                "show-all number number-nonblank show-ends squeeze-blank show-tabs show-nonprinting before regex",
            ],
        ),
    ),
    (
        "nl",
        tame(
            "p",
            "bdfhilnsvw",
            &[
                "body-numbering= number-width= number-format= number-separator= starting-line-number= no-renumber",
            ],
        ),
    ),
    (
        "head tail",
        ReadOnlyOptions {
            has_numbers: true,
            ..tame(
                "fFqvz",
                "cns",
                &[
                    "bytes= lines= quiet silent verbose zero-terminated follow? retry sleep-interval= pid=",
                ],
            )
        },
    ),
    (
        "wc",
        tame(
            "clLmw",
            "",
            &["bytes chars lines max-line-length words total="],
        ),
    ),
    ("pwd", texts("LP", "", &["logical physical"])),
    (
        "true false : whoami arch nproc tty logname hostname",
        NO_OPERANDS,
    ),
    (
        "uptime free",
        texts(
            "bghkmptsVw",
            "",
            &["human bytes kilo mega giga total wide pretty since"],
        ),
    ),
    ("which type", texts("afpPs", "", &["all skip-alias"])),
    (
        "id groups",
        texts("GgnruzZ", "", &["user group groups name real zero"]),
    ),
    (
        "uname",
        texts(
            "asnrvmpio",
            "",
            &[
                "all kernel-name nodename kernel-release kernel-version machine processor operating-system",
            ],
        ),
    ),
    (
        "basename dirname",
        texts("az", "s", &["multiple suffix= zero"]),
    ),
    (
        "realpath readlink",
        tame(
            "efmnqsvzLP",
            "",
            &[
                "canonicalize canonicalize-existing canonicalize-missing no-newline relative-to= relative-base= strip no-symlinks quiet zero",
            ],
        ),
    ),
    (
        "stat",
        tame(
            "fLtx",
            "c",
            &["dereference file-system format= printf= terse cached="],
        ),
    ),
    (
        "du",
        tame(
            "0abcDhHklLmsSx",
            "dBt",
            &[
                "null all apparent-size block-size= bytes total dereference-args max-depth= human-readable inodes \
                 dereference no-dereference separate-dirs si summarize threshold= time? time-style= exclude= \
                 one-file-system",
            ],
        ),
    ),
    (
        "df",
        tame(
            "ahHiklPTv",
            "Btx",
            &[
                "all block-size= human-readable si inodes local portability output? print-type total type= exclude-type=",
            ],
        ),
    ),
    (
        "cut",
        tame(
            "nsz",
            "bcdf",
            &[
                "bytes= characters= delimiter= fields= complement only-delimited output-delimiter= zero-terminated",
            ],
        ),
    ),
    (
        "tr",
        texts(
            "cCdst",
            "",
            &["complement delete squeeze-repeats truncate-set1"],
        ),
    ),
    (
        "comm",
        tame(
            "123iz",
            "",
            &["check-order nocheck-order output-delimiter= total zero-terminated"],
        ),
    ),
    (
        "diff",
        ReadOnlyOptions {
            has_numbers: true,
            ..tame(
                "abBcdeEiNnpqrstTuwyZ",
                "CDFIUWx",
                &[
                    "normal brief report-identical-files context? unified? ed rcs side-by-side width= left-column \
                     suppress-common-lines show-c-function show-function-line= label= expand-tabs initial-tab \
                     tabsize= recursive no-dereference new-file ignore-file-name-case exclude= ignore-case \
                     ignore-tab-expansion ignore-trailing-space ignore-space-change ignore-all-space \
                     ignore-blank-lines ignore-matching-lines= text strip-trailing-cr minimal \
                     speed-large-files color? palette=",
                ],
            )
        },
    ),
    (
        "cmp",
        tame(
            "bls",
            "in",
            &["print-bytes ignore-initial= verbose bytes= quiet silent"],
        ),
    ),
    (
        "md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum cksum shasum sum",
        tame(
            "bctwz",
            "al",
            &[
                "binary check text tag zero quiet status strict warn algorithm= length= ignore-missing",
            ],
        ),
    ),
    (
        "base64 base32",
        tame("di", "w", &["decode ignore-garbage wrap="]),
    ),
    (
        "od",
        tame(
            "abcdfiloOxsv",
            "AjNtwS",
            &[
                "address-radix= endian= skip-bytes= read-bytes= format= strings? output-duplicates width?",
            ],
        ),
    ),
    (
        "hexdump hd",
        tame("bcCdovxX", "nse", &["canonical no-squeezing length= skip="]),
    ),
    (
        "xxd",
        ReadOnlyOptions {
            operands: Operands::Files(1),
            is_tame: false,
            ..tame("abeEiprud", "cglos", &[])
        },
    ),
    (
        "strings",
        tame(
            "afow",
            "nte",
            &["all bytes= radix= encoding= print-file-name"],
        ),
    ),
    (
        "column",
        tame(
            "Jtxen",
            "csoNRHOWEdl",
            &["table separator= output-separator= columns= json table-columns= table-right="],
        ),
    ),
    (
        "expand unexpand",
        tame("aif", "t", &["initial all first-only tabs="]),
    ),
    (
        "fold fmt",
        ReadOnlyOptions {
            has_numbers: true,
            ..tame(
                "bcstu",
                "wgp",
                &["bytes spaces width= goal= crown-margin split-only uniform-spacing"],
            )
        },
    ),
    (
        "paste",
        tame("sz", "d", &["delimiters= serial zero-terminated"]),
    ),
    (
        "join",
        tame(
            "iz",
            "12aejotv",
            &["ignore-case check-order nocheck-order header zero-terminated"],
        ),
    ),
    (
        "seq",
        ReadOnlyOptions {
            has_numbers: true,
            ..texts("w", "fs", &["format= separator= equal-width"])
        },
    ),
    ("sleep expr", texts("", "", &[])),
    (
        "grep egrep fgrep",
        ReadOnlyOptions {
            has_numbers: true,
            operands: Operands::PatternAndFiles,
            ..tame(
                "abcEFGHhiIlLnoPqrRsTUvVwxyzZ",
                "ABCdDem",
                &[
                    "extended-regexp fixed-strings basic-regexp perl-regexp regexp= ignore-case no-ignore-case \
                     invert-match word-regexp line-regexp count color? colour? files-without-match \
                     files-with-matches max-count= only-matching quiet silent no-messages byte-offset \
                     with-filename no-filename label= line-number initial-tab null after-context= \
                     before-context= context= text binary-files= devices= directories= exclude= \
                     exclude-dir= include= recursive dereference-recursive line-buffered null-data",
                ],
            )
        },
    ),
    (
        "file",
        ReadOnlyOptions {
            is_tame: false,
            ..tame(
                "bEhikLNprsv",
                "eF",
                &[
                    "brief exclude= separator= mime mime-type mime-encoding dereference no-dereference keep-going extension raw",
                ],
            )
        },
    ),
    (
        "tree",
        ReadOnlyOptions {
            is_tame: false,
            ..tame(
                "adflixqNQpugshDFvtcUrASnCJX",
                "LPI",
                &[
                    "dirsfirst filelimit= noreport du si prune gitignore inodes device sort? charset= matchdirs ignore-case filesfirst metafirst",
                ],
            )
        },
    ),
    (
        "sort",
        ReadOnlyOptions {
            is_tame: false,
            ..tame(
                "bcCdfghiMmnrRsuVz",
                "kSt",
                &[
                    "ignore-leading-blanks dictionary-order ignore-case general-numeric-sort ignore-nonprinting \
                     month-sort human-numeric-sort numeric-sort random-sort reverse sort= version-sort batch-size= \
                     check? debug key= merge stable buffer-size= field-separator= parallel= unique \
                     zero-terminated",
                ],
            )
        },
    ),
    (
        "uniq",
        ReadOnlyOptions {
            operands: Operands::Files(1),
            is_tame: false,
            ..tame(
                "cdDiuz",
                "fsw",
                &[
                    "count repeated all-repeated? skip-fields= group? ignore-case skip-chars= unique zero-terminated check-chars=",
                ],
            )
        },
    ),
    (
        "rg",
        ReadOnlyOptions {
            operands: Operands::PatternAndFiles,
            is_tame: false,
            has_numbers: false,
            ..tame(
                "abcFHIilLnNopPqsSuUvVwx0.",
                "ABCdegjmMrtTE",
                &[
                    "after-context= before-context= context= auto-hybrid-regex binary block-buffered byte-offset \
                     case-sensitive color= colors= column context-separator= count count-matches crlf \
                     debug dfa-size-limit= encoding= engine= field-context-separator= \
                     field-match-separator= files files-with-matches files-without-match fixed-strings \
                     follow glob= glob-case-insensitive heading no-heading hidden no-hidden iglob= ignore-case \
                     include-zero invert-match json line-buffered line-number no-line-number line-regexp \
                     max-columns= max-columns-preview max-count= max-depth= max-filesize= mmap multiline \
                     multiline-dotall no-config no-ignore no-ignore-dot no-ignore-exclude no-ignore-files \
                     no-ignore-global no-ignore-messages no-ignore-parent no-ignore-vcs no-messages \
                     no-mmap no-filename null null-data one-file-system only-matching passthru pcre2 \
                     path-separator= pretty quiet regex-size-limit= regexp= replace= smart-case sort= sortr= \
                     stats text threads= trim no-trim type= type-list type-not= unrestricted vimgrep \
                     with-filename word-regexp",
                ],
            )
        },
    ),
    (
        "fd fdfind",
        ReadOnlyOptions {
            operands: Operands::PatternAndFiles,
            is_tame: false,
            ..tame(
                "HIuasgilLpq0F1",
                "etdEcjS",
                &[
                    "hidden no-ignore unrestricted case-sensitive ignore-case glob regex fixed-strings absolute-path \
                     list-details follow full-path max-depth= min-depth= exact-depth= exclude= prune type= \
                     extension= size= changed-within= changed-before= color= threads= max-results= quiet \
                     print0 no-ignore-vcs no-ignore-parent strip-cwd-prefix",
                ],
            )
        },
    ),
];

const NO_OPERANDS: ReadOnlyOptions = ReadOnlyOptions {
    operands: Operands::None,
    ..ReadOnlyOptions::NONE
};
