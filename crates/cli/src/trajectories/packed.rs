//! Lines packed with zstd. Readers of one frame are many, readers of several are few, and they
//! stop after the first without a word: so what is read may be several frames, and what is written
//! in the end is one.

use std::cell::Cell;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::rc::Rc;

use zstd::stream::{read, write};

/// The level that zstd itself takes.
const LEVEL: i32 = zstd::DEFAULT_COMPRESSION_LEVEL;

/// Each one that helps with the last frame holds some 20 MB, and few write faster than these.
const ASSEMBLERS: usize = 8;

/// Lines, unpacked, and how many bytes of the file were read for them.
pub type UnpackedLines = (Box<dyn Read>, Rc<Cell<u64>>);

/// The lines of a file from `offset` on.
pub fn open(path: &Path, offset: u64) -> io::Result<UnpackedLines> {
    let count = Rc::new(Cell::new(0));
    let file = File::open(path)?;
    if file.metadata()?.len() == 0 {
        // No frame at all.
        return Ok((Box::new(io::empty()), count));
    }
    let file = CountedReader { file, count: Rc::clone(&count) };
    let mut lines: Box<dyn Read> = Box::new(read::Decoder::new(file)?);
    // There is no way to what was read before but through it.
    io::copy(&mut lines.by_ref().take(offset), &mut io::sink())?;
    Ok((lines, count))
}

struct CountedReader {
    file: File,
    count: Rc<Cell<u64>>,
}

impl Read for CountedReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read(buffer)?;
        self.count.set(self.count.get() + read as u64);
        Ok(read)
    }
}

/// The lines of a chunk as a frame of their own: one after the other they can be cut off anywhere
/// between two of them.
pub fn pack(lines: &[u8]) -> io::Result<Vec<u8>> {
    match lines {
        [] => Ok(Vec::new()),
        lines => zstd::bulk::compress(lines, LEVEL),
    }
}

/// Makes one frame of many. Does not depend on the number of `workers`.
pub fn assemble(part: &Path, whole: &Path, workers: usize) -> io::Result<()> {
    let (mut lines, _) = open(part, 0)?;
    let mut frame = write::Encoder::new(File::create(whole)?, LEVEL)?;
    frame.include_checksum(true)?;
    frame.multithread(u32::try_from(workers.clamp(1, ASSEMBLERS)).unwrap_or(1))?;
    io::copy(&mut lines, &mut frame)?;
    frame.finish()?.sync_all()
}
