//! Conversion of findings to Python tuples.

use gingham_topology::{Finding, Severity};

pub(crate) type FindingRow = (Option<u32>, &'static str, &'static str, String);

pub(crate) fn finding_rows(findings: &[Finding]) -> Vec<FindingRow> {
    findings.iter().map(finding_row).collect()
}

pub(crate) fn finding_row(finding: &Finding) -> FindingRow {
    let severity = match finding.kind.severity() {
        Severity::Note => "note",
        Severity::Warning => "warning",
    };
    (finding.line, severity, finding.kind.name(), finding.text.clone())
}
