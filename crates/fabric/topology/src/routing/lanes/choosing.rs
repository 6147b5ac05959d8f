//! The lanes of packets that choose at every switch: how many are for escape.
//!
//! ```text
//!   asked, or what the algorithm needs ──► the lowest lanes of every class ──► escape | adaptive
//!      mesh 1, torus with rings of four 2, tree 0
//! ```
//!
//! Invariant: where there are escape lanes, every class has a lane beside them.

use super::datelines::{DatelineRule, Datelines};
use super::rule::Lanes;
use super::set::{LANES_MAX, LaneSet};
use crate::Fabric;
use std::fmt;

/// Why lanes cannot be shared out for escape.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EscapeError {
    /// So many escape lanes are none, or more than a class could have.
    OutOfRange(i64),
    /// One escape lane where rings need one for each dateline class.
    OneOnRings,
    /// No lane is left to choose.
    NoneLeft {
        /// Lanes of the first VC class with too few.
        lanes: usize,
        /// How many are for escape.
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
                "the lowest {escape} lanes of each class are for escape, and a class has {lanes}: give it one more at least, on \
                 which packets choose"
            ),
        }
    }
}

impl std::error::Error for EscapeError {}

impl Lanes {
    /// Those of packets that choose at every switch: of each set in `vc_classes` the lowest `asked` for
    /// escape, or, where nothing is asked, as many as the routing algorithm needs: for one that needs
    /// datelines (dimension-order) 1, and 2 where rings of four or more close; else none.
    ///
    /// # Errors
    /// Escape lanes that are not there, or that leave no lane to choose.
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
