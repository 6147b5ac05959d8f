//! TOML format of this project: complete and easy to write by hand.
//!
//! ```toml
//! [[switch]]                        # also [[host]], [[aggregation]], [[router]]
//! name = "s0"                       # required, unique
//! guid = "0002c90200417670"         # 1 to 16 hexadecimal digits, optionally after 0x
//! ports = 36                        # default: the highest cabled port
//! description = "spine 0"           # default: the name
//! vendor = 0x2c9
//! device = 0xbd36
//! system_guid = "0002c90200417673"
//! enhanced_port0 = true
//! addresses = [{ port = 0, guid = "0002c90200417670", lid = 18, lmc = 0 }]
//!
//! [[host]]
//! name = "h0"
//!
//! [[cable]]
//! ends = ["s0[1]", "h0[1]"]         # "s0" alone means the lowest free port
//! speed = "4xNDR"                   # or a rate, such as "80 MB/s"; "2x???" for an unknown generation
//! length = "25 m"
//! ```
//!
//! Explicit ports are reserved: `"s0"` never takes the port of a later `"s0[1]"`. Contradictions
//! are errors rather than findings.

mod ends;
mod read;
mod schema;
mod write;

pub(super) use read::read;
pub(super) use write::write;
