//! A disk that remembers what was really flushed: what a daemon's directory may be after a loss of power.
//!
//! A file is what was flushed of it, and any of what was not: nothing, everything, everything up to a moment, some of the
//! writes, some of the sectors, and the last of them torn. A name is there if its directory was flushed since, and may or
//! may not be there if it was not; each by itself, which is the strictest reading of POSIX. Shared memory is gone.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, DirBuilder, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt, OpenOptionsExt};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use crate::faults::journal::{Entry, Kind, Name, What, entries};
use crate::harness::load::Dice;

/// What becomes of that which was not flushed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Loss {
    /// All of it is lost.
    All,
    /// All of it had reached the disk.
    Nothing,
    /// What was written after some moment is lost.
    Tail,
    /// Some of the writes are lost, in any order.
    Writes,
    /// Of each sector, what was written to it after a moment of its own.
    Sectors,
}

impl Loss {
    /// One that most is to be expected of is the likeliest.
    pub(crate) fn any(dice: &mut Dice) -> Loss {
        match dice.below(10) {
            0 | 1 => Loss::All,
            2 => Loss::Nothing,
            3 | 4 => Loss::Tail,
            5..=7 => Loss::Writes,
            _ => Loss::Sectors,
        }
    }
}

/// The disk below one directory.
pub(crate) struct Disk {
    root: PathBuf,
    journal: PathBuf,
    dice: Dice,
    /// Every file that ever was, by a number that is never given again.
    files: Vec<File>,
    by_inode: BTreeMap<u64, usize>,
    /// The names that were flushed, by directory.
    flushed: BTreeMap<PathBuf, Names>,
    /// The lengths of the journals of the lives before.
    elapsed: u64,
    /// Files that somebody relies on, as they were then.
    promised: BTreeMap<PathBuf, Vec<u8>>,
    /// How many files and names the last cut took something from.
    lost: u64,
    /// What the cuts took so far.
    losses: Vec<Loss>,
}

#[derive(Default)]
struct File {
    flushed: Vec<u8>,
    waiting: Vec<Change>,
}

struct Change {
    at: u64,
    what: Make,
}

enum Make {
    Bytes(u64, Vec<u8>),
    Size(u64),
}

type Names = BTreeMap<String, Thing>;

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Thing {
    File(usize),
    Directory,
    Socket,
}

impl Disk {
    /// A disk without this directory.
    pub(crate) fn new(root: PathBuf, journal: PathBuf, seed: u64) -> Disk {
        Disk {
            root,
            journal,
            dice: Dice::new(seed),
            files: Vec::new(),
            by_inode: BTreeMap::new(),
            flushed: BTreeMap::new(),
            elapsed: 0,
            promised: BTreeMap::new(),
            lost: 0,
            losses: Vec::new(),
        }
    }

