//! Mechanisms, one folder each; unneeded files are left out.
//!
//! ```text
//!   keys      keys of a scenario; or types of `gingham_net` that a state machine uses unchanged
//!   checks    refusals and notes, one row each (`crate::check`)
//!   plan      integers for the state machine, in the folder of this name in `gingham_net`
//!   columns   columns and summaries of results
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
