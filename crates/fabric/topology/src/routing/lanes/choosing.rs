//! Number of escape lanes with adaptive routing.
//!
//! Invariant: with escape lanes, every VC class also has an adaptive lane.

use super::datelines::{DatelineRule, Datelines};
use super::rule::Lanes;
use super::set::{LANES_MAX, LaneSet};
use crate::Fabric;
use std::fmt;

/// Reason why no escape lanes can be reserved.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EscapeError {
    /// Number of escape lanes that is negative or too large.
    OutOfRange(i64),
    /// A single escape lane on rings, which need one for each dateline class.
    OneOnRings,
    /// VC class without any adaptive lane left.
    NoneLeft {
        /// Number of lanes of the first VC class with too few lanes.
        lanes: usize,
        /// Number of escape lanes.
        escape: usize,
    },
}

impl fmt::Display for EscapeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OutOfRange(asked) => write!(
                f,
                "from 0 to {} lanes can be for escape, since there are at most {LANES_MAX} and packets choose on one at least, not {asked}",
                LANES_MAX - 1
            ),
            Self::OneOnRings => f.write_str(
                "rings of four switches or more close here, and take an escape lane for each of two dateline classes: say 2, or \
                 0 for none",
            ),
            Self::NoneLeft { lanes, escape } => write!(
                f,
                "the lowest {escape} lanes of each class are for escape, and a class has {lanes}: give it at least \
                 one more for packets to choose"
            ),
        }
    }
}

impl std::error::Error for EscapeError {}

impl Lanes {
    /// Creates the lanes for adaptive routing; the lowest `asked` lanes of each VC class are escape
    /// lanes. The default is the number that the routing algorithm needs: with datelines
    /// (dimension-order) 1, or 2 on rings of four or more switches; otherwise 0.
    pub fn of_choosing(
        fabric: &Fabric,
        needs_datelines: bool,
        vc_classes: &[LaneSet],
        asked: Option<i64>,
    ) -> Result<Self, EscapeError> {
        let of_grid = || Datelines::new(fabric, DatelineRule::ByWrap).ok();
        let datelines = needs_datelines.then(of_grid).flatten();
        let needed = datelines.as_ref().map_or(0, Datelines::dateline_classes);
        let datelines = datelines.filter(|_| needed == Datelines::CLASSES);
        let escape = match asked {
            None => needed,
            Some(asked) => usize::try_from(asked)
                .ok()
                .filter(|count| *count < LANES_MAX.into())
                .ok_or(EscapeError::OutOfRange(asked))?,
        };
        if escape == 0 {
            return Ok(Self::free(vc_classes));
        }
        if escape == 1 && datelines.is_some() {
            return Err(EscapeError::OneOnRings);
        }
        let mut lanes = vc_classes.iter().map(|of| of.len() as usize);
        if let Some(lanes) = lanes.find(|lanes| *lanes <= escape) {
            return Err(EscapeError::NoneLeft { lanes, escape });
        }
        Ok(Self::with_escape(datelines, vc_classes, escape))
    }
}