    /// Everything goes, and nothing of it is known.
    pub(crate) fn wipe(&mut self) {
        let _ = fs::remove_dir_all(&self.root);
        let _ = fs::remove_file(&self.journal);
        self.files.clear();
        self.by_inode.clear();
        self.flushed.clear();
        self.promised.clear();
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// From here on somebody relies on this file, as it is.
    pub(crate) fn promise(&mut self, name: &str) {
        let path = self.root.join(name);
        let bytes = fs::read(&path).expect("it is there");
        self.promised.entry(path).or_insert(bytes);
    }

    /// Whether the life that goes on has begun to flush this file since it had written down so much.
    pub(crate) fn flushes(&self, name: &str, since: u64) -> bool {
        let begun = |it: &Entry| matches!(it.what, What::Begun) && it.at >= since && it.path.ends_with(name);
        fs::read(&self.journal).is_ok_and(|bytes| entries(&bytes).iter().any(begun))
    }

    /// How much the life that goes on has written down.
    pub(crate) fn written(&self) -> u64 {
        fs::metadata(&self.journal).map_or(0, |found| found.len())
    }

    /// Takes in what a life has written down; the process is gone. How many entries it made.
    pub(crate) fn note(&mut self) -> u64 {
        let Ok(bytes) = fs::read(&self.journal) else { return 0 };
        let entries = entries(&bytes);
        let count = entries.len() as u64;
        let mut listed: BTreeMap<u64, (PathBuf, Names)> = BTreeMap::new();
        let mut last = None;
        for entry in entries {
            last = matches!(entry.what, What::Write { .. } | What::Size(_))
                .then(|| (entry.inode, self.elapsed + entry.at));
            self.enter(entry, &mut listed);
        }
        self.assert_told(last);
        self.elapsed += bytes.len() as u64;
        fs::remove_file(&self.journal).expect("it is there");
        count
    }

    fn enter(&mut self, entry: Entry, listed: &mut BTreeMap<u64, (PathBuf, Names)>) {
        let at = self.elapsed + entry.at;
        match entry.what {
            What::Write { place, bytes } => {
                self.file(entry.inode).waiting.push(Change { at, what: Make::Bytes(place, bytes) });
            }
            What::Size(length) => {
                self.file(entry.inode).waiting.push(Change { at, what: Make::Size(length) });
            }
            What::Flush { begun } => {
                let begun = self.elapsed + begun;
                let file = self.file(entry.inode);
                let (flushed, waiting): (Vec<Change>, Vec<Change>) =
                    file.waiting.drain(..).partition(|change| change.at < begun);
                file.flushed = applied(&file.flushed, &flushed);
                file.waiting = waiting;
            }
            What::Names(names) => {
                let names = self.resolve(&names);
                listed.insert(entry.at, (entry.path, names));
            }
            What::FlushNames { begun } => {
                let (path, names) = listed.remove(&begun).expect("they are entered first");
                self.flushed.insert(path, names);
            }
            What::Begun => {}
            What::Gone => _ = self.by_inode.remove(&entry.inode),
        }
    }

    fn file(&mut self, inode: u64) -> &mut File {
        let number = self.number(inode);
        &mut self.files[number]
    }

    fn number(&mut self, inode: u64) -> usize {
        let files = &mut self.files;
        *self.by_inode.entry(inode).or_insert_with(|| {
            files.push(File::default());
            files.len() - 1
        })
    }

    fn resolve(&mut self, names: &[Name]) -> Names {
        let mut thing = |name: &Name| match name.kind {
            Kind::File => Thing::File(self.number(name.inode)),
            Kind::Directory => Thing::Directory,
            Kind::Socket => Thing::Socket,
        };
        names.iter().map(|name| (name.name.clone(), thing(name))).collect()
    }

    /// Nothing got past `power.c`: the real files are what was written down, up to the last entry, which may not have
    /// happened or only in part. Inodes that nobody has any more are free.
    fn assert_told(&mut self, last: Option<(u64, u64)>) {
        let mut taken = BTreeSet::new();
        for path in files_below(&self.root) {
            let inode = fs::metadata(&path).expect("it is there").ino();
            taken.insert(inode);
            let found = fs::read(&path).expect("it is there");
            let file = self.file(inode);
            let is_last = |change: &mut Change| last == Some((inode, change.at));
            if let Some(change) = file.waiting.pop_if(is_last) {
                // The next life begins with what there is of it.
                file.waiting.extend(change.as_found_in(&found));
            }
            let told = applied(&file.flushed, &file.waiting);
            let differs = found.len() != told.len() || found != told;
            assert!(!differs, "{}: something is not written down", path.display());
        }
        self.by_inode.retain(|inode, _| taken.contains(inode));
    }

    /// The power goes, and comes back: what there is below the root now is flushed. Whether something was lost.
    pub(crate) fn cut(&mut self, loss: Loss) -> bool {
        self.lost = 0;
        self.losses.push(loss);
        let mut real = BTreeMap::new();
        let parent = self.root.parent().expect("it has one").to_owned();
        let mut above = self.list(&parent);
        above.retain(|name, _| self.root.ends_with(name));
        real.insert(parent.clone(), above);
        for directory in directories_below(&self.root) {
            let names = self.list(&directory);
            real.insert(directory, names);
        }
        let moment = self.moment();
        if self.root.exists() {
            fs::remove_dir_all(&self.root).expect("it is ours");
        }
        self.restore(&parent, &real, loss, moment);
        self.take_as_flushed(&parent);
        for (path, bytes) in &self.promised {
            let found = fs::read(path).ok();
            assert!(found.as_ref() == Some(bytes), "{} was acknowledged and is {found:?}", path.display());
        }
        self.lost > 0
    }

    /// Some moment since the first change that waits.
    fn moment(&mut self) -> u64 {
        let mut waiting: Vec<u64> =
            self.files.iter().flat_map(|file| &file.waiting).map(|change| change.at).collect();
        waiting.sort_unstable();
        let place = usize::try_from(self.dice.below(waiting.len() as u64 + 1)).expect("it fits");
        waiting.get(place).copied().unwrap_or(u64::MAX)
    }

    fn restore(&mut self, directory: &Path, real: &BTreeMap<PathBuf, Names>, loss: Loss, moment: u64) {
        let none = Names::new();
        let flushed = self.flushed.get(directory).unwrap_or(&none).clone();
        let written = real.get(directory).unwrap_or(&none);
        let names: BTreeSet<&String> = flushed.keys().chain(written.keys()).collect();
        for name in names {
            let is_there = match loss {
                Loss::All => false,
                Loss::Nothing => true,
                Loss::Tail | Loss::Writes | Loss::Sectors => self.dice.below(2) == 0,
            };
            let path = directory.join(name);
            let thing = if is_there { written.get(name) } else { flushed.get(name) };
            self.lost += u64::from(thing != written.get(name));
            match thing {
                Some(Thing::File(number)) => {
                    let file = &self.files[*number];
                    let bytes = file.survivor(loss, moment, &mut self.dice);
                    self.lost += u64::from(bytes != applied(&file.flushed, &file.waiting));
                    let mut made = OpenOptions::new();
                    let made = made.write(true).create_new(true).mode(0o600).open(path);
                    made.expect("a file").write_all(&bytes).expect("room");
                }
                Some(Thing::Directory) => {
                    DirBuilder::new().mode(0o700).create(&path).expect("a directory");
                    self.restore(&path, real, loss, moment);
                }
                Some(Thing::Socket) => drop(UnixListener::bind(path).expect("a socket")),
                None => {}
            }
        }
    }

    fn take_as_flushed(&mut self, parent: &Path) {
        self.files.clear();
        self.by_inode.clear();
        self.flushed.clear();
        let mut above = self.list(parent);
        above.retain(|name, _| self.root.ends_with(name));
        self.flushed.insert(parent.to_owned(), above);
        for directory in directories_below(&self.root) {
            let names = self.list(&directory);
            self.flushed.insert(directory, names);
        }
        for path in files_below(&self.root) {
            let inode = fs::metadata(&path).expect("it is there").ino();
            self.file(inode).flushed = fs::read(&path).expect("it is there");
        }
    }

    /// The names that are in a directory now.
    fn list(&mut self, directory: &Path) -> Names {
        let name = |entry: fs::DirEntry| {
            let found = entry.metadata().expect("it is there");
            let kind = match found.file_type() {
                kind if kind.is_dir() => Kind::Directory,
                kind if kind.is_socket() => Kind::Socket,
                _ => Kind::File,
            };
            Name { name: entry.file_name().into_string().expect("UTF-8"), inode: found.ino(), kind }
        };
        let all = entries_of(directory).into_iter().map(name).filter(|name| !is_shared_memory(&name.name));
        self.resolve(&all.collect::<Vec<Name>>())
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        if std::thread::panicking() {
            println!("what the power cuts took, one after the other: {:?}", self.losses);
        }
    }
}

impl File {
    /// What is left of it.
    fn survivor(&self, loss: Loss, moment: u64, dice: &mut Dice) -> Vec<u8> {
        let kept: Vec<&Change> = match loss {
            Loss::All => Vec::new(),
            Loss::Nothing => self.waiting.iter().collect(),
            Loss::Tail => self.waiting.iter().filter(|change| change.at < moment).collect(),
            Loss::Writes => {
                let of = [2, 4, 16][usize::try_from(dice.below(3)).expect("few")];
                let lost = dice.below(of);
                self.waiting.iter().filter(|_| dice.below(of) > lost.min(of - 2)).collect()
            }
            Loss::Sectors => return self.sectors(dice),
        };
        let mut bytes = self.flushed.clone();
        let is_torn = matches!(loss, Loss::Tail | Loss::Writes) && dice.below(2) == 0;
        let last = kept.len().checked_sub(1).filter(|_| is_torn);
        for (place, change) in kept.into_iter().enumerate() {
            if Some(place) == last {
                change.torn(dice).make(&mut bytes);
            } else {
                change.make(&mut bytes);
            }
        }
        bytes
    }

