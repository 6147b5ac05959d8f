//! Lanes that tables of a subnet manager use, and an arbiter that does not serve them.

use gingham_lab::compile;
use gingham_lab::scenario::{Overrides, ScenarioSource};
use std::path::Path;

/// The service level is the lane; `h0-0` to `h1-0` uses level 1.
const RING: &str = "[topology]\nfile = \"ring.ibnetdiscover\"\n\n[routing]\ntables = \"opensm-lfts.dump\"\n\
                    lane_tables = \"opensm-sl2vl.dump\"\nservice_levels = \"levels.csv\"\n";

fn refusal(place: &str, weights: &str, destinations: &str) -> Option<String> {
    let folder =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../topology/tests/fixtures/opensm-ring");
    let text = format!(
        "{RING}\n[network]\npreset = \"yum-1600\"\n\n[network.lanes]\ncount = 8\n\
         {place} = {{ weighted-round-robin = {{ weights = {weights} }} }}\n\n\
         [[traffic]]\nname = \"all\"\nhosts = [\"h0-0\"]\ndestinations = {destinations}\nload = 0.1\n\
         length = {{ fixed = \"64 B\" }}\n\n[stop]\ntime = \"1 ms\"\n"
    );
    let source = ScenarioSource::parse("ring.toml", &text, &folder, &Overrides::default()).unwrap();
    compile(&source, false).err().map(|error| error.to_string())
}

#[test]
fn tables_leading_to_an_unserved_lane_are_refused() {
    let one = "{ host = \"h1-0\" }";
    for place in ["crossbar_input", "crossbar_output", "link_output", "adapter_port"] {
        assert_eq!(refusal(place, "[1, 1, 1, 1, 1, 1, 1, 1]", "\"uniform\""), None);
        let described = refusal(place, "[1, 0, 1, 1, 1, 1, 1, 1]", "\"uniform\"").unwrap();
        let expected = format!(
            "in `network.lanes.{place}`: tables lead packets of class `all` from `h0-0` to `h1-0` on lane 1, which is \
             never served here: give the lane a weight"
        );
        assert!(described.ends_with(&expected), "{described}");
        // Lanes of unused pairs need no weight.
        assert_eq!(refusal(place, "[0, 1, 0, 0, 0, 0, 0, 0]", one), None);
        assert!(refusal(place, "[1, 0, 1, 1, 1, 1, 1, 1]", one).is_some());
    }
}
