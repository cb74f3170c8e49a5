//! The macros that write the reading code of tables and of closed sets.

/// Defines a struct that is read from a table. A field without a default must be present; a key without a
/// field is an error. The type must implement [`Check`](crate::decode::Check) (an empty `impl` will do).
/// After a `;`, `flatten name: Type` takes another record's keys into the same table.
///
/// ```text
/// record! {
///     /// A pause of constant length.
///     pub struct Fixed {
///         /// The pause.
///         delay: SimDuration,
///         /// How often at the most.
///         times: u64 = 3,
///     }
/// }
/// ```
#[macro_export]
macro_rules! record {
    (
        $(#[$meta:meta])*
        pub struct $name:ident {
            $( $(#[serde($($serde:tt)*)])* $(#[doc = $doc:literal])* $field:ident : $type:ty $(= $default:expr)? ),* $(,)?
            $( ; $(#[$group_meta:meta])* flatten $group:ident : $group_type:ty $(,)? )?
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, serde::Serialize)]
        pub struct $name {
            $( $(#[serde($($serde)*)])* $(#[doc = $doc])* pub $field: $type, )*
            $( $(#[$group_meta])* #[serde(flatten)] pub $group: $group_type, )?
        }

        impl $crate::decode::Record for $name {
            fn read(fields: &mut $crate::decode::Fields<'_>, reader: &mut $crate::decode::Reader) -> Option<Self> {
                $( let $field: Option<$type> = $crate::record!(@read fields, reader, $field $(, $default)?); )*
                $( let $group = <$group_type as $crate::decode::Record>::read(fields, reader); )?
                let record = Self { $( $field: $field?, )* $( $group: $group?, )? };
                fields.check(&record, reader);
                Some(record)
            }

            fn fields() -> Vec<$crate::decode::FieldDoc> {
                let own = vec![$( $crate::record!(@doc $field, [$($doc),*], $type $(, $default)?) ),*];
                $( let own = [own, <$group_type as $crate::decode::Record>::fields()].concat(); )?
                own
            }
        }

        impl $crate::decode::Decode for $name {
            fn decode(node: &$crate::decode::Node, reader: &mut $crate::decode::Reader) -> Option<Self> {
                let table = reader.table(node, "")?;
                let mut fields = $crate::decode::Fields::new(table, &node.place);
                let record = <Self as $crate::decode::Record>::read(&mut fields, reader);
                fields.finish(reader);
                record
            }

            fn shape() -> $crate::decode::Shape {
                $crate::decode::Shape::Record(<Self as $crate::decode::Record>::fields())
            }

            fn stand_in() -> Option<Self> {
                $crate::decode::stand_in()
            }

            fn how_to_add(key: &str) -> String {
                format!("add a [{key}] table")
            }
        }
    };
    (@read $fields:ident, $reader:ident, $field:ident) => {
        $fields.required(stringify!($field), $reader)
    };
    (@doc $field:ident, [$($doc:literal),*], $type:ty) => {
        $crate::decode::FieldDoc::new(
            stringify!($field),
            &[$($doc),*],
            <$type as $crate::decode::Decode>::shape(),
            None,
        )
        .required()
    };
    (@doc $field:ident, [$($doc:literal),*], $type:ty, $default:expr) => {{
        let default: $type = $default;
        $crate::decode::FieldDoc::new(
            stringify!($field),
            &[$($doc),*],
            <$type as $crate::decode::Decode>::shape(),
            Some($crate::decode::written(&default)),
        )
    }};
    (@read $fields:ident, $reader:ident, $field:ident, $default:expr) => {
        $fields.or_default(stringify!($field), $default, $reader)
    };
}

/// Defines an enum that is read from a tag: `"name"`, or `{ name = settings }`. Each variant gives its doc
/// comment, its tag and a TOML example; together they feed messages, documentation and tests.
///
/// ```text
/// choice! {
///     /// How long to wait.
///     pub enum Backoff as "backoff" {
///         /// No pause at all.
///         Immediate = "immediate", r#""immediate""#;
///         /// The same pause each time.
///         Fixed(Fixed) = "fixed", r#"{ fixed = { delay = "1s" } }"#;
///     }
/// }
/// ```
#[macro_export]
macro_rules! choice {
    (
        $(#[$meta:meta])*
        pub enum $name:ident as $noun:literal {
            $( $(#[doc = $doc:literal])* $variant:ident $(($payload:ty))? = $tag:literal, $example:literal; )*
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, serde::Serialize)]
        pub enum $name {
            $( $(#[doc = $doc])* #[serde(rename = $tag)] $variant $(($payload))?, )*
        }

        impl $crate::decode::Choice for $name {
            const NOUN: &'static str = $noun;
            const VARIANTS: &'static [$crate::decode::VariantDoc] = &[
                $( $crate::decode::VariantDoc {
                    name: $tag,
                    meaning: concat!($($doc),*),
                    example: $example,
                }, )*
            ];
        }

        impl $crate::decode::Decode for $name {
            fn decode(node: &$crate::decode::Node, reader: &mut $crate::decode::Reader) -> Option<Self> {
                let docs = <Self as $crate::decode::Choice>::VARIANTS;
                let found = $crate::decode::decode_variant(node, $noun, docs, reader)?;
                let name = docs[found.index].name;
                reader.within(name, &found.settings.place.clone(), |reader| match name {
                    $( $tag => $crate::choice!(@variant found, reader, $variant $(, $payload)?), )*
                    _ => None,
                })
            }

            fn shape() -> $crate::decode::Shape {
                let settings = [$( $crate::choice!(@shape $($payload)?) ),*];
                let docs = <Self as $crate::decode::Choice>::VARIANTS.iter().copied();
                $crate::decode::Shape::Choice($crate::decode::ChoiceDoc {
                    noun: $noun,
                    forms: docs.zip(settings).collect(),
                })
            }

            fn stand_in() -> Option<Self> {
                $crate::decode::stand_in_variant()
            }

            fn how_to_add(key: &str) -> String {
                let docs = <Self as $crate::decode::Choice>::VARIANTS;
                format!("add it, like {key} = {}", docs[0].example)
            }
        }
    };
    (@shape) => { None };
    (@shape $payload:ty) => { Some(<$payload as $crate::decode::Decode>::shape()) };
    (@variant $found:ident, $reader:ident, $variant:ident) => {{
        if !$found.bare {
            $reader.table(&$found.settings, "").map(|table| {
                $crate::decode::Fields::new(table, &$found.settings.place).finish($reader);
            })?;
        }
        Some(Self::$variant)
    }};
    (@variant $found:ident, $reader:ident, $variant:ident, $payload:ty) => {
        <$payload as $crate::decode::Decode>::decode(&$found.settings, $reader).map(Self::$variant)
    };
}

#[cfg(test)]
#[allow(unreachable_pub, reason = "the macros define public types")]
mod tests {
    use crate::decode::{Check, Choice, Decode, Document, Problem, Reader};
    use crate::time::SimDuration;

    record! {
        /// Settings shared by several records.
        pub struct Shape {
            /// An upper bound.
            cap: Option<SimDuration> = None,
        }
    }
    impl Check for Shape {}

    record! {
        /// A constant pause.
        pub struct Fixed {
            /// The pause.
            delay: SimDuration,
            /// How often.
            times: u64 = 3;
            /// Shared settings.
            flatten shape: Shape,
        }
    }
    impl Check for Fixed {
        fn check(&self, reader: &mut Reader) {
            if self.shape.cap.is_some_and(|cap| cap < self.delay) {
                reader.warn_here("the cap is below the delay", "raise the cap");
            }
        }
    }

    choice! {
        /// A pause.
        pub enum Pause as "pause" {
            /// None at all.
            Immediate = "immediate", r#""immediate""#;
            /// Always the same.
            Fixed(Fixed) = "fixed", r#"{ fixed = { delay = "1s" } }"#;
        }
    }

    record! {
        /// The whole document.
        pub struct Whole {
            /// Some pause.
            pause: Pause,
        }
    }
    impl Check for Whole {}

    fn read(text: &str) -> (Option<Whole>, Vec<Problem>) {
        let document = Document::parse("a.toml", text).expect("valid TOML");
        let mut reader = Reader::new();
        let whole = Whole::decode(&document.root, &mut reader);
        (whole, reader.into_problems())
    }

    #[test]
    fn tags_defaults_and_shared_settings_are_read() {
        let (whole, problems) = read("pause.fixed = { delay = \"1s\", cap = \"2s\" }");
        assert!(problems.is_empty(), "{problems:?}");
        let shape = Shape {
            cap: Some(SimDuration::from_secs(2)),
        };
        let fixed = Fixed {
            delay: SimDuration::from_secs(1),
            times: 3,
            shape,
        };
        assert_eq!(
            whole,
            Some(Whole {
                pause: Pause::Fixed(fixed)
            })
        );
        assert_eq!(
            read("pause = \"immediate\"").0,
            Some(Whole {
                pause: Pause::Immediate
            })
        );
    }

    #[test]
    fn every_mistake_is_noted_in_one_pass() {
        let (whole, problems) =
            read("pause.fixed = { delay = 5, times = -1, capp = \"1s\" }\npuase = 1");
        assert!(whole.is_some(), "stand-ins go on");
        let reasons: Vec<&str> = problems.iter().map(|p| p.reason.as_str()).collect();
        assert_eq!(reasons.len(), 4, "{reasons:?}");
        assert_eq!(problems[0].path, "pause.fixed.delay");
        assert!(problems[2].remedy.contains("`cap`"), "{problems:?}");
        assert!(problems[3].remedy.contains("`pause`"), "{problems:?}");
    }

    #[test]
    fn examples_read_and_serialise_back() {
        for doc in Pause::VARIANTS {
            let (whole, problems) = read(&format!("pause = {}", doc.example));
            assert!(problems.is_empty(), "{}: {problems:?}", doc.name);
            let text = toml::to_string(&whole).expect("serialises");
            assert_eq!(read(&text).0, whole, "{text}");
        }
        let (_, problems) = read("pause.immediate = { extra = 1 }");
        assert_eq!(problems.len(), 1, "{problems:?}");
    }
}
