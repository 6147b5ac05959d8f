//! Quota record: a file with two slots, written alternately.
//!
//! ```text
//!   striped-quota 1 SERIAL BEGINS USED RESERVED BOOT clean|open CRC      256 bytes, padded with spaces
//! ```
//!
//! The current slot has a valid checksum and the highest serial.
//!
//! Invariant: a slot is written in one system call, and the current slot is never overwritten.

use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt, FileExt, OpenOptionsExt};
use std::path::Path;

const SLOT_BYTES: usize = 256;
const MAGIC: &str = "striped-quota 1";
/// Random identifier of the current boot (random(4)).
const BOOT_ID: &str = "/proc/sys/kernel/random/boot_id";

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Record {
    serial: u64,
    pub(super) begins_day: u64,
    pub(super) used: u64,
    /// Bytes that count as used if the machine stops without closing the record.
    reserved: u64,
    boot: String,
    is_clean: bool,
}

impl Record {
    pub(super) fn read(path: &Path) -> io::Result<Option<Self>> {
        let bytes = fs::read(path)?;
        let newest = bytes.chunks(SLOT_BYTES).filter_map(Self::parse).max_by_key(|one| one.serial);
        if newest.is_none() && bytes.iter().any(|byte| *byte != 0) {
            return Err(io::ErrorKind::InvalidData.into());
        }
        Ok(newest)
    }

    fn parse(slot: &[u8]) -> Option<Self> {
        let (text, sum) = std::str::from_utf8(slot).ok()?.trim_end().rsplit_once(' ')?;
        if u32::from_str_radix(sum, 16).ok()? != crc32c::crc32c(text.as_bytes()) {
            return None;
        }
        let mut words = text.strip_prefix(MAGIC)?.split_whitespace();
        let mut number = || words.next()?.parse().ok();
        let (serial, begins_day, used, reserved) = (number()?, number()?, number()?, number()?);
        let boot = words.next()?.to_owned();
        let is_clean = words.next()? == "clean";
        Some(Self { serial, begins_day, used, reserved, boot, is_clean })
    }

    fn to_slot(&self) -> [u8; SLOT_BYTES] {
        let Self { serial, begins_day, used, reserved, boot, is_clean } = self;
        let state = if *is_clean { "clean" } else { "open" };
        let text = format!("{MAGIC} {serial} {begins_day} {used} {reserved} {boot} {state}");
        let line = format!("{text} {:08x}", crc32c::crc32c(text.as_bytes()));
        let mut slot = [b' '; SLOT_BYTES];
        slot[..line.len()].copy_from_slice(line.as_bytes());
        slot[SLOT_BYTES - 1] = b'\n';
        slot
    }
}

pub(super) fn create(path: &Path) -> io::Result<File> {
    if let Some(folder) = path.parent() {
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    }
    File::options().read(true).write(true).create(true).truncate(false).mode(0o600).open(path)
}

#[derive(Debug, Default)]
pub(super) struct Ledger {
    pub(super) record: Record,
    pub(super) file: Option<File>,
}

impl Ledger {
    pub(super) fn open(path: &Path, begins_day: u64) -> io::Result<Self> {
        let boot = fs::read_to_string(BOOT_ID)?.trim().to_owned();
        let file = create(path)?;
        let found = Record::read(path)?;
        let fresh = found.is_none();
        let mut record = found.unwrap_or(Record { begins_day, ..Record::default() });
        if !record.is_clean && record.boot != boot {
            record.used = record.used.max(record.reserved);
        }
        record.boot = boot;
        let mut ledger = Self { record, file: Some(file) };
        if fresh {
            ledger.write(0, 0)?;
        }
        ledger.write(ledger.record.used, 0)?;
        ledger.file.as_ref().map_or(Ok(()), File::sync_all)?;
        Ok(ledger)
    }

    pub(super) fn lost() -> Self {
        Self::default()
    }

    /// Records `used`, and keeps between `ahead` / 2 and `ahead` more bytes reserved.
    pub(super) fn write(&mut self, used: u64, ahead: u64) -> io::Result<()> {
        self.record.used = used;
        let record = &mut self.record;
        let is_near = record.reserved < used.saturating_add(ahead / 2);
        if is_near || record.reserved > used.saturating_add(ahead) {
            record.reserved = used.saturating_add(ahead);
        }
        record.is_clean = false;
        self.put()
    }

    pub(super) fn close(&mut self) -> io::Result<()> {
        self.record.is_clean = true;
        self.put()
    }

    fn put(&mut self) -> io::Result<()> {
        let file = self.file.as_ref().ok_or(io::ErrorKind::NotFound)?;
        self.record.serial += 1;
        let at = self.record.serial % 2 * SLOT_BYTES as u64;
        file.write_all_at(&self.record.to_slot(), at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(name: &str) -> std::path::PathBuf {
        std::env::temp_dir().join(format!("striped-record-{}-{name}", std::process::id()))
    }

    #[test]
    fn newest_valid_slot_is_read() {
        let path = path("torn");
        let mut ledger = Ledger::open(&path, 7).expect("a file");
        ledger.write(1_000, 100).expect("it is there");
        ledger.write(2_000, 100).expect("it is there");
        assert_eq!(Record::read(&path).expect("it is there"), Some(ledger.record.clone()));
        let mut bytes = fs::read(&path).expect("it is there");
        let newest = usize::try_from(ledger.record.serial % 2).expect("a bit") * SLOT_BYTES;
        bytes[newest + 20] ^= 1;
        fs::write(&path, &bytes).expect("it is ours");
        let found = Record::read(&path).expect("one slot is whole").expect("the one before");
        assert_eq!((found.used, found.begins_day), (1_000, 7));
        fs::write(&path, "nothing of the kind").expect("it is ours");
        let error = Record::read(&path).expect_err("no record");
        assert_eq!(error.kind(), io::ErrorKind::InvalidData);
        fs::remove_file(path).expect("it is ours");
    }

    #[test]
    fn reserved_bytes_count_as_used_after_an_unclean_reboot() {
        for (is_clean, boot, used) in
            [(false, "another", 2_100), (true, "another", 2_000), (false, "", 2_000)]
        {
            let path = path("boot");
            let mut ledger = Ledger::open(&path, 7).expect("a file");
            if !boot.is_empty() {
                boot.clone_into(&mut ledger.record.boot);
            }
            ledger.write(2_000, 100).expect("it is there");
            if is_clean {
                ledger.close().expect("it is there");
            }
            let again = Ledger::open(&path, 7).expect("a file");
            assert_eq!(again.record.used, used, "{is_clean} {boot}");
            fs::remove_file(path).expect("it is ours");
        }
    }
}
