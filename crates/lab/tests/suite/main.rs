//! From the text of a scenario to its record.

mod adaptive;
mod admission;
mod congestion;
mod datelines;
mod flows;
mod follow;
mod imported;
mod in_transit;
mod lanes;
mod losses;
mod milestones;
mod old_names;
mod packets;
mod paths;
mod pauses;
mod policing;
mod presets;
mod replies;
mod routers;
mod run;
mod segments;
mod stepping;
mod throttle;
mod trees;
mod verdicts;
mod windows;
