//! Constant window and pace, whatever is marked.

use super::{Adapt, Limits, Respond};
use gingham_kernel::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters of `fixed`: none.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Fixed {}

impl Respond for Fixed {
    type Memory = Self;

    fn start(&self, _limits: &Limits) -> Self {
        *self
    }
}

impl Adapt for Fixed {
    fn down(&mut self, _limits: &mut Limits, _now: Time) {}

    fn up(&mut self, _limits: &mut Limits, _now: Time) {}
}
