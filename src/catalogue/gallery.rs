//! The scenarios of the gallery, and one to begin with.

/// A commented scenario that runs.
pub const STARTER: &str = include_str!("starter.toml");

/// Makes the list of the gallery.
macro_rules! gallery {
    ( $( $name:literal ),* $(,)? ) => {
        /// The scenarios of the gallery that need no other file: name and text.
        pub const GALLERY: &[(&str, &str)] = &[
            $( ($name, include_str!(concat!("../../scenarios/", $name, ".toml"))), )*
        ];
    };
}

gallery! {
    "bounded_queue_after_stall",
    "breaker_and_dead_letters",
    "brooker_retries",
    "closed_loop",
    "half_the_fleet",
    "hidden_capacity",
    "immediate_herd",
    "recovers_after_stall",
    "replay_dead_letters",
    "restart_herd",
    "retry_gate",
    "seventy_percent",
    "shared_generators",
    "six_strategies",
    "sixty_retries_a_minute",
    "speed_queue",
    "speed_storm",
    "speed_storm_constant",
    "stuck_after_stall",
    "surge",
    "tipping_point",
    "told_to_come_back",
    "which_of_these_saves_you",
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::{Plan, Scenario};
    use std::path::Path;

    #[test]
    fn the_starter_is_sound_and_nothing_about_it_is_suspicious() {
        let scenario = Scenario::parse("starter", STARTER, Path::new("")).expect("it is sound");
        assert!(scenario.warnings.is_empty(), "{:?}", scenario.warnings);
        assert!(Plan::assemble(&scenario).is_ok());
    }

    #[test]
    fn the_gallery_is_complete() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios");
        let mut expected = Vec::new();
        for entry in std::fs::read_dir(folder).expect("there is a gallery") {
            let path = entry.expect("it can be read").path();
            let text = std::fs::read_to_string(&path).unwrap_or_default();
            if path.extension().is_some_and(|e| e == "toml") && !text.contains("\"data/") {
                expected.push(
                    path.file_stem()
                        .expect("a name")
                        .to_string_lossy()
                        .into_owned(),
                );
            }
        }
        expected.sort();
        let names: Vec<&str> = GALLERY.iter().map(|(name, _)| *name).collect();
        assert_eq!(names, expected);
    }
}
