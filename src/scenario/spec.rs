//! A scenario as written.

use super::check::CheckSpec;
use super::compare::CompareSpec;
use super::cost::CostSpec;
use super::seed::Seed;
use super::sweep::SweepSpec;
use crate::decode::{Check, Decode, Field, Node, Reader, Shape, Value, shown};
use crate::model::{ClientsSpec, FaultSpec, ServiceSpec, StrategySpec};
use crate::record;
use crate::time::SimDuration;
use crate::units::Ratio;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

/// Replications at the most.
pub const MOST_REPLICATIONS: u32 = 100_000;
/// Bins of a timeline, when the scenario does not set their width.
const USUAL_BINS: u64 = 120;
/// Bins of a timeline at the most: more cannot be seen, and every run holds them all in memory.
const MOST_BINS: u64 = 100_000;
/// Widths that read well on an axis.
const NICE_WIDTHS_MS: [u64; 21] = [
    1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 30_000, 60_000, 120_000,
    300_000, 600_000, 1_800_000, 3_600_000, 14_400_000,
];

record! {
    /// `[run]`: how long, how often, and from which seed.
    pub struct RunSpec {
        /// Simulated time in which requests arrive.
        duration: SimDuration,
        /// Independent repetitions of each strategy.
        replications: u32 = 10,
        /// Run at least 5 replications, and more until the 95 % intervals of success (in points) and of attempts per request (of its value) are
        /// no wider to either side than this.
        precision: Option<Ratio> = None,
        /// Replications at the most, when a precision is wanted or checks shall be decided.
        max_replications: u32 = 1_000,
        /// All random numbers follow from it.
        seed: Seed = Seed(1),
        /// Requests that start before this are simulated but not counted; a tenth of the duration at most when left out.
        warmup: Option<SimDuration> = None,
        /// Time after the last arrival for what is in flight to end.
        drain: SimDuration = SimDuration::ZERO,
        /// Success has to stay back for so long after a fault to count as recovered; also the length of the window at the end
        /// whose success decides on a collapse.
        settle: SimDuration = SimDuration::from_secs(10),
        /// Width of a bin of the timeline; about 120 bins when left out.
        bin: Option<SimDuration> = None,
        /// A run with more requests than this (in one replication) is refused, and one that makes more attempts than
        /// this ends without a result.
        max_requests: u64 = 200_000_000,
    }
}

impl Check for RunSpec {
    fn check(&self, reader: &mut Reader) {
        if self.duration == SimDuration::ZERO {
            reader.error_at(
                &["duration"],
                "a run of no length shows nothing",
                "give a positive length, like \"60s\"",
            );
        }
        if let Some(warmup) = self.warmup
            && warmup >= self.duration
            && self.duration > SimDuration::ZERO
        {
            reader.error_at(
                &["warmup", "duration"],
                format!(
                    "a warm-up of {} leaves nothing of the {} to measure",
                    warmup, self.duration
                ),
                "make `warmup` shorter than `duration`",
            );
        }
        self.check_replications(reader);
        if self.settle == SimDuration::ZERO {
            let remedy = "give a positive length, like \"10s\"";
            reader.error_at(&["settle"], "a window of no length decides nothing", remedy);
        }
        if self.bin == Some(SimDuration::ZERO) {
            let remedy = "give a positive width, or leave `bin` out for about 120 bins";
            reader.error_at(&["bin"], "a bin of no width holds nothing", remedy);
            return;
        }
        let bins = self.bins();
        if bins > MOST_BINS {
            reader.error_at(
                &["bin", "duration", "drain"],
                format!("the timeline would have {bins} bins; the most is {MOST_BINS}"),
                "make `bin` wider, or leave it out for about 120 bins",
            );
        }
    }
}

/// Fewer replications than this say too little of their scatter to tell how many more are needed.
pub(super) const LEAST_TO_ESTIMATE: u32 = 5;

impl RunSpec {
    /// Replications to begin with.
    pub fn first_replications(&self) -> u32 {
        match self.precision {
            Some(_) => self.replications.max(LEAST_TO_ESTIMATE),
            None => self.replications,
        }
    }

    /// The wanted half-width of intervals, and the most replications that are run for it.
    pub fn wanted_precision(&self) -> Option<(f64, u32)> {
        let most = self.max_replications;
        self.precision.map(|precision| (precision.get(), most))
    }

    fn check_replications(&self, reader: &mut Reader) {
        if self.replications == 0 || self.replications > MOST_REPLICATIONS {
            reader.error_at(
                &["replications"],
                format!("`replications` is a number from 1 to {MOST_REPLICATIONS}"),
                "20 gives a useful interval",
            );
        }
        if self
            .precision
            .is_some_and(|precision| precision.get() <= 0.0)
        {
            let remedy = "give a positive share, like \"1%\"";
            reader.error_at(&["precision"], "no number of replications is exact", remedy);
        }
        let least = match self.precision {
            Some(_) => self.first_replications(),
            None => 1,
        };
        if self.max_replications < least || self.max_replications > MOST_REPLICATIONS {
            reader.error_at(
                &["max_replications"],
                format!("`max_replications` is a number from {least} to {MOST_REPLICATIONS}"),
                "leave it out for 1000",
            );
        }
    }

