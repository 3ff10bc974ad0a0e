//! Adapter: the operating system's randomness, drawn in blocks.

use std::sync::{Mutex, PoisonError};

use crate::domain::Entropy;
use crate::port::EntropySource;

const BLOCK: usize = 4_096;

/// Draws from `getrandom(2)`, 4 KiB at a time: one system call for 256 draws.
pub struct EntropyOs {
    block: Mutex<Block>,
}

struct Block {
    bytes: [u8; BLOCK],
    used: usize,
}

impl EntropyOs {
    /// Makes a source. The first block is drawn here, so that a system without randomness is found
    /// at the start.
    ///
    /// # Errors
    /// The error of the operating system if it has no randomness.
    pub fn new() -> std::io::Result<EntropyOs> {
        let mut block = Block { bytes: [0; BLOCK], used: 0 };
        getrandom::fill(&mut block.bytes).map_err(std::io::Error::other)?;
        Ok(EntropyOs { block: Mutex::new(block) })
    }
}

impl EntropySource for EntropyOs {
    fn draw(&self) -> Entropy {
        // Poisoning is harmless: if the refill below panics, the block still counts as used up.
        let mut block = self.block.lock().unwrap_or_else(PoisonError::into_inner);
        if block.used == BLOCK {
            getrandom::fill(&mut block.bytes)
                .expect("the system's randomness worked at the start and does not end");
            block.used = 0;
        }
        let used = block.used;
        let mut bits = [0; 16];
        bits.copy_from_slice(&block.bytes[used..used + 16]);
        // Used bits are wiped, so that a memory dump does not reveal tokens that were already
        // issued.
        block.bytes[used..used + 16].fill(0);
        block.used += 16;
        Entropy(bits)
    }
}
