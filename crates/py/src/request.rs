//! What a program asks of routes, and why there may be none.
//!
//! ```text
//!   algorithm, form ─► routes ─┬─► as they are                                        ┐
//!   adaptive ──────────────────┴─► tables beside which packets choose, escape lanes   ┴► proof
//! ```

use gingham_input::Tree;
use gingham_kernel::Bytes;
use gingham_lab::scenario::DatelineChoice;
use gingham_topology::Fabric;
use gingham_topology::routing::{
    self, Algorithm, Ejection, EscapeError, Form, LaneSet, Lanes, RouteError, Routes,
};
use pyo3::prelude::*;
use serde_json::json;

use crate::{error, json as convert};

/// What a request for routes consists of.
#[derive(Debug, serde::Deserialize)]
pub(crate) struct Request {
    pub(crate) algorithm: Algorithm,
    /// Open for what the size of the fabric asks for.
    form: Option<Form>,
    memory_max: Option<Bytes>,
    when_full: WhenFull,
    /// Lanes, any of which a packet may take.
    lanes: u8,
    /// Whether they are shared out at datelines; open for what the algorithm needs.
    datelines: Option<DatelineChoice>,
    /// Whether packets choose at every switch.
    adaptive: bool,
    /// Lanes that are for escape then; open for what the algorithm needs.
    escape_lanes: Option<i64>,
}

/// What an in-transit host does with a packet for which its pool has no room.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
enum WhenFull {
    /// Takes it in all the same.
    Spill,
    /// Lets it wait.
    Stop,
}

impl From<WhenFull> for Ejection {
    fn from(when_full: WhenFull) -> Self {
        match when_full {
            WhenFull::Spill => Self::Always,
            WhenFull::Stop => Self::UntilFull,
        }
    }
}

/// Why there are no routes: the parameter that is to blame, if one is, and the message.
pub(crate) struct Refused(Option<String>, String);

impl Refused {
    /// The exception.
    pub(crate) fn raise(self, py: Python<'_>) -> PyErr {
        match self {
            Self(Some(key), message) => error::refusal_of(py, &key, message),
            Self(None, message) => error::refusal(py, message),
        }
    }
}

impl From<RouteError> for Refused {
    fn from(error: RouteError) -> Self {
        let key = match error {
            RouteError::TooLarge { .. } => Some("memory_max".to_owned()),
            _ => error.parameter().map(|parameter| format!("algorithm.{parameter}")),
        };
        Self(key, error.to_string())
    }
}

impl Request {
    /// `algorithm` is a name or a dict of one.
    pub(crate) fn read(
        py: Python<'_>,
        algorithm: &Bound<'_, PyAny>,
        (form, memory_max): (Option<&str>, Option<&str>),
        when_full: &str,
        lanes: u8,
        datelines: Option<&Bound<'_, PyAny>>,
        (adaptive, escape_lanes): (bool, Option<i64>),
    ) -> PyResult<Self> {
        if !(1..=routing::LANES_MAX).contains(&lanes) {
            let message =
                format!("a channel has from 1 to {} lanes, not {lanes}", routing::LANES_MAX);
            return Err(error::refusal(py, message));
        }
        let request = json!({
            "algorithm": convert::from_python(algorithm)?, "form": form, "when_full": when_full, "lanes": lanes,
            "datelines": datelines.map(convert::from_python).transpose()?, "memory_max": memory_max,
            "adaptive": adaptive, "escape_lanes": escape_lanes,
        });
        let tree = Tree::from_json("Fabric.route", &request);
        tree.and_then(|tree| tree.read()).map_err(|refused| error::input(py, &refused))
    }

    /// The routes that are asked for.
    pub(crate) fn routes(&self, fabric: &Fabric) -> Result<Routes, Refused> {
        let form = self.form(fabric)?;
        if self.adaptive {
            self.algorithm.check_choosing()?;
        }
        let bytes_max = self.memory_max.map_or(routing::ROUTE_BYTES_MAX, |bytes| bytes.0);
        let routes = routing::route_within(fabric, &self.algorithm, form, bytes_max);
        if self.adaptive {
            choosing(fabric, routes.map_err(RouteError::of_choosing)?)
        } else {
            Ok(routes?)
        }
    }

    /// What in-transit hosts do when they are full.
    pub(crate) fn ejection(&self) -> Ejection {
        self.when_full.into()
    }

    /// The form that is asked for, or that the size of the fabric asks for.
    fn form(&self, fabric: &Fabric) -> Result<Form, Refused> {
        match self.form {
            Some(Form::Source) if self.adaptive => {
                let message = "a packet that chooses at every switch carries no route: say \"table\", or leave the form out";
                Err(Refused(Some("form".to_owned()), message.to_owned()))
            }
            None if self.adaptive => Ok(Form::Table),
            asked => Ok(asked.unwrap_or_else(|| Form::by_default(fabric, &self.algorithm))),
        }
    }

    /// The lanes that packets may take, if there are several.
    pub(crate) fn lanes(&self, fabric: &Fabric) -> Result<Option<Lanes>, Refused> {
        let (needs_datelines, lanes) = (self.algorithm.needs_datelines(), self.lanes);
        if self.adaptive {
            return self.lanes_to_choose(fabric).map(Some);
        }
        if self.escape_lanes.is_some() {
            let message = "escape lanes are for packets that choose at every switch, and these follow one path (adaptive=True): \
                           leave them out, or let packets choose";
            return Err(Refused(Some("escape_lanes".to_owned()), message.to_owned()));
        }
        let datelines = self.datelines.map(DatelineChoice::rule);
        let has_several = lanes > 1 || datelines.flatten().is_some();
        let lanes = has_several.then(|| Lanes::of_all(fabric, needs_datelines, lanes, datelines));
        lanes
            .transpose()
            .map_err(|error| Refused(None, format!("datelines need a mesh or torus: {error}")))
    }

    /// The lanes of packets that choose at every switch.
    fn lanes_to_choose(&self, fabric: &Fabric) -> Result<Lanes, Refused> {
        if self.datelines.is_some() {
            let message = "packets that choose at every switch have dateline classes on their escape lanes alone, where they are \
                           needed: leave datelines out";
            return Err(Refused(Some("datelines".to_owned()), message.to_owned()));
        }
        let vc_classes = [LaneSet::first_n(self.lanes)];
        let needs_datelines = self.algorithm.needs_datelines();
        Lanes::of_choosing(fabric, needs_datelines, &vc_classes, self.escape_lanes).map_err(|error| {
            let message = match error {
                EscapeError::NoneLeft { lanes, escape } => format!(
                    "the lowest {escape} of {lanes} lanes would be for escape (escape_lanes), and none be left on which packets \
                     choose: say {} lanes at least (lanes)",
                    escape + 1
                ),
                _ => error.to_string(),
            };
            Refused(Some("escape_lanes".to_owned()), message)
        })
    }
}

/// Tables beside which packets choose at every switch.
fn choosing(fabric: &Fabric, routes: Routes) -> Result<Routes, Refused> {
    let Routes::Table(tables) = routes else { unreachable!("the form is that of tables") };
    let tables = tables
        .made_adaptive(fabric)
        .map_err(|longer| Refused(Some("algorithm".to_owned()), longer.describe(fabric)))?;
    Ok(Routes::Table(tables))
}