    /// Each sector as it was at a moment of its own. The length is of one moment for the whole file, and bytes beyond the
    /// next shortening, which was not made then, belong to another time.
    fn sectors(&self, dice: &mut Dice) -> Vec<u8> {
        let count = self.waiting.len();
        let mut any = |end: usize| usize::try_from(dice.below(end as u64 + 1)).expect("it fits");
        let sized = any(count);
        let is_size = |change: &Change| matches!(change.what, Make::Size(_));
        let end = self.waiting[sized..].iter().position(is_size).map_or(count, |place| sized + place);
        let length = applied(&self.flushed, &self.waiting[..sized]).len();
        let mut moments: BTreeMap<u64, usize> = BTreeMap::new();
        let mut bytes = self.flushed.clone();
        for (place, change) in self.waiting[..end].iter().enumerate() {
            let Make::Bytes(start, data) = &change.what else {
                change.make(&mut bytes);
                continue;
            };
            let mut rest = &data[..];
            while !rest.is_empty() {
                let at = start + (data.len() - rest.len()) as u64;
                let room = usize::try_from(SECTOR - at % SECTOR).expect("it fits");
                let (part, behind) = rest.split_at(room.min(rest.len()));
                if place < *moments.entry(at / SECTOR).or_insert_with(|| any(end)) {
                    put(&mut bytes, at, part);
                }
                rest = behind;
            }
        }
        bytes.resize(length, 0);
        bytes
    }
}

impl Change {
    fn make(&self, file: &mut Vec<u8>) {
        match &self.what {
            Make::Bytes(place, bytes) => put(file, *place, bytes),
            Make::Size(length) => file.resize(usize::try_from(*length).expect("it fits"), 0),
        }
    }

