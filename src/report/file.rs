//! A single file that is there complete or not at all.
//!
//! A build server may read it at any moment. So it is written beside its place and moved there when it is safely on
//! disk.

use super::folder::{OutputError, replace, sync_directory, temporary_file_in};
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Whether a file can be written at `path`, to be asked before a long run. Nothing is left there.
///
/// # Errors
/// When something else is there, or nothing can be written beside it.
pub fn check_file(path: &Path) -> Result<(), OutputError> {
    let target = target_of(path)?;
    // Folders that do not exist yet are made in the first one that does.
    let folder = folder_of(&target)
        .ancestors()
        .map(|folder| match folder.as_os_str().is_empty() {
            true => Path::new("."),
            false => folder,
        })
        .find(|folder| folder.exists())
        .unwrap_or(Path::new("."));
    temporary_file_in(folder)
        .map(|_probe| ())
        .map_err(|error| trouble(path, &error))
}

/// Writes a file, and the folders above it, so that it is there complete or as it was.
///
/// # Errors
/// When something else is there, or it cannot be written.
pub fn write_file(path: &Path, bytes: &[u8]) -> Result<(), OutputError> {
    let target = target_of(path)?;
    let folder = folder_of(&target);
    fs::create_dir_all(folder)
        .and_then(|()| replace(&target, |file| file.write_all(bytes)))
        .map_err(|error| trouble(path, &error))?;
    sync_directory(folder);
    Ok(())
}

/// The real path of a file that may be written; a link is followed.
fn target_of(path: &Path) -> Result<PathBuf, OutputError> {
    let Ok(about) = fs::metadata(path) else {
        return match path.file_name() {
            Some(_) => Ok(path.into()),
            None => Err(refused(path, "it is not the name of a file")),
        };
    };
    if !about.is_file() {
        return Err(refused(path, "what is there is not a file"));
    }
    path.canonicalize().map_err(|error| trouble(path, &error))
}

fn folder_of(path: &Path) -> &Path {
    let folder = path.parent().unwrap_or(Path::new(""));
    match folder.as_os_str().is_empty() {
        true => Path::new("."),
        false => folder,
    }
}

fn refused(path: &Path, what: &str) -> OutputError {
    OutputError {
        path: path.into(),
        what: what.into(),
        remedy: "name a file, like checks.xml".into(),
    }
}

fn trouble(path: &Path, error: &io::Error) -> OutputError {
    OutputError {
        path: path.into(),
        what: error.to_string(),
        remedy: "choose a file in a folder where you may write, and check the space on its disk"
            .into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_as_a_whole_and_nothing_else_stays() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("deep/below/checks.xml");
        check_file(&path).unwrap();
        assert_eq!(fs::read_dir(home.path()).unwrap().count(), 0);
        for text in ["first, and longer", "second"] {
            write_file(&path, text.as_bytes()).unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
        }
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
    }

    #[test]
    fn what_is_no_file_is_refused() {
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join("file");
        fs::write(&file, "mine").unwrap();
        let null = Path::new("/dev/null");
        for path in [home.path(), &file.join("below"), null, Path::new("..")] {
            assert!(check_file(path).is_err(), "{}", path.display());
            assert!(write_file(path, b"x").is_err(), "{}", path.display());
        }
        assert_eq!(fs::read_to_string(&file).unwrap(), "mine");
    }

    #[cfg(unix)]
    #[test]
    fn a_link_keeps_pointing_to_the_file() {
        let home = tempfile::tempdir().unwrap();
        let (real, link) = (home.path().join("real"), home.path().join("link"));
        fs::write(&real, "old").unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        write_file(&link, b"new").unwrap();
        assert!(link.symlink_metadata().unwrap().is_symlink());
        assert_eq!(fs::read_to_string(&real).unwrap(), "new");
    }
}
