//! One clear message for every text that is not a fabric, and recognition of those that are.

use gingham_topology::format::{self, Format, FormatError};

fn error(text: &str, format: Format) -> FormatError {
    format::read(text, format).expect_err(text).first().clone()
}

#[test]
fn empty_file_error_says_empty() {
    for format in Format::ALL {
        for text in ["", "\n\n", " \t\r\n", "\u{feff}"] {
            let error = error(text, format);
            assert_eq!((error.line, error.message.as_str()), (0, "the file is empty"), "{format}");
        }
    }
}

#[test]
fn text_without_nodes_error_shows_the_node_syntax() {
    let cases = [
        (Format::Ibnetdiscover, "# Topology file\nvendid=0x2c9\n", "Switch"),
        (Format::Toml, "# nothing\n", "[[switch]]"),
    ];
    for (format, text, expected) in cases {
        let error = error(text, format);
        assert_eq!((error.line, error.message.as_str()), (0, "the file names no node"), "{format}");
        assert!(error.expected.contains(expected), "{error}");
    }
}

#[test]
fn binary_files_are_refused_at_the_first_invalid_byte() {
    let decoded = format::decode("a\nbé".as_bytes()).unwrap();
    assert_eq!((&*decoded.text, decoded.finding), ("a\nbé", None));
    let place = |bytes: &[u8]| {
        let error = format::decode(bytes).unwrap_err();
        (error.line, error.column, error.message)
    };
    let nul = "a NUL byte at offset 5: this looks like a binary file".to_owned();
    assert_eq!(place(b"a\nb\xc3\xa9\0\xff"), (2, Some(3), nul));
    let nul = "a NUL byte at offset 2: this looks like a binary file".to_owned();
    assert_eq!(place(b"n\xe9\0"), (1, Some(3), nul));
    assert_eq!(place(b"\xff\xfeS\0w\0").2, "the file is in UTF-16");
    let error = error("Switch 4 \"a\"\n\0", Format::Ibnetdiscover);
    assert_eq!((error.line, error.column), (2, Some(1)));
}

#[test]
fn dot_files_cannot_be_read() {
    let error = error("graph {}", Format::Dot);
    assert_eq!(error.message, "a Graphviz drawing cannot be read back");
}

#[test]
fn formats_have_names_and_extensions() {
    for format in Format::ALL {
        assert_eq!(format.name().parse(), Ok(format));
        for extension in format.extensions() {
            assert_eq!(Format::from_extension(extension), Some(format));
            assert_eq!(Format::from_extension(&extension.to_uppercase()), Some(format));
        }
    }
    assert_eq!(Format::from_extension("doc"), None);
    let error = "ibnetdiscovr".parse::<Format>().unwrap_err().to_string();
    assert_eq!(
        error,
        "\"ibnetdiscovr\" is not a format; did you mean \"ibnetdiscover\"? \
         Formats are ibnetdiscover, ibsim, anynet, toml, lst, csv, graphml, dot, slurm, \
         slurm-block, slurm-yaml"
    );
}

#[test]
fn format_is_detected_from_content() {
    let cases = [
        (include_str!("../fixtures/plain.ibnetdiscover"), Some(Format::Ibnetdiscover)),
        (include_str!("../fixtures/broken.ibnetdiscover"), Some(Format::Ibnetdiscover)),
        (include_str!("../fixtures/by_hand.net"), Some(Format::Ibnetdiscover)),
        (include_str!("../fixtures/mesh.anynet"), Some(Format::Anynet)),
        (include_str!("../fixtures/small.toml"), Some(Format::Toml)),
        ("# a drawing\ngraph fabric {\n}\n", Some(Format::Dot)),
        ("Lorem ipsum\n\ndolor sit amet\n", None),
        ("", None),
    ];
    for (text, format) in cases {
        assert_eq!(Format::detect(text), format, "{text}");
    }
}