    /// As much of it as has happened to a file that nothing else has happened to since.
    fn as_found_in(&self, file: &[u8]) -> Option<Change> {
        let what = match &self.what {
            Make::Size(length) => (file.len() as u64 == *length).then_some(Make::Size(*length)),
            Make::Bytes(place, bytes) => {
                let start = usize::try_from(*place).expect("it fits");
                let end = file.len().min(start + bytes.len());
                file.get(start..end).map(|found| Make::Bytes(*place, found.to_vec()))
            }
        };
        what.map(|what| Change { at: self.at, what })
    }

    /// The same, cut off at the border of a sector or anywhere.
    fn torn(&self, dice: &mut Dice) -> Change {
        let what = match &self.what {
            Make::Size(length) => Make::Size(*length),
            Make::Bytes(place, bytes) => {
                let end = place + dice.below(bytes.len() as u64 + 1);
                let end = if dice.below(2) == 0 { end } else { end / SECTOR * SECTOR };
                let length = usize::try_from(end.saturating_sub(*place)).expect("it fits");
                Make::Bytes(*place, bytes[..length].to_vec())
            }
        };
        Change { at: self.at, what }
    }
}

fn applied(flushed: &[u8], changes: &[Change]) -> Vec<u8> {
    let mut bytes = flushed.to_vec();
    changes.iter().for_each(|change| change.make(&mut bytes));
    bytes
}

/// Writes into a file; what lies between its end and there is zero.
fn put(file: &mut Vec<u8>, place: u64, bytes: &[u8]) {
    let place = usize::try_from(place).expect("it fits");
    if bytes.is_empty() {
        return;
    }
    if file.len() < place + bytes.len() {
        file.resize(place + bytes.len(), 0);
    }
    file[place..place + bytes.len()].copy_from_slice(bytes);
}

/// What is directly in a directory; nothing where there is none.
fn entries_of(directory: &Path) -> Vec<fs::DirEntry> {
    let Ok(entries) = fs::read_dir(directory) else { return Vec::new() };
    entries.map(|entry| entry.expect("it can be read")).collect()
}

/// The directory and all below.
fn directories_below(directory: &Path) -> Vec<PathBuf> {
    let mut all = vec![directory.to_owned()];
    for entry in entries_of(directory) {
        if entry.file_type().expect("it is there").is_dir() {
            all.extend(directories_below(&entry.path()));
        }
    }
    all
}

/// The files that the disk has.
fn files_below(directory: &Path) -> Vec<PathBuf> {
    let entries = directories_below(directory).into_iter().flat_map(|directory| entries_of(&directory));
    let files = entries.filter(|entry| entry.file_type().expect("it is there").is_file());
    files.map(|entry| entry.path()).filter(|path| !is_shared_memory(&path.to_string_lossy())).collect()
}

fn is_shared_memory(name: &str) -> bool {
    name.ends_with("-shm")
}

const SECTOR: u64 = 512;
