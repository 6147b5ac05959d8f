//! Findings: content that parses but cannot be right, such as a cable that only one of its ends
//! lists. Unreadable syntax is an error instead (`format::FormatError`).

use std::fmt;

/// Severity of a finding.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Severity {
    /// Worth knowing; `check` does not fail because of it.
    Note,
    /// A fault of the fabric or its dump.
    Warning,
}

/// Kind of a finding; its text gives the particulars.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum FindingKind {
    /// A cable that only one end lists.
    OneSidedCable,
    /// The two ends of a cable disagree on their ports, speed or names.
    Disagreement,
    /// A node that is named by links but not defined by a record.
    UndefinedNode,
    /// Two nodes with one GUID.
    DuplicateGuid,
    /// Two ports with one LID.
    DuplicateLid,
    /// A value in the place of a LID that is no port's LID: 0, 65535 or nothing.
    NoLid,
    /// A cable whose ends are two ports of one node.
    LoopCable,
    /// A part of the fabric that is not connected to the largest part.
    Island,
    /// A host without any cable.
    UncabledHost,
    /// A host name in the descriptions of adapters of several systems.
    SharedName,
    /// A description without a host name, such as the vendor's default, at adapters of several
    /// systems.
    DefaultName,
    /// Adapters of a host, each on the leaf of another.
    SwappedRails,
    /// A compute node without an adapter on a rail that most nodes of its unit have.
    MissingAdapter,
    /// A compute node with cables to the leaves of several units.
    DividedNode,
    /// A system GUID of adapters whose descriptions name several hosts.
    SharedSystem,
    /// A switch of a tree with fewer uplinks than its siblings.
    MissingUplink,
    /// A cable slower than most of its neighbours.
    SlowCable,
    /// Parallel or uneven uplinks and the like: permitted, but worth knowing.
    Unevenness,
    /// A cable of unknown speed beside others of known speed, or a cable of half-known speed.
    UnknownSpeed,
    /// A LID with entries in tables that no port of the fabric has.
    UnknownLid,
    /// A switch whose tables misdirect management packets for another switch.
    UnreachedSwitch,
    /// A gap in the tables that select lanes, filled by a default.
    MissingLane,
    /// A part of the source that this format's reader passes over.
    Ignored,
    /// A choice that the format leaves to its reader, such as the length of a cycle's cable.
    Assumption,
    /// Lines outside the format, such as the prompt of a shell.
    Noise,
    /// Names in another character set than UTF-8.
    Encoding,
}

impl FindingKind {
    /// Severity of findings of this kind.
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
    /// Line of the source, from 1, if one line can be named.
    pub line: Option<u32>,
    /// Kind of finding.
    pub kind: FindingKind,
    /// Particulars, in one sentence.
    pub text: String,
}

impl Finding {
    /// Creates a finding about the fabric as a whole, rather than a line of its source.
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

/// Formats a count with its noun: `1 switch`, `2 switches`, `5 hosts`.
pub(crate) fn plural(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}
