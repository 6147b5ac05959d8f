//! Reading and writing of fabric files.
//!
//! ```text
//!   bytes ──decode──► text ──read──► Parsed { fabric, findings }   or Faults, FormatErrors
//!                     Fabric ──write──► Written { text, notes }     or WriteError
//! ```
//!
//! | format | read | written | contents |
//! |---|---|---|---|
//! | ibnetdiscover | yes | yes | everything but cable lengths and plain rates |
//! | ibsim | as ibnetdiscover | yes | everything that the subnet simulator accepts |
//! | anynet (BookSim) | yes | yes | router and node numbers, neighbours, lengths in metres |
//! | toml | yes | yes | everything |
//! | lst (OpenSM, ibdiagnet) | yes | no | everything but LMCs and cable lengths |
//! | csv | yes | no | names and kinds of nodes, ports, speeds, lengths |
//! | graphml | yes | no | as csv |
//! | dot (Graphviz) | no | yes | a drawing |
//! | slurm (`topology.conf`, tree) | no | yes | nodes by leaf switch |
//! | slurm-block (`topology.conf`, block) | no | yes | nodes by leaf switch |
//! | slurm-yaml (`topology.yaml`) | no | yes | a tree and blocks |
//!
//! Format violations are [`FormatError`]s with line, column and remedy. Contradictions in
//! well-formed text are [`Finding`](crate::Finding)s.
//!
//! Invariants: readers do not panic; equal fabrics give equal texts; for [`Format::Toml`], and for
//! dumps if `notes` is empty, reading a written text gives an equal fabric.

mod anynet;
mod csv;
mod decode;
mod dot;
mod error;
mod faults;
mod foreign;
mod graph;
mod graphml;
mod ibnetdiscover;
mod lst;
pub mod slurm;
mod text;
mod toml;

pub use decode::{Decoded, decode};
pub(crate) use error::count;
pub use error::{FaultCode, FormatError, WriteError};
pub use faults::Faults;
pub use text::{Parsed, Written};

use crate::Fabric;
use std::fmt;
use std::str::FromStr;

/// File format of fabrics.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Format {
    /// Output of `ibnetdiscover`, and network files of `ibsim`.
    Ibnetdiscover,
    /// Dump restricted to the syntax and values that `ibsim` accepts.
    IbnetdiscoverForIbsim,
    /// BookSim's `anynet` network file.
    Anynet,
    /// Complete TOML format of this project.
    Toml,
    /// Link list of OpenSM and ibdiagnet.
    Lst,
    /// Table of edges.
    Csv,
    /// GraphML.
    GraphMl,
    /// Drawing for Graphviz.
    Dot,
    /// `topology.conf` for Slurm's tree plug-in.
    Slurm,
    /// `topology.conf` for Slurm's block plug-in.
    SlurmBlock,
    /// `topology.yaml` of Slurm 25.05.
    SlurmYaml,
}

/// Parses a fabric file.
pub fn read(text: &str, format: Format) -> Result<Parsed, Faults> {
    let unmarked = text.strip_prefix('\u{feff}').unwrap_or(text);
    refuse_junk(unmarked, format)?;
    let read = match format {
        Format::Ibnetdiscover | Format::IbnetdiscoverForIbsim => ibnetdiscover::read(text),
        Format::Anynet => anynet::read(unmarked),
        Format::Toml => toml::read(unmarked).map_err(Faults::from),
        Format::Lst => lst::read(unmarked),
        Format::Csv => csv::read(unmarked),
        Format::GraphMl => graphml::read(unmarked).map_err(Faults::from),
        Format::Dot | Format::Slurm | Format::SlurmBlock | Format::SlurmYaml => {
            Err(foreign::written_only(format).into())
        }
    };
    let mut reading = read.map_err(|faults| named_instead(unmarked, format, faults))?;
    if reading.fabric.nodes().is_empty() {
        let nothing = || {
            FormatError::whole("the file names no node", format.cure()).coded(FaultCode::Nothing)
        };
        return Err(foreign::named(unmarked).unwrap_or_else(nothing).into());
    }
    reading.findings.sort();
    Ok(reading)
}

