//! Decompression of gzip (RFC 1952) and xz (.xz file format 1.2).
//!
//! The unpacked size and the memory use are bounded, because a few bytes can expand to fill a disk.

use crate::InputError;
use flate2::read::MultiGzDecoder;
use lzma_rust2::XzReader;
use std::borrow::Cow;
use std::io::{ErrorKind, Read};

/// Maximum unpacked size in bytes; enough for the dump of a fabric of a million hosts.
const BYTES_MAX: u64 = 512 << 20;

/// Maximum decompression memory in KiB; `xz -9` needs 65 MiB.
const MEMORY_KIB_MAX: u32 = 128 << 10;

const GZIP: &[u8] = &[0x1f, 0x8b];
const XZ: &[u8] = b"\xfd7zXZ\0";

/// Unsupported formats as (offset of the magic bytes, magic bytes, description).
const OTHERS: [(usize, &[u8], &str); 5] = [
    (0, &[0x28, 0xb5, 0x2f, 0xfd], "compressed with zstd"),
    (0, b"BZh", "compressed with bzip2"),
    (0, b"PK\x03\x04", "a zip archive"),
    (0, b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (257, b"ustar", "a tar archive"),
];

const ENDINGS: [&str; 2] = ["gz", "xz"];

/// Returns the contents of a file, decompressed if necessary. Errors refer to the file as `name`.
pub fn unpack<'a>(name: &str, bytes: &'a [u8]) -> Result<Cow<'a, [u8]>, InputError> {
    unpack_within(name, bytes, BYTES_MAX)
}

/// Removes a compression extension: `net.toml.gz` becomes `net.toml`.
pub fn unpacked_name(name: &str) -> &str {
    name.rsplit_once('.')
        .filter(|(_, ending)| ENDINGS.iter().any(|known| ending.eq_ignore_ascii_case(known)))
        .map_or(name, |(stem, _)| stem)
}

fn unpack_within<'a>(name: &str, bytes: &'a [u8], max: u64) -> Result<Cow<'a, [u8]>, InputError> {
    let out = if bytes.starts_with(GZIP) {
        all(MultiGzDecoder::new(bytes), max)
    } else if bytes.starts_with(XZ) {
        all(XzReader::new_mem_limit(bytes, true, MEMORY_KIB_MAX), max)
    } else {
        return other(bytes).map_or(Ok(bytes.into()), |what| {
            let message = format!("the file is {what}; unpack it, or compress it with gzip or xz");
            Err(error(name, message))
        });
    };
    out.map(Cow::Owned).map_err(|message| error(name, message))
}

fn all(packed: impl Read, max: u64) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    match packed.take(max + 1).read_to_end(&mut bytes) {
        Ok(_) if bytes.len() as u64 > max => {
            Err(format!("the file unpacks to more than {}, which no dump has", size(max)))
        }
        Ok(_) => Ok(bytes),
        Err(error) if error.kind() == ErrorKind::OutOfMemory => {
            let most = size(u64::from(MEMORY_KIB_MAX) << 10);
            Err(format!("unpacking the file takes more than {most}; compress it with `xz -9`"))
        }
        Err(error) => {
            Err(format!("the compressed file is damaged or cut short ({error}); copy it again"))
        }
    }
}

fn size(bytes: u64) -> String {
    const MIB: u64 = 1 << 20;
    if bytes < MIB { format!("{bytes} bytes") } else { format!("{} MiB", bytes / MIB) }
}

fn other(bytes: &[u8]) -> Option<&'static str> {
    let begins = |at: usize, magic: &[u8]| bytes.get(at..).is_some_and(|b| b.starts_with(magic));
    OTHERS.iter().find(|(at, magic, _)| begins(*at, magic)).map(|(_, _, what)| *what)
}

fn error(name: &str, message: String) -> InputError {
    InputError::from_parts(name, None, None, None, message, [], None).coded("file-packed")
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::read::GzEncoder;

    const TEXT: &[u8] = b"Switch 4 \"S-01\"\n";
    const TEXT_XZ: &[u8] = include_bytes!("../tests/fixtures/switch.xz");

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut packed = Vec::new();
        GzEncoder::new(bytes, Compression::best()).read_to_end(&mut packed).unwrap();
        packed
    }

    fn refusal(bytes: &[u8], max: u64) -> String {
        unpack_within("net.gz", bytes, max).unwrap_err().to_string()
    }

    #[test]
    fn gzip_and_xz_are_unpacked_and_other_bytes_kept() {
        let two = [gzip(b"Switch 4 "), gzip(b"\"S-01\"\n")].concat();
        for packed in [&gzip(TEXT), TEXT_XZ, &two, TEXT] {
            assert_eq!(&*unpack("net", packed).unwrap(), TEXT);
        }
        assert!(matches!(unpack("net", TEXT), Ok(Cow::Borrowed(_))));
    }

    #[test]
    fn oversized_unpacked_file_is_refused() {
        let length = TEXT.len() as u64;
        for packed in [&*gzip(TEXT), TEXT_XZ] {
            assert!(unpack_within("net", packed, length).is_ok());
            let expected = "net.gz: the file unpacks to more than 15 bytes, which no dump has";
            assert_eq!(refusal(packed, length - 1), expected);
        }
        assert!(refusal(&gzip(&vec![0; 3 << 20]), 2 << 20).contains("more than 2 MiB"));
    }

    #[test]
    fn file_requiring_too_much_memory_is_refused() {
        let packed = include_bytes!("../tests/fixtures/dictionary-of-4-gib.xz");
        assert!(
            refusal(packed, 100).contains("takes more than 128 MiB"),
            "{}",
            refusal(packed, 100)
        );
    }

    #[test]
    fn damaged_archive_is_an_error_and_no_panic() {
        for packed in [&*gzip(TEXT), TEXT_XZ] {
            for at in 6..packed.len() {
                let cut = refusal_of(&packed[..at]);
                assert!(cut.is_some_and(|text| text.contains("damaged or cut short")), "{at}");
                for byte in [0, 1, 0x7f, 0xff] {
                    let mut damaged = packed.to_vec();
                    damaged[at] ^= byte;
                    let _ = refusal_of(&damaged);
                }
            }
        }
    }

    fn refusal_of(bytes: &[u8]) -> Option<String> {
        unpack("net", bytes).err().map(|error| error.to_string())
    }

    #[test]
    fn unsupported_archives_are_named() {
        let mut tar = vec![b'x'; 300];
        tar[257..262].copy_from_slice(b"ustar");
        assert!(refusal(&tar, 1).contains("is a tar archive; unpack it"));
        assert!(refusal(b"\x28\xb5\x2f\xfd...", 1).contains("compressed with zstd"));
    }

    #[test]
    fn compression_extension_is_stripped_from_file_names() {
        for (name, inner) in [
            ("net.toml.gz", "net.toml"),
            ("net.XZ", "net"),
            ("net.toml", "net.toml"),
            ("net", "net"),
        ] {
            assert_eq!(unpacked_name(name), inner);
        }
    }
}
