//! A single file that is there complete or not at all.
//!
//! A build server may read it at any moment. So it is written beside its place and moved there when it is safely on
//! disk.

use super::folder::{OutputError, replace, sync_directory, temporary_file_in};
use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

/// Whether a file can be written at `path`, to be asked before a long run. Nothing is left there. A file that is there
/// already may be replaced when it is empty, or when `ours` stands near its beginning.
///
/// # Errors
/// When something else is there, or nothing can be written beside it.
pub fn check_file(path: &Path, ours: &str) -> Result<(), OutputError> {
    let target = target_of(path, ours)?;
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

/// Writes a file, and the folders above it, so that it is there complete or as it was. Like [`check_file`] it replaces
/// only what is `ours`.
///
/// # Errors
/// When something else is there, or it cannot be written.
pub fn write_file(path: &Path, bytes: &[u8], ours: &str) -> Result<(), OutputError> {
    fs::create_dir_all(folder_of(path)).map_err(|error| trouble(path, &error))?;
    // With all folders there it is known what the path leads to.
    let target = target_of(path, ours)?;
    replace(&target, |file| file.write_all(bytes)).map_err(|error| trouble(path, &error))?;
    sync_directory(folder_of(&target));
    Ok(())
}

/// The real path of a file that may be written; a link is followed.
fn target_of(path: &Path, ours: &str) -> Result<PathBuf, OutputError> {
    let Ok(about) = fs::metadata(path) else {
        return match path.file_name() {
            Some(_) => Ok(path.into()),
            None => Err(refused(path, "it is not the name of a file")),
        };
    };
    if !about.is_file() {
        return Err(refused(path, "what is there is not a file"));
    }
    let begins = beginning(path).map_err(|error| trouble(path, &error))?;
    if !begins.is_empty() && !begins.contains(ours) {
        return Err(refused(
            path,
            "what is there was not written by this command",
        ));
    }
    path.canonicalize().map_err(|error| trouble(path, &error))
}

/// The first characters of a file.
fn beginning(path: &Path) -> io::Result<String> {
    const ENOUGH: u64 = 256;
    let mut bytes = Vec::new();
    fs::File::open(path)?.take(ENOUGH).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
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
        remedy: "name a new file, like checks.xml".into(),
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
        check_file(&path, "text").unwrap();
        assert_eq!(fs::read_dir(home.path()).unwrap().count(), 0);
        for text in ["first text, and longer", "second text"] {
            write_file(&path, text.as_bytes(), "text").unwrap();
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
        let round = home.path().join("new/../file");
        let none = [
            home.path(),
            &file,
            &file.join("below"),
            null,
            Path::new(".."),
        ];
        for path in none {
            assert!(check_file(path, "x").is_err(), "{}", path.display());
            assert!(write_file(path, b"x", "x").is_err(), "{}", path.display());
        }
        assert!(
            write_file(&round, b"x", "x").is_err(),
            "it leads to the file"
        );
        assert_eq!(fs::read_to_string(&file).unwrap(), "mine");
    }

    #[cfg(unix)]
    #[test]
    fn a_link_keeps_pointing_to_the_file() {
        let home = tempfile::tempdir().unwrap();
        let (real, link) = (home.path().join("real"), home.path().join("link"));
        fs::write(&real, "old").unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        write_file(&link, b"new", "old").unwrap();
        assert!(link.symlink_metadata().unwrap().is_symlink());
        assert_eq!(fs::read_to_string(&real).unwrap(), "new");
    }
}
