//! Mechanisms, in one folder each, with these files as needed:
//!
//! ```text
//!   keys      scenario keys, or types of `gingham_net` that a state machine uses unchanged
//!   checks    refusals and notes, one table row each (`crate::check`)
//!   plan      integers for the state machine, which is in the folder of this name in `gingham_net`
//!   columns   result columns and summaries
//! ```

pub(crate) mod admission;
pub(crate) mod arbiters;
pub(crate) mod flow_control;
pub(crate) mod in_transit;
pub(crate) mod marking;
pub(crate) mod policing;
pub(crate) mod posting;
pub(crate) mod streams;
pub(crate) mod throttle;
pub(crate) mod window;