    /// Bins of the timeline.
    pub fn bins(&self) -> u64 {
        let end = (self.duration + self.drain).as_nanos();
        end.div_ceil(self.bin_width().as_nanos().max(1))
    }

    /// The width of a bin of the timeline.
    pub fn bin_width(&self) -> SimDuration {
        self.bin.unwrap_or_else(|| {
            let wanted = (self.duration + self.drain).as_nanos() / USUAL_BINS;
            let mut nice = NICE_WIDTHS_MS
                .iter()
                .map(|&ms| SimDuration::from_millis(ms));
            let longest = SimDuration::from_nanos(wanted.max(1));
            if wanted < 500_000 {
                longest
            } else {
                nice.find(|width| width.as_nanos() >= wanted)
                    .unwrap_or(longest)
            }
        })
    }
}

/// `[clients]`, or several `[[clients]]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Groups(pub Vec<ClientsSpec>);

impl Decode for Groups {
    fn shape() -> Shape {
        Shape::OneOrList(Box::new(ClientsSpec::shape()))
    }

    fn decode(node: &Node, reader: &mut Reader) -> Option<Self> {
        match &node.value {
            Value::List(items) if items.is_empty() => {
                reader.error(
                    &node.place,
                    "a scenario needs clients",
                    "add a [clients] table",
                );
                None
            }
            Value::List(_) => Vec::decode(node, reader).map(Self),
            Value::Table(_) => ClientsSpec::decode(node, reader).map(|group| Self(vec![group])),
            _ => {
                let remedy = "write a [clients] table, or several headed [[clients]]";
                reader.mismatch(node, "a table of settings", remedy);
                None
            }
        }
    }

    fn stand_in() -> Option<Self> {
        Some(Self(Vec::new()))
    }

    fn how_to_add(key: &str) -> String {
        format!("add a [{key}] table")
    }
}

impl Serialize for Groups {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0.as_slice() {
            [only] => only.serialize(serializer),
            groups => groups.serialize(serializer),
        }
    }
}

/// `[service.NAME]` tables.
#[derive(Clone, Debug, PartialEq)]
pub struct Services(pub Vec<(String, ServiceSpec)>);

impl Decode for Services {
    fn shape() -> Shape {
        Shape::Named(Box::new(ServiceSpec::shape()))
    }

    fn decode(node: &Node, reader: &mut Reader) -> Option<Self> {
        let table = reader.table(node, "a [service.api] table")?;
        let looks_direct = ["workers", "service_time", "queue"]
            .iter()
            .any(|key| table.get(key).is_some());
        if looks_direct {
            reader.error(
                &node.place,
                "a service needs a name",
                "write [service.api] instead of [service]",
            );
            let service = ServiceSpec::decode(node, reader)?;
            return Some(Self(vec![("service".into(), service)]));
        }
        match table.fields.as_slice() {
            [] => reader.error(
                &node.place,
                "there is no service",
                "add a table like [service.api]",
            ),
            [_] => {}
            [first, others @ ..] => {
                for other in others {
                    let reason = format!(
                        "only one service can be simulated, and `{}` is there already",
                        shown(&first.key)
                    );
                    reader.error(&other.key_place, reason, "remove one of the two");
                }
            }
        }
        let read = table.fields.iter().map(|field| {
            check_service_name(field, reader);
            let spec = reader.within(&shown(&field.key), &field.node.place, |reader| {
                ServiceSpec::decode(&field.node, reader)
            });
            spec.map(|spec| (field.key.clone(), spec))
        });
        read.collect::<Option<Vec<_>>>().map(Self)
    }

    fn stand_in() -> Option<Self> {
        Some(Self(Vec::new()))
    }

    fn how_to_add(_: &str) -> String {
        "add a table like [service.api]".into()
    }
}

fn check_service_name(field: &Field, reader: &mut Reader) {
    let printable = shown(&field.key) == field.key;
    if field.key.trim().is_empty() || !printable {
        reader.error(
            &field.key_place,
            "a service's name is short and holds letters, digits and spaces",
            "give it another name, like [service.api]",
        );
    }
}

impl Serialize for Services {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, spec) in &self.0 {
            map.serialize_entry(name, spec)?;
        }
        map.end()
    }
}

record! {
    /// A whole scenario.
    pub struct ScenarioSpec {
        /// How long, how often, and from which seed.
        run: RunSpec,
        /// Who sends requests.
        clients: Groups,
        /// Who answers them.
        service: Services,
        /// What is done to the world.
        fault: Vec<FaultSpec> = Vec::new(),
        /// The strategies to compare.
        strategy: Vec<StrategySpec>,
        #[serde(skip_serializing_if = "CompareSpec::is_default")]
        /// What strategies are compared with, and which differences matter.
        compare: CompareSpec = CompareSpec::default(),
        #[serde(skip_serializing_if = "Option::is_none")]
        /// What attempts, waiting and failures cost.
        cost: Option<CostSpec> = None,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        /// What strategies have to keep.
        check: Vec<CheckSpec> = Vec::new(),
        #[serde(skip_serializing_if = "Option::is_none")]
        /// The same scenario with other values.
        sweep: Option<SweepSpec> = None,
    }
}

impl Check for ScenarioSpec {}
