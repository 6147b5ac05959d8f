//! Findings: suspicious content of fabrics and their files.

use std::fmt;

/// Severity of a finding.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Severity {
    /// Harmless observation; the command `check` still succeeds.
    Note,
    /// Fault in the fabric or its dump.
    Warning,
}

/// Kind of a finding.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum FindingKind {
    /// Only one end lists the cable.
    OneSidedCable,
    /// The ends of a cable disagree on ports, speed or names.
    Disagreement,
    /// A node is named in links but has no record.
    UndefinedNode,
    /// Two nodes share a GUID.
    DuplicateGuid,
    /// Two ports share a LID.
    DuplicateLid,
    /// A LID is missing or not a unicast LID (0 or 65535).
    NoLid,
    /// A cable joins two ports of the same node.
    LoopCable,
    /// A part of the fabric has no path to the largest part.
    Island,
    /// A host has no cable.
    UncabledHost,
    /// Descriptions of several systems have the same host name.
    SharedName,
    /// Descriptions of several systems are identical and have no host name.
    DefaultName,
    /// Adapters of a host are cabled to swapped rails.
    SwappedRails,
    /// A compute node lacks an adapter on a rail of its unit.
    MissingAdapter,
    /// A compute node has cables to leaves of several units.
    DividedNode,
    /// Several hosts share a system GUID.
    SharedSystem,
    /// A tree switch has fewer uplinks than its siblings.
    MissingUplink,
    /// A cable is slower than most neighbouring cables.
    SlowCable,
    /// The fabric is uneven, for example in its numbers of parallel cables or uplinks.
    Unevenness,
    /// A cable's speed is only partially known, or unknown although others are known.
    UnknownSpeed,
    /// A LID in the forwarding tables belongs to no port.
    UnknownLid,
    /// Management packets do not reach a switch.
    UnreachedSwitch,
    /// A gap in the lane tables is filled by a default.
    MissingLane,
    /// The reader skips part of the source.
    Ignored,
    /// The reader makes an assumption about content that the format leaves open.
    Assumption,
    /// The source has lines outside the format, such as a shell prompt.
    Noise,
    /// Node names are not valid UTF-8.
    Encoding,
}

impl FindingKind {
    /// Returns the severity of this kind.
    pub const fn severity(self) -> Severity {
        match self {
            Self::DefaultName
            | Self::SharedSystem
            | Self::Unevenness
            | Self::UnknownSpeed
            | Self::Ignored
            | Self::Assumption
            | Self::Noise
            | Self::Encoding => Severity::Note,
            _ => Severity::Warning,
        }
    }

    /// Returns the short name for tables and scripts.
    pub const fn name(self) -> &'static str {
        match self {
            Self::OneSidedCable => "one-sided-cable",
            Self::Disagreement => "disagreement",
            Self::UndefinedNode => "undefined-node",
            Self::DuplicateGuid => "duplicate-guid",
            Self::DuplicateLid => "duplicate-lid",
            Self::NoLid => "no-lid",
            Self::LoopCable => "loop-cable",
            Self::Island => "island",
            Self::UncabledHost => "uncabled-host",
            Self::SharedName => "shared-name",
            Self::DefaultName => "default-name",
            Self::SwappedRails => "swapped-rails",
            Self::MissingAdapter => "missing-adapter",
            Self::DividedNode => "divided-node",
            Self::SharedSystem => "shared-system",
            Self::MissingUplink => "missing-uplink",
            Self::SlowCable => "slow-cable",
            Self::Unevenness => "unevenness",
            Self::UnknownSpeed => "unknown-speed",
            Self::UnknownLid => "unknown-lid",
            Self::UnreachedSwitch => "unreached-switch",
            Self::MissingLane => "missing-lane",
            Self::Ignored => "ignored",
            Self::Assumption => "assumption",
            Self::Noise => "noise",
            Self::Encoding => "encoding",
        }
    }
}

/// Observation about a fabric or its file.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Finding {
    /// 1-based line number in the source; `None` for the whole fabric.
    pub line: Option<u32>,
    /// Kind of the finding.
    pub kind: FindingKind,
    /// Details in one sentence.
    pub text: String,
}

impl Finding {
    pub(crate) fn of_fabric(kind: FindingKind, text: String) -> Self {
        Self { line: None, kind, text }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(line) = self.line {
            write!(f, "line {line}: ")?;
        }
        write!(f, "{}: {}", self.kind.name(), self.text)
    }
}

pub(crate) fn plural(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}