/// Formats a fabric as a file.
pub fn write(fabric: &Fabric, format: Format) -> Result<Written, WriteError> {
    match format {
        Format::Ibnetdiscover => Ok(ibnetdiscover::write(fabric, ibnetdiscover::Dialect::Plain)),
        Format::IbnetdiscoverForIbsim => {
            Ok(ibnetdiscover::write(fabric, ibnetdiscover::Dialect::Ibsim))
        }
        Format::Anynet => anynet::write(fabric),
        Format::Toml => Ok(toml::write(fabric)),
        Format::Dot => Ok(dot::write(fabric)),
        Format::Slurm => slurm::write_conf(fabric, slurm::Form::Tree),
        Format::SlurmBlock => slurm::write_conf(fabric, slurm::Form::Block),
        Format::SlurmYaml => slurm::write_yaml(fabric),
        Format::Lst | Format::Csv | Format::GraphMl => Err(WriteError {
            message: format!("the format {format} can only be read"),
            expected: "write toml, which holds everything".to_owned(),
        }),
    }
}

/// Replaces the faults by a fault that names the program that wrote the text, if recognised. The
/// readers of dumps and link lists do so themselves.
fn named_instead(text: &str, format: Format, faults: Faults) -> Faults {
    let is_dump = matches!(format, Format::Ibnetdiscover | Format::IbnetdiscoverForIbsim);
    if is_dump || format == Format::Lst {
        return faults;
    }
    foreign::named(text).map_or(faults, Faults::from)
}

fn refuse_junk(text: &str, format: Format) -> Result<(), FormatError> {
    if text.trim().is_empty() {
        let error = FormatError::whole("the file is empty", format.cure());
        return Err(error.coded(FaultCode::Empty));
    }
    text.find('\0').map_or(Ok(()), |offset| {
        let message = "a NUL character: this looks like a binary file";
        Err(FormatError::at_offset(text, offset, message, format.cure()).coded(FaultCode::Binary))
    })
}

impl Format {
    /// All formats.
    pub const ALL: [Self; 11] = [
        Self::Ibnetdiscover,
        Self::IbnetdiscoverForIbsim,
        Self::Anynet,
        Self::Toml,
        Self::Lst,
        Self::Csv,
        Self::GraphMl,
        Self::Dot,
        Self::Slurm,
        Self::SlurmBlock,
        Self::SlurmYaml,
    ];

