//! Mechanisms: one folder each, with all parts of it in this crate.
//!
//! ```text
//!   keys      what a scenario writes; types of `gingham_net` where a state machine takes them as they are
//!   checks    what is refused or noted, a row each (`crate::check`)
//!   plan      integers for the state machine, which is the folder of the same name in `gingham_net`
//!   columns   what results report of it
//! ```
//!
//! A mechanism leaves out the files that it does not need.

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
