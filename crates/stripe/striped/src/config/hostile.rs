//! Fuzz target: any text is either a valid configuration or rejected with its file name.

use std::path::Path;

use gingham_input::{Overrides, Source};

use super::Config;

/// Parses a text, and derives the parameters needed at startup.
pub fn any_configuration(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    match Source::<Config>::parse("some.toml", &text, Path::new("."), &Overrides::default()) {
        Ok(source) => {
            let config = source.scenario;
            assert!(config.mtu_min() >= 68);
            for at in config.channels_at() {
                let _ = at.channel.link(&config);
            }
        }
        Err(error) => {
            let message = error.to_string();
            assert!(message.contains("some.toml"), "{message}");
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    const RIGHT: &str = r#"name = "bundle0"
addresses = ["10.90.0.1/24", "fd00::1/64"]
mtu = 1400
private-key = "bundle0.key"
order = "strict"
control = "cubic"
routes = ["0.0.0.0/0"]
table = 7
priority = 31000
mark = 9
user = "nobody"
allow-plaintext = true
scheduler = "surplus-round-robin"
offload = true
[ether-types]
packets = 0x88b5
[peer]
public-key = "8f40c5adb68f25624ae5b214ea767a6ec94d829d3d7b5e1ad1ba6f3e2138285f"
preshared-key = "bundle0.psk"
allowed-ips = ["10.90.0.0/24"]
[[channel]]
local = "192.0.2.7:7000"
remote = "[2001:db8::1]:7000"
[[channel]]
interface = "wan0"
ethernet = "eth0"
peer = "02:00:00:00:00:01"
quantum-bytes = 1500
"#;

    fn next(state: &mut u64) -> usize {
        *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let word = (*state ^ (*state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((word ^ (word >> 31)) >> 32).expect("32 bits")
    }

    fn spoilt(seed: u64) -> Vec<u8> {
        let mut state = seed << 32;
        let mut lines: Vec<String> = RIGHT.lines().map(Into::into).collect();
        for _ in 0..=next(&mut state) % 4 {
            let (one, other) = (next(&mut state) % lines.len(), next(&mut state) % lines.len());
            match next(&mut state) % 5 {
                0 => drop(lines.remove(one)),
                1 => lines.swap(one, other),
                2 => lines.insert(one, lines[other].clone()),
                3 => {
                    let value = lines[other].split(" = ").nth(1).unwrap_or("[[{").to_owned();
                    let key = lines[one].split(" = ").next().unwrap_or_default().to_owned();
                    lines[one] = format!("{key} = {value}");
                }
                _ => {
                    let numbers =
                        ["-1", "0", "65536", "18446744073709551616", "1e999", "\"\"", "[]"];
                    let key = lines[one].split(" = ").next().unwrap_or_default().to_owned();
                    lines[one] = format!("{key} = {}", numbers[next(&mut state) % numbers.len()]);
                }
            }
        }
        let mut bytes = lines.join("\n").into_bytes();
        for _ in 0..next(&mut state) % 3 {
            let at = next(&mut state) % bytes.len();
            bytes[at] = next(&mut state).to_be_bytes()[7];
        }
        bytes
    }

    #[test]
    fn unmutated_configuration_is_valid() {
        any_configuration(RIGHT.as_bytes());
        let read =
            Source::<Config>::parse("some.toml", RIGHT, Path::new("."), &Overrides::default());
        read.unwrap_or_else(|error| panic!("{error}"));
    }

    #[test]
    fn arbitrary_text_is_a_configuration_or_an_error() {
        (0..5_000).for_each(|seed| any_configuration(&spoilt(seed)));
    }

    #[test]
    fn fuzz_corpus_is_handled() {
        let folder =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../fuzz/corpus/configuration");
        let inputs = fs::read_dir(&folder).expect("it is there");
        let inputs = inputs.map(|entry| fs::read(entry.expect("it can be listed").path()));
        let count = inputs.map(|data| any_configuration(&data.expect("it can be read"))).count();
        assert!(count >= 4, "{count}");
    }
}
