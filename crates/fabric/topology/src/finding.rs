//! Findings: content that parses but cannot be right.

use std::fmt;

/// Severity of a finding.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Severity {
    /// No fault; `check` does not fail.
    Note,
    /// Fault of the fabric or its dump.
    Warning,
}

/// Kind of a finding.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum FindingKind {
    /// A cable that only one end lists.
    OneSidedCable,
    /// Ends of a cable that disagree on ports, speed or names.
    Disagreement,
    /// A node named by links, but without a record.
    UndefinedNode,
    /// Two nodes with one GUID.
    DuplicateGuid,
    /// Two ports with one LID.
    DuplicateLid,
    /// A LID outside the unicast range: 0, 65535 or none.
    NoLid,
    /// A cable between two ports of one node.
    LoopCable,
    /// A part without a path to the largest part.
    Island,
    /// A host without any cable.
    UncabledHost,
    /// A host name in descriptions at several systems.
    SharedName,
    /// A description without a host name at several systems.
    DefaultName,
    /// Adapters of a host, each on another's rail.
    SwappedRails,
    /// A compute node without an adapter on a rail of its unit.
    MissingAdapter,
    /// A compute node with cables to leaves of several units.
    DividedNode,
    /// A system GUID of several hosts.
    SharedSystem,
    /// A switch of a tree with fewer uplinks than its siblings.
    MissingUplink,
    /// A cable slower than most of its neighbours.
    SlowCable,
    /// Parallel or uneven uplinks and the like.
    Unevenness,
    /// A cable of unknown speed beside known ones, or of half-known speed.
    UnknownSpeed,
    /// A LID that appears in tables but belongs to no port.
    UnknownLid,
    /// A switch that management packets do not reach.
    UnreachedSwitch,
    /// A gap in the tables of lanes, filled by a default.
    MissingLane,
    /// Content of the source that its reader skips.
    Ignored,
    /// A choice that the format leaves to its reader.
    Assumption,
    /// Lines outside the format, such as a prompt.
    Noise,
    /// Names that are not UTF-8.
    Encoding,
}

impl FindingKind {
    /// Severity of this kind.
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

    /// Short name for tables and scripts.
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

/// A finding and its position.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Finding {
    /// Line of the source, from 1, if known.
    pub line: Option<u32>,
    /// Kind.
    pub kind: FindingKind,
    /// Details, in one sentence.
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
