//! The names of the fields of events.

/// What a field holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // they are called as in the table of names
pub enum Role {
    EventId,
    RankingId,
    Time,
    QueryKey,
    UserId,
    Model,
    Version,
    Environment,
    Attributes,
    Features,
    Tags,
    Items,
    DocId,
    Rank,
    Score,
    Relevance,
    Labels,
    Value,
    Kind,
    Unknown,
}

pub(super) const ROLES: [(&str, Role); 19] = [
    ("event_id", Role::EventId),
    ("ranking_id", Role::RankingId),
    ("time", Role::Time),
    ("query_key", Role::QueryKey),
    ("user_id", Role::UserId),
    ("model", Role::Model),
    ("version", Role::Version),
    ("environment", Role::Environment),
    ("attributes", Role::Attributes),
    ("features", Role::Features),
    ("tags", Role::Tags),
    ("items", Role::Items),
    ("doc_id", Role::DocId),
    ("rank", Role::Rank),
    ("score", Role::Score),
    ("relevance", Role::Relevance),
    ("labels", Role::Labels),
    ("value", Role::Value),
    ("kind", Role::Kind),
];

/// What fields of some names hold.
#[derive(Debug, Default)]
pub struct Names(Vec<(Vec<u8>, Role)>);

impl Names {
    /// The names of fields, each with its role; none where a role is not known.
    pub fn new<'a>(names: impl IntoIterator<Item = (&'a str, &'a str)>) -> Option<Self> {
        let find = |role: &str| ROLES.iter().find(|(word, _)| *word == role).map(|&(_, role)| role);
        let pairs =
            names.into_iter().map(|(name, role)| Some((name.as_bytes().to_vec(), find(role)?)));
        let mut names: Vec<_> = pairs.collect::<Option<_>>()?;
        names.sort_unstable_by(|one, other| one.0.cmp(&other.0));
        Some(Self(names))
    }

    /// What a field holds.
    pub fn find(&self, name: &[u8]) -> Option<Role> {
        let place = self.0.binary_search_by(|(known, _)| (**known).cmp(name)).ok()?;
        Some(self.0[place].1)
    }
}
