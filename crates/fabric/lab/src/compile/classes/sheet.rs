//! CSV files named by a scenario.
//!
//! ```text
//!   demand.csv:3: in `traffic[0].destinations.matrix`: no host is called `h9`
//! ```
//!
//! Errors refer to the current row; before the first row, they refer to the header.

use super::context::ClassContext;
use crate::compile::gathered::Gathered;
use crate::error::LabError;
use csv::{ErrorKind, ReaderBuilder, StringRecord, Trim};
use gingham_input::{FileRead, InputError};
use gingham_kernel::FileName;
use std::fmt::Display;
use std::io::Cursor;

pub(super) struct Sheet {
    file: String,
    key: String,
    header: StringRecord,
    reader: csv::Reader<Cursor<Vec<u8>>>,
    row: StringRecord,
    line: u64,
}

pub(super) fn open_sheet(
    context: &ClassContext<'_>,
    key: &str,
    name: &FileName,
    gathered: &mut Gathered,
) -> Result<Sheet, LabError> {
    let path = context.source.path_of(name);
    let shown = format!("traffic[{}].{key}", context.index);
    let (read, bytes) = FileRead::open(&context.path(key), &path).map_err(|error| {
        context.error(key, format!("{} cannot be read: {error}", path.display()))
    })?;
    let sheet = Sheet::read(read.path.clone(), shown, bytes)?;
    gathered.files.push(read);
    Ok(sheet)
}

impl Sheet {
    fn read(file: String, key: String, bytes: Vec<u8>) -> Result<Self, LabError> {
        let reader = ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .trim(Trim::All)
            .from_reader(Cursor::new(bytes));
        let (header, row) = (StringRecord::new(), StringRecord::new());
        let mut sheet = Self { file, key, header, reader, row, line: 1 };
        if !sheet.read_row()? {
            return Err(sheet.error("the file is empty; a header and rows were expected").into());
        }
        std::mem::swap(&mut sheet.header, &mut sheet.row);
        Ok(sheet)
    }

    fn read_row(&mut self) -> Result<bool, LabError> {
        let found = self.reader.read_record(&mut self.row).map_err(|error| {
            if let Some(position) = error.position() {
                self.line = position.line();
            }
            match error.kind() {
                ErrorKind::Utf8 { err, .. } => {
                    self.error(format!("field {} is not UTF-8 text", err.field() + 1))
                }
                _ => self.error(error),
            }
        })?;
        if let (true, Some(position)) = (found, self.row.position()) {
            self.line = position.line();
        }
        Ok(found)
    }

    pub(super) fn advance(&mut self) -> Result<bool, LabError> {
        let found = self.read_row()?;
        if found && self.row.len() != self.header.len() {
            let message = format!(
                "this row has {} fields, and the header has {}",
                self.row.len(),
                self.header.len()
            );
            return Err(self.error(message).into());
        }
        Ok(found)
    }

    pub(super) fn error(&self, message: impl Display) -> InputError {
        self.error_at(self.line, message)
    }

    pub(super) fn line(&self) -> u64 {
        self.line
    }

    pub(super) fn error_at(&self, line: u64, message: impl Display) -> InputError {
        let line = u32::try_from(line).ok();
        let message = format!("in `{}`: {message}", self.key);
        InputError::from_parts(&self.file, line, None, Some(self.key.clone()), message, [], None)
    }

    pub(super) fn all_zero(&self) -> InputError {
        self.error("there must be a weight above 0, and all together a finite sum")
    }

    pub(super) fn header(&self) -> Vec<String> {
        self.header.iter().map(str::to_owned).collect()
    }

    pub(super) fn column(&self, name: &str) -> Result<usize, LabError> {
        let mut places = (0..self.header.len()).filter(|place| &self.header[*place] == name);
        match (places.next(), places.next()) {
            (Some(place), None) => Ok(place),
            (Some(_), Some(_)) => {
                Err(self.error(format!("two columns are called `{name}`")).into())
            }
            (None, _) => {
                let error = self.error(format!("no column is called `{name}`"));
                Err(error.suggesting(name, "columns of the file", self.header()).into())
            }
        }
    }

    pub(super) fn text(&self, column: usize) -> &str {
        &self.row[column]
    }

    pub(super) fn whole(&self, column: usize) -> Result<u64, LabError> {
        self.text(column).parse().map_err(|_| {
            let (found, name) = (self.text(column), &self.header[column]);
            self.error(format!("found `{found}` under `{name}`, expected a whole number")).into()
        })
    }

    pub(super) fn weight(&self, column: usize) -> Result<f64, LabError> {
        let weight: Option<f64> = self.text(column).parse().ok();
        weight.filter(|weight| weight.is_finite() && *weight >= 0.0).ok_or_else(|| {
            let (found, name) = (self.text(column), &self.header[column]);
            self.error(format!(
                "found `{found}` under `{name}`, expected a weight: a number from 0 on"
            ))
            .into()
        })
    }
}