    /// Returns the name used in commands.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ibnetdiscover => "ibnetdiscover",
            Self::IbnetdiscoverForIbsim => "ibsim",
            Self::Anynet => "anynet",
            Self::Toml => "toml",
            Self::Lst => "lst",
            Self::Csv => "csv",
            Self::GraphMl => "graphml",
            Self::Dot => "dot",
            Self::Slurm => "slurm",
            Self::SlurmBlock => "slurm-block",
            Self::SlurmYaml => "slurm-yaml",
        }
    }

    /// Returns the file extensions without dot, the writer's extension first.
    pub const fn extensions(self) -> &'static [&'static str] {
        match self {
            Self::Ibnetdiscover => &["ibnetdiscover", "ibnet", "topo", "topofile"],
            Self::IbnetdiscoverForIbsim => &["ibsim", "net"],
            Self::Anynet => &["anynet"],
            Self::Toml => &["toml"],
            Self::Lst => &["lst"],
            Self::Csv => &["csv"],
            Self::GraphMl => &["graphml"],
            Self::Dot => &["dot", "gv"],
            Self::Slurm => &["conf"],
            Self::SlurmBlock => &[],
            Self::SlurmYaml => &["yaml", "yml"],
        }
    }

    /// Returns whether the format can be read.
    pub const fn is_readable(self) -> bool {
        !matches!(self, Self::Dot | Self::Slurm | Self::SlurmBlock | Self::SlurmYaml)
    }

    /// Returns whether the format can be written.
    pub const fn is_writable(self) -> bool {
        !matches!(self, Self::Lst | Self::Csv | Self::GraphMl)
    }

    /// Detects the format by the first characteristic line, otherwise by the file extension.
    pub fn of_file(extension: Option<&str>, text: &str) -> Option<Self> {
        let named = extension.and_then(Self::from_extension);
        match (Self::detect(text), named) {
            (Some(Self::Ibnetdiscover), Some(Self::IbnetdiscoverForIbsim)) => named,
            (detected, named) => detected.or(named),
        }
    }

    /// Returns the format with this file extension, case-insensitively.
    pub fn from_extension(extension: &str) -> Option<Self> {
        let lower = extension.trim_start_matches('.').to_ascii_lowercase();
        Self::ALL.into_iter().find(|format| format.extensions().contains(&lower.as_str()))
    }

    /// Detects the format by the first characteristic line.
    pub fn detect(text: &str) -> Option<Self> {
        text.trim_start_matches('\u{feff}').lines().find_map(detect_line)
    }

    const fn cure(self) -> &'static str {
        match self {
            Self::Ibnetdiscover | Self::IbnetdiscoverForIbsim => {
                "expected the output of `ibnetdiscover`, with records such as \
                 `Switch\t36 \"S-0002c90200417670\"`"
            }
            Self::Anynet => "expected lines such as `router 0 node 0 router 1`",
            Self::Toml => "expected tables such as `[[switch]]`, `[[host]]` and `[[cable]]`",
            Self::Lst => "expected lines such as `{ SW Ports:24 .. } { CA Ports:01 .. } PHY=4x ..`",
            Self::Csv => "expected a heading such as `source,target` and a row an edge",
            Self::GraphMl => "expected elements such as `<node id=\"n0\"/>`",
            Self::Dot => "a drawing can only be written",
            Self::Slurm | Self::SlurmBlock | Self::SlurmYaml => "this format can only be written",
        }
    }
}

fn detect_line(line: &str) -> Option<Format> {
    const IDENTITY: [&str; 6] =
        ["vendid=", "devid=", "sysimgguid=", "switchguid", "caguid=", "rtguid="];
    let line = line.trim();
    if IDENTITY.iter().any(|key| line.starts_with(key)) || line.starts_with("# Topology file:") {
        return Some(Format::Ibnetdiscover);
    }
    if lst::is_link(line) {
        return Some(Format::Lst);
    }
    if line.contains("<graphml") {
        return Some(Format::GraphMl);
    }
    if csv::is_heading(line) {
        return Some(Format::Csv);
    }
    let (word, rest) = line.split_once([' ', '\t', '{']).unwrap_or((line, ""));
    let is_numbered = rest.trim_start().starts_with(|c: char| c.is_ascii_digit());
    match word {
        "Switch" | "Hca" | "Ca" | "Rt" if is_numbered => Some(Format::Ibnetdiscover),
        "router" | "node" if is_numbered => Some(Format::Anynet),
        "graph" | "digraph" | "strict" => Some(Format::Dot),
        word if word.starts_with("[[") => Some(Format::Toml),
        _ => None,
    }
}

fn lines(count: usize) -> String {
    crate::finding::plural(count, "line", "lines")
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Error for an unknown format name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("\"{name}\" is not a format; did you mean \"{nearest}\"? Formats are {all}")]
pub struct UnknownFormat {
    name: String,
    nearest: Format,
    all: String,
}

impl FromStr for Format {
    type Err = UnknownFormat;

    fn from_str(name: &str) -> Result<Self, UnknownFormat> {
        let distance = |format: &Self| strsim::damerau_levenshtein(name, format.name());
        let nearest = Self::ALL.into_iter().min_by_key(distance).expect("there are formats");
        if nearest.name() == name {
            return Ok(nearest);
        }
        let all = Self::ALL.map(Self::name).join(", ");
        Err(UnknownFormat { name: name.to_owned(), nearest, all })
    }
}
