//! GraphML, as written by NetworkX, Gephi, yEd and igraph.
//!
//! ```text
//!   <key id="d0" for="node" attr.name="type"/>  <key id="d1" for="edge" attr.name="speed"/>
//!   <graph edgedefault="undirected">
//!     <node id="n0"><data key="d0">switch</data></node>
//!     <edge source="n0" target="n1" sourceport="1"><data key="d1">4xNDR</data></edge>
//! ```
//!
//! Nodes may have `name` or `label`, and `kind` or `type`; edges may have ports, `speed`, `width`
//! and `length`. Nested graphs are flattened.
//!
//! Source: The GraphML File Format, <http://graphml.graphdrawing.org>.

use super::error::{FormatError, count};
use super::graph::{Edge, Graph, port, speed};
use super::text::Parsed;
use crate::speed::ReportedSpeed;
use roxmltree::{Document, Node as Element};
use std::collections::{BTreeMap, BTreeSet};

const EXPECTED: &str = "expected GraphML, with elements such as `<node id=\"n0\"/>` and \
                        `<edge source=\"n0\" target=\"n1\"/>`";

pub(super) fn read(text: &str) -> Result<Parsed, FormatError> {
    let document = Document::parse(text).map_err(|error| {
        let place = error.pos();
        FormatError::at(place.row.max(1), Some(place.col), error.to_string(), EXPECTED)
    })?;
    let reader = Reader { document: &document, keys: keys(&document) };
    if !document.root_element().has_tag_name_of("graphml") {
        return Err(reader.error(document.root_element(), "this XML is not GraphML", EXPECTED));
    }
    reader.graph()?.finish()
}

/// Comparison of element names without their namespace, which some programs omit.
trait TagName {
    fn has_tag_name_of(&self, name: &str) -> bool;
}

impl TagName for Element<'_, '_> {
    fn has_tag_name_of(&self, name: &str) -> bool {
        self.is_element() && self.tag_name().name() == name
    }
}

fn keys(document: &Document<'_>) -> BTreeMap<String, String> {
    let keys = document.descendants().filter(|element| element.has_tag_name_of("key"));
    keys.filter_map(|key| {
        let name = key.attribute("attr.name").or_else(|| key.attribute("id"))?;
        Some((key.attribute("id")?.to_owned(), name.to_ascii_lowercase()))
    })
    .collect()
}

struct Reader<'a, 'input> {
    document: &'a Document<'input>,
    keys: BTreeMap<String, String>,
}

impl Reader<'_, '_> {
    fn line(&self, element: Element<'_, '_>) -> u32 {
        let row = self.document.text_pos_at(element.range().start).row;
        count(usize::try_from(row).unwrap_or(usize::MAX)).max(1)
    }

    fn error(
        &self,
        element: Element<'_, '_>,
        message: impl Into<String>,
        expected: &str,
    ) -> FormatError {
        FormatError::at(self.line(element), None, message, expected)
    }

    /// Returns the value of the first of `names` that exists as an XML attribute or a data element.
    fn stated<'b>(&self, element: Element<'b, '_>, names: &[&str]) -> Option<&'b str> {
        let data = |name: &str| {
            let is_it = |data: &Element<'_, '_>| {
                let key = data.attribute("key").unwrap_or("");
                let stated = self.keys.get(key).map_or(key, String::as_str);
                data.has_tag_name_of("data") && stated == name
            };
            element.children().find(is_it)?.text()
        };
        let found = |name: &&str| element.attribute(*name).or_else(|| data(name));
        names.iter().find_map(found).map(str::trim).filter(|text| !text.is_empty())
    }

    fn graph(&self) -> Result<Graph, FormatError> {
        let mut graph = Graph::default();
        let mut known = BTreeSet::new();
        let elements = || self.document.descendants();
        for element in elements().filter(|element| element.has_tag_name_of("node")) {
            let id = self.attribute(element, "id")?;
            if !known.insert(id) {
                let message = format!("the id {id:?} is taken");
                return Err(self.error(element, message, "ids must be unique"));
            }
            let node = graph.node(id);
            if let Some(name) = self.stated(element, &["name", "label"]) {
                graph.set_name(node, name);
            }
            let kind = self.stated(element, &["kind", "type"]).unwrap_or("");
            graph.set_kind(self.line(element), node, kind);
        }
        for element in elements().filter(|element| element.has_tag_name_of("edge")) {
            let edge = self.edge(&mut graph, &known, element)?;
            graph.add(edge);
        }
        Ok(graph)
    }

    fn attribute<'b>(&self, element: Element<'b, '_>, name: &str) -> Result<&'b str, FormatError> {
        let tag = element.tag_name().name();
        element.attribute(name).ok_or_else(|| {
            let message = format!("this {tag} has no `{name}`");
            self.error(element, message, EXPECTED)
        })
    }

    fn edge(
        &self,
        graph: &mut Graph,
        known: &BTreeSet<&str>,
        element: Element<'_, '_>,
    ) -> Result<Edge, FormatError> {
        let mut ends = [(0, None); 2];
        let ports = [["sourceport", "source_port"], ["targetport", "target_port"]];
        for ((end, side), names) in ends.iter_mut().zip(["source", "target"]).zip(ports) {
            let id = self.attribute(element, side)?;
            if !known.contains(id) {
                let message = format!("no node has the id {id:?}");
                return Err(self.error(element, message, "expected the `id` of a node"));
            }
            // GraphML ports may be words; only numbers are used.
            let port = self.stated(element, &names).and_then(|text| port(text).ok().flatten());
            *end = (graph.node(id), port);
        }
        let mut reported = ReportedSpeed::default();
        for name in [["speed", "rate"], ["width", "width"]] {
            let text = self.stated(element, &name).unwrap_or("");
            let one = speed(text).ok_or_else(|| {
                let expected = "expected a speed such as 4xNDR, NDR, 2x or 80 MB/s";
                self.error(element, format!("{text:?} is not a speed"), expected)
            })?;
            reported = reported.or(one);
        }
        let length = self.stated(element, &["length"]);
        let length = length.map(str::parse).transpose().map_err(|_| {
            self.error(element, "this is not a length", "expected one such as 25 m")
        })?;
        Ok(Edge { line: self.line(element), ends, speed: reported, length })
    }
}
