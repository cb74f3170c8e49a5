//! How rules over several parts of a scenario report: at a place, and not about what could not be read.

use crate::decode::{Document, Reader, Severity};

/// Where rules report.
pub(super) struct Rules<'a> {
    pub(super) document: &'a Document,
    pub(super) reader: &'a mut Reader,
}

impl Rules<'_> {
    /// Reports at `path`, if that and all of `parts` could be read.
    fn report(
        &mut self,
        severity: Severity,
        path: &str,
        parts: &[&str],
        reason: String,
        remedy: &str,
    ) {
        let read = |path: &&str| self.reader.was_read(path);
        if !read(&path) || !parts.iter().all(read) {
            return;
        }
        self.reader
            .within_part(self.document, path, |reader| match severity {
                Severity::Error => reader.error_here(reason, remedy),
                Severity::Warning => reader.warn_here(reason, remedy),
            });
    }

    pub(super) fn error(
        &mut self,
        path: &str,
        parts: &[&str],
        reason: impl Into<String>,
        remedy: &str,
    ) {
        self.report(Severity::Error, path, parts, reason.into(), remedy);
    }

    pub(super) fn warn(
        &mut self,
        path: &str,
        parts: &[&str],
        reason: impl Into<String>,
        remedy: &str,
    ) {
        self.report(Severity::Warning, path, parts, reason.into(), remedy);
    }
}
