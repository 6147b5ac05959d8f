//! Constant window and rate limit.

use super::{Adapt, Limits, Respond};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters of `fixed`: none.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Fixed {}

impl Respond for Fixed {
    type Memory = Self;

    fn marking(&self) -> Option<&'static str> {
        None
    }

    fn start(&self, _limits: &Limits) -> Self {
        *self
    }
}

impl Adapt for Fixed {}
