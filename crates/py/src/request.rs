//! Routing requests.
//!
//! ```text
//!   algorithm, form ─► routes ─┬─► used as computed                                ─┐
//!   adaptive ──────────────────┴─► tables for adaptive routing, with escape lanes  ─┴► proof
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

#[derive(Debug, serde::Deserialize)]
pub(crate) struct Request {
    pub(crate) algorithm: Algorithm,
    form: Option<Form>,
    memory_max: Option<Bytes>,
    when_full: WhenFull,
    lanes: u8,
    datelines: Option<DatelineChoice>,
    adaptive: bool,
    escape_lanes: Option<i64>,
}

/// Reaction of an in-transit host to a packet that does not fit its pool.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
enum WhenFull {
    /// Stores the packet in host memory.
    Spill,
    /// Blocks the packet in the network.
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

/// Key of the refused parameter, and reason for the refusal.
pub(crate) struct Refused(String, String);

impl Refused {
    pub(crate) fn raise(self, py: Python<'_>) -> PyErr {
        let Self(key, message) = self;
        error::refusal_of(py, &key, message)
    }
}

impl From<RouteError> for Refused {
    fn from(error: RouteError) -> Self {
        let key = match error {
            RouteError::TooLarge { .. } => "memory_max".to_owned(),
            RouteError::UnknownRoot { .. }
            | RouteError::RootIsNoSwitch { .. }
            | RouteError::TwoRootsDepthFirst { .. } => "root".to_owned(),
            RouteError::SourceFormOnly { .. } => "form".to_owned(),
            _ => error
                .parameter()
                .map_or("algorithm".to_owned(), |parameter| format!("algorithm.{parameter}")),
        };
        Self(key, error.to_string())
    }
}

impl Request {
    /// Parses a request; `algorithm` is a name or a dict.
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
            return Err(error::refusal_of(py, "lanes", message));
        }
        let request = json!({
            "algorithm": convert::from_python(algorithm)?, "form": form, "when_full": when_full, "lanes": lanes,
            "datelines": datelines.map(convert::from_python).transpose()?, "memory_max": memory_max,
            "adaptive": adaptive, "escape_lanes": escape_lanes,
        });
        let tree = Tree::from_json("Fabric.route", &request);
        tree.and_then(|tree| tree.read()).map_err(|refused| error::input(py, &refused))
    }

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

    pub(crate) fn ejection(&self) -> Ejection {
        self.when_full.into()
    }

    fn form(&self, fabric: &Fabric) -> Result<Form, Refused> {
        match self.form {
            Some(Form::Source) if self.adaptive => {
                let message = "a packet that chooses at every switch carries no route: say \"table\", or leave the form out";
                Err(Refused("form".to_owned(), message.to_owned()))
            }
            None if self.adaptive => Ok(Form::Table),
            asked => Ok(asked.unwrap_or_else(|| Form::by_default(fabric, &self.algorithm))),
        }
    }

    pub(crate) fn lanes(&self, fabric: &Fabric) -> Result<Option<Lanes>, Refused> {
        let (needs_datelines, lanes) = (self.algorithm.needs_datelines(), self.lanes);
        if self.adaptive {
            return self.lanes_to_choose(fabric).map(Some);
        }
        if self.escape_lanes.is_some() {
            let message = "escape lanes are for packets that choose at every switch, and these follow one path (adaptive=True): \
                           leave them out, or let packets choose";
            return Err(Refused("escape_lanes".to_owned(), message.to_owned()));
        }
        let datelines = self.datelines.map(DatelineChoice::rule);
        let has_several = lanes > 1 || datelines.flatten().is_some();
        let lanes = has_several.then(|| Lanes::of_all(fabric, needs_datelines, lanes, datelines));
        lanes.transpose().map_err(|error| {
            Refused("datelines".to_owned(), format!("datelines need a mesh or torus: {error}"))
        })
    }

    fn lanes_to_choose(&self, fabric: &Fabric) -> Result<Lanes, Refused> {
        if self.datelines.is_some() {
            let message = "packets that choose at every switch use dateline classes only on their escape lanes, as \
                           needed: leave datelines out";
            return Err(Refused("datelines".to_owned(), message.to_owned()));
        }
        let vc_classes = [LaneSet::first_n(self.lanes)];
        let needs_datelines = self.algorithm.needs_datelines();
        Lanes::of_choosing(fabric, needs_datelines, &vc_classes, self.escape_lanes).map_err(|error| {
            let message = match error {
                EscapeError::NoneLeft { lanes, escape } => format!(
                    "the lowest {escape} of {lanes} lanes would be for escape (escape_lanes), and none would be \
                     left for packets to choose: set at least {} lanes (lanes)",
                    escape + 1
                ),
                _ => error.to_string(),
            };
            Refused("escape_lanes".to_owned(), message)
        })
    }
}

fn choosing(fabric: &Fabric, routes: Routes) -> Result<Routes, Refused> {
    let Routes::Table(tables) = routes else { unreachable!("the form is that of tables") };
    let tables = tables
        .made_adaptive(fabric)
        .map_err(|longer| Refused("algorithm".to_owned(), longer.describe(fabric)))?;
    Ok(Routes::Table(tables))
}
