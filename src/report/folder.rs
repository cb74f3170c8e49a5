//! Directories that are there complete or not at all.
//!
//! Half a result looks like a result, and somebody's notes are not ours to throw away. So what is written gets its name
//! only when it is safely on disk, and a directory with anything else in it is refused.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use tempfile::{NamedTempFile, TempDir};

/// What temporary files and directories begin with.
pub(super) const TEMPORARY: &str = ".retrystorm-";

/// Why output could not be written. Earlier output is as it was.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cannot write to `{}`: {what}", path.display())]
pub struct OutputError {
    /// The file or directory in question.
    pub path: PathBuf,
    /// What went wrong, as a clause.
    pub what: String,
    /// What to do about it.
    pub remedy: String,
}

/// The real path of `dir`, if it may be written anew: it is not there, or it is a directory that `is_ours`.
pub(super) fn target_of(
    dir: &Path,
    is_ours: impl Fn(&Path) -> io::Result<bool>,
) -> Result<PathBuf, OutputError> {
    let refuse = |what: &str, remedy: &str| {
        Err(OutputError {
            path: dir.into(),
            what: what.into(),
            remedy: remedy.into(),
        })
    };
    const ELSEWHERE: &str = "choose another --out, or move what is there out of the way";
    if dir.file_name().is_none() {
        return refuse(
            "it is not the name of a directory to make",
            "name one, like --out output/run",
        );
    }
    if dir.symlink_metadata().is_err() {
        let parent = dir.parent().filter(|parent| !parent.as_os_str().is_empty());
        return Ok(parent
            .unwrap_or(Path::new("."))
            .join(dir.file_name().unwrap_or_default()));
    }
    // A link is followed, so that the directory it leads to is replaced and not the link.
    let target = dir.canonicalize().map_err(|error| trouble(dir, &error))?;
    if !target.is_dir() {
        return refuse("there is a file of that name", ELSEWHERE);
    }
    if !is_ours(&target).map_err(|error| trouble(&target, &error))? {
        return refuse("it holds files that are not the output of a run", ELSEWHERE);
    }
    Ok(target)
}

/// A temporary directory beside the target, that will be it.
pub(super) fn temporary_in(parent: &Path) -> io::Result<TempDir> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(TEMPORARY);
    // The directory will be the output: with the permissions a common new directory gets.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o777));
    builder.tempdir_in(parent)
}

/// Writes a file under a temporary name, on to the disk, and gives it its name only then.
///
/// # Errors
/// When something cannot be written; what was there stays.
pub(super) fn replace(
    path: &Path,
    write: impl FnOnce(&mut File) -> io::Result<()>,
) -> io::Result<()> {
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let mut file = temporary_file_in(folder.unwrap_or(Path::new(".")))?;
    write(file.as_file_mut())?;
    file.as_file().sync_all()?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}

/// A temporary file beside the target, that will be it.
pub(super) fn temporary_file_in(folder: &Path) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(TEMPORARY);
    // With the permissions that a common new file gets.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder.tempfile_in(folder)
}

/// Puts `fresh` in the place of `target`. When that fails, what was there is put back.
pub(super) fn swap(fresh: TempDir, target: &Path, parent: &Path) -> io::Result<()> {
    if target.exists() {
        let aside = temporary_in(parent)?;
        let old = aside.path().join("old");
        fs::rename(target, &old)?;
        if let Err(error) = fs::rename(fresh.path(), target) {
            if fs::rename(&old, target).is_err() {
                // It could not be put back: at least it must outlive its temporary directory.
                let _kept = aside.keep();
            }
            return Err(error);
        }
    } else {
        fs::rename(fresh.path(), target)?;
    }
    // It has moved, so there is nothing to remove where it was.
    let _moved = fresh.keep();
    sync_directory(parent);
    Ok(())
}

/// Asks for the names in `dir` to reach the disk. Some file systems cannot do that for a directory, which is no
/// reason to fail: the files themselves are safe.
pub(super) fn sync_directory(dir: &Path) {
    let _best_effort = File::open(dir).and_then(|dir| dir.sync_all());
}

pub(super) fn trouble(path: &Path, error: &io::Error) -> OutputError {
    let remedy = match error.kind() {
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            "choose an --out where you may write"
        }
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "free some space, or choose an --out on another disk"
        }
        io::ErrorKind::NotADirectory | io::ErrorKind::AlreadyExists => {
            "a part of the path is a file: choose another --out"
        }
        io::ErrorKind::ResourceBusy | io::ErrorKind::CrossesDevices => {
            "it cannot be replaced as a whole: choose a directory inside it as --out"
        }
        _ => "choose another --out",
    };
    OutputError {
        path: path.into(),
        what: error.to_string(),
        remedy: remedy.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_remedy_fits_the_trouble() {
        let remedy = |kind: io::ErrorKind| trouble(Path::new("x"), &kind.into()).remedy;
        assert!(remedy(io::ErrorKind::StorageFull).contains("free some space"));
        assert!(remedy(io::ErrorKind::PermissionDenied).contains("may write"));
        assert!(remedy(io::ErrorKind::ResourceBusy).contains("inside it"));
    }
}
