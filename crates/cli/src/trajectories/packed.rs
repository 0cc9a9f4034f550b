//! Lines compressed with zstd. Inputs may have several frames. The output gets a single frame at the end, because many
//! readers stop after the first frame without an error.

use std::cell::Cell;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::rc::Rc;

use zstd::stream::{read, write};

/// The default level of zstd.
const LEVEL: i32 = zstd::DEFAULT_COMPRESSION_LEVEL;

/// The most threads that compress the last frame. Each needs some 20 MB, and few disks write faster than these.
const ASSEMBLERS: usize = 8;

/// The decompressed lines, and a count of the file's bytes that were read for them.
pub type UnpackedLines = (Box<dyn Read>, Rc<Cell<u64>>);

/// The lines of a file, from `offset` bytes of decompressed lines on.
pub fn open(path: &Path, offset: u64) -> io::Result<UnpackedLines> {
    let count = Rc::new(Cell::new(0));
    let file = File::open(path)?;
    if file.metadata()?.len() == 0 {
        // An empty file has no frame, which the decoder would take for an error.
        return Ok((Box::new(io::empty()), count));
    }
    let file = CountedReader { file, count: Rc::clone(&count) };
    let mut lines: Box<dyn Read> = Box::new(read::Decoder::new(file)?);
    // A frame cannot be entered in the middle, so the lines before the offset are decompressed and dropped.
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

/// Compresses the lines of a chunk into a frame of its own, so that the file can be cut after any chunk.
pub fn pack(lines: &[u8]) -> io::Result<Vec<u8>> {
    match lines {
        [] => Ok(Vec::new()),
        lines => zstd::bulk::compress(lines, LEVEL),
    }
}

/// Joins many frames into one. The result does not depend on the number of `workers`.
pub fn assemble(part: &Path, whole: &Path, workers: usize) -> io::Result<()> {
    let (mut lines, _) = open(part, 0)?;
    let mut frame = write::Encoder::new(File::create(whole)?, LEVEL)?;
    frame.include_checksum(true)?;
    frame.multithread(u32::try_from(workers.clamp(1, ASSEMBLERS)).unwrap_or(1))?;
    io::copy(&mut lines, &mut frame)?;
    frame.finish()?.sync_all()
}
