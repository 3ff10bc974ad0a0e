//! The trace of a world, line by line, and its hash: one seed always gives one hash.

/// The lines of a trace and their hash.
#[derive(Clone, Debug)]
pub struct Trace {
    lines: Vec<String>,
    hash: u64,
}

impl Trace {
    /// An empty trace.
    pub fn new() -> Trace {
        Trace { lines: Vec::new(), hash: FNV_OFFSET }
    }

    /// Adds a line.
    pub fn push(&mut self, line: String) {
        for byte in line.bytes().chain([b'\n']) {
            self.hash = (self.hash ^ u64::from(byte)).wrapping_mul(FNV_PRIME);
        }
        self.lines.push(line);
    }

    /// FNV-1a of all lines, each with its line break.
    pub fn hash(&self) -> u64 {
        self.hash
    }

    /// All lines as one text.
    pub fn text(&self) -> String {
        self.tail(usize::MAX)
    }

    /// The last `count` lines as one text.
    pub fn tail(&self, count: usize) -> String {
        let skip = self.lines.len().saturating_sub(count);
        self.lines[skip..].iter().map(|line| format!("{line}\n")).collect()
    }
}

impl Default for Trace {
    fn default() -> Trace {
        Trace::new()
    }
}

const FNV_OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
const FNV_PRIME: u64 = 0x0000_0100_0000_01b3;
