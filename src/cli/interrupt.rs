//! What happens on Ctrl-C.

use super::terminal::tell;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

/// Ctrl-C. A run is left at once, as nothing of it is on disk but a temporary log; while output is written, the
/// program waits until that is complete.
pub(super) struct Interrupt {
    asked: Arc<AtomicBool>,
    writing: Arc<Mutex<()>>,
    /// Temporary files.
    litter: Arc<Mutex<Vec<PathBuf>>>,
}

impl Interrupt {
    /// Listens; `kept` says what becomes of the results when a run is left.
    pub(super) fn listen(kept: &'static str) -> Self {
        let interrupt = Self {
            asked: Arc::default(),
            writing: Arc::default(),
            litter: Arc::default(),
        };
        let asked = Arc::clone(&interrupt.asked);
        let writing = Arc::clone(&interrupt.writing);
        let litter = Arc::clone(&interrupt.litter);
        let leave = move || {
            asked.store(true, Ordering::SeqCst);
            let free = writing.try_lock();
            if free.is_ok() {
                tell(&format!("\ninterrupted: {kept}"));
            } else {
                tell("\ninterrupted: the output that is being written is completed first");
            }
            drop(free);
            // Waits for a write that is under way.
            let _lock = writing.lock();
            for path in litter.lock().iter().flat_map(|paths| paths.iter()) {
                let _may_be_gone = fs::remove_file(path);
            }
            std::process::exit(130);
        };
        // Without a handler Ctrl-C ends the program in the system's way, which is sound as well.
        let _ = ctrlc::set_handler(leave);
        interrupt
    }

    /// Removes a temporary file on Ctrl-C.
    pub(super) fn remove_at_exit(&self, path: &Path) {
        if let Ok(mut litter) = self.litter.lock() {
            litter.push(path.into());
        }
    }

    /// Ends the program when it was interrupted while it wrote.
    pub(super) fn leave_if_asked(&self) {
        while self.asked.load(Ordering::SeqCst) {
            // The handler leaves in a moment.
            std::thread::park();
        }
    }

    /// Keeps the program alive while output is written.
    pub(super) fn hold(&self) -> Option<std::sync::MutexGuard<'_, ()>> {
        self.writing.lock().ok()
    }
}
