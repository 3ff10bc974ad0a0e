//! What `power.c` has written down of one life: entry by entry, as far as the life got.

use std::path::PathBuf;

/// One entry. Files are told apart by their inode; `at` is where the entry stands.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) at: u64,
    pub(crate) inode: u64,
    pub(crate) path: PathBuf,
    pub(crate) what: What,
}

#[derive(Debug)]
pub(crate) enum What {
    Write {
        place: u64,
        bytes: Vec<u8>,
    },
    Size(u64),
    /// All that stands before `begun`, of this file.
    Flush {
        begun: u64,
    },
    Names(Vec<Name>),
    /// The names that stand at `begun`.
    FlushNames {
        begun: u64,
    },
    /// A flush begins.
    Begun,
    /// The last name of a file is taken away: its inode is free for another.
    Gone,
}

/// A name in a directory.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) struct Name {
    pub(crate) name: String,
    pub(crate) inode: u64,
    pub(crate) kind: Kind,
}

#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) enum Kind {
    File,
    Directory,
    Socket,
}

/// Reads all whole entries; the last one may be cut off.
pub(crate) fn entries(bytes: &[u8]) -> Vec<Entry> {
    let mut all = Vec::new();
    let mut at = 0;
    while let Some(head) = bytes.get(at..at + HEAD) {
        let number = |place: usize| {
            u64::from_ne_bytes(head[8 * place..8 * (place + 1)].try_into().expect("eight bytes"))
        };
        let size = |place: usize| usize::try_from(number(place)).expect("it fits");
        let (path, data) = (at + HEAD, at + HEAD + size(3));
        let end = data + size(4);
        let Some(bytes) = bytes.get(..end) else { break };
        let data = &bytes[data..];
        let path = PathBuf::from(String::from_utf8(bytes[path..path + size(3)].to_vec()).expect("UTF-8"));
        let what = match number(0) {
            1 => What::Write { place: number(2), bytes: data.to_vec() },
            2 => What::Size(number(2)),
            3 => What::Flush { begun: number(2) },
            4 => What::Names(names(data)),
            5 => What::FlushNames { begun: number(2) },
            6 => What::Gone,
            7 => What::Begun,
            other => panic!("power.c enters no {other}"),
        };
        all.push(Entry { at: at as u64, inode: number(1), path, what });
        at = end;
    }
    all
}

fn names(text: &[u8]) -> Vec<Name> {
    let text = std::str::from_utf8(text).expect("UTF-8");
    let name = |line: &str| {
        let mut words = line.splitn(3, ' ');
        let mut word = || words.next().expect("three words");
        let (inode, kind, name) = (word().parse().expect("a number"), word(), word().to_owned());
        let kind = match kind {
            "f" => Kind::File,
            "d" => Kind::Directory,
            _ => Kind::Socket,
        };
        Name { name, inode, kind }
    };
    text.split_terminator('\0').map(name).collect()
}

/// Five numbers: kind, inode, place, length of the path, length of the data.
const HEAD: usize = 40;
